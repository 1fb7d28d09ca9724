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
