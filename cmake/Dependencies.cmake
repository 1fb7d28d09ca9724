# Third-party libraries, all static: the program is dynamic against glibc only.
find_package(Threads REQUIRED)

function(cuslim_static OUT NAME)
  find_library(CUSLIM_LIB_${NAME} NAMES lib${NAME}.a)
  if(NOT CUSLIM_LIB_${NAME})
    message(FATAL_ERROR "lib${NAME}.a not found: run './dev deps', or install its -dev package")
  endif()
  set(${OUT} ${CUSLIM_LIB_${NAME}} PARENT_SCOPE)
endfunction()

add_library(cuslim_deps INTERFACE)
foreach(lib deflate zstd lz4 z jansson crypto)
  cuslim_static(path ${lib})
  target_link_libraries(cuslim_deps INTERFACE ${path})
endforeach()
target_link_libraries(cuslim_deps INTERFACE Threads::Threads ${CMAKE_DL_LIBS})

# toml++ is C++ behind src/format/toml.cc: its runtime is linked in, so that programs linked by the C
# compiler need none at run time.  libm is part of glibc.
execute_process(COMMAND ${CMAKE_CXX_COMPILER} -print-file-name=libstdc++.a
  OUTPUT_VARIABLE CUSLIM_LIBSTDCXX OUTPUT_STRIP_TRAILING_WHITESPACE)
if(NOT IS_ABSOLUTE "${CUSLIM_LIBSTDCXX}")
  message(FATAL_ERROR "libstdc++.a not found: run './dev deps', or install g++")
endif()
target_link_libraries(cuslim_deps INTERFACE ${CUSLIM_LIBSTDCXX} m)
target_link_options(cuslim_deps INTERFACE -static-libgcc)
