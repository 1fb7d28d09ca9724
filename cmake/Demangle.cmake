# __cxa_demangle of LLVM's libc++abi as one object with one global symbol, cs_cxa_demangle.
#
# libc++abi and libstdc++ define the same symbols, so the archive itself cannot be linked beside
# toml++.  Its member cxa_demangle.cpp.o is taken out, and every import that is not plain C is bound
# to a function of src/format/demangle.c: allocation, so that a hostile name is stopped at a limit;
# everything that would end the process or needs a C++ runtime, so that none is needed.
if(NOT CUSLIM_LIBCXXABI)
  file(GLOB candidates /usr/lib/llvm-*/lib/libc++abi.a)
  list(SORT candidates COMPARE NATURAL ORDER DESCENDING)
  list(APPEND candidates "")
  list(GET candidates 0 newest)
  if(NOT newest)
    find_library(newest_elsewhere NAMES libc++abi.a)
    set(newest ${newest_elsewhere})
  endif()
  set(CUSLIM_LIBCXXABI "${newest}" CACHE FILEPATH "LLVM's libc++abi.a, for its demangler" FORCE)
endif()
if(NOT EXISTS "${CUSLIM_LIBCXXABI}")
  message(FATAL_ERROR "libc++abi.a not found: run './dev deps', or install libc++abi-NN-dev")
endif()

# From LLVM 14 to 19 the object imports some of these and nothing else outside libc.
set(CUSLIM_DEMANGLE_IMPORTS
  __cxa_demangle=cs_cxa_demangle
  malloc=cs_demangle_malloc
  realloc=cs_demangle_realloc
  free=cs_demangle_free
  _ZdlPv=cs_demangle_delete
  _ZdlPvm=cs_demangle_delete_sized
  abort=cs_demangle_abort
  abort_message=cs_demangle_abort_message
  _ZSt9terminatev=cs_demangle_terminate
  _ZNSt3__122__libcpp_verbose_abortEPKcz=cs_demangle_verbose_abort
  __cxa_begin_catch=cs_demangle_catch
  __gxx_personality_v0=cs_demangle_personality
  _Unwind_Resume=cs_demangle_resume
  _ZTVN10__cxxabiv117__class_type_infoE=cs_demangle_class_info
  _ZTVN10__cxxabiv120__si_class_type_infoE=cs_demangle_si_class_info)
list(TRANSFORM CUSLIM_DEMANGLE_IMPORTS PREPEND "--redefine-sym="
     OUTPUT_VARIABLE demangle_renames)

# Its COMDAT groups are dissolved first: a group that libstdc++ also has would be thrown away.
find_program(CUSLIM_LD_BFD NAMES ld.bfd ld REQUIRED)
# GNU's: LLVM's objcopy takes --keep-global-symbol for the name before renaming.
find_program(CUSLIM_OBJCOPY NAMES ${CMAKE_C_LIBRARY_ARCHITECTURE}-objcopy objcopy REQUIRED)
set(demangle_dir ${CMAKE_BINARY_DIR}/gen/demangle)
file(MAKE_DIRECTORY ${demangle_dir})
set(CUSLIM_DEMANGLE_OBJECT ${demangle_dir}/cs_cxa_demangle.o)
add_custom_command(
  OUTPUT ${CUSLIM_DEMANGLE_OBJECT}
  COMMAND ${CMAKE_AR} x ${CUSLIM_LIBCXXABI} cxa_demangle.cpp.o
  COMMAND ${CUSLIM_LD_BFD} -r --force-group-allocation -o ungrouped.o cxa_demangle.cpp.o
  COMMAND ${CUSLIM_OBJCOPY} ${demangle_renames} --keep-global-symbol=cs_cxa_demangle
          ungrouped.o ${CUSLIM_DEMANGLE_OBJECT}
  DEPENDS ${CUSLIM_LIBCXXABI}
  WORKING_DIRECTORY ${demangle_dir}
  COMMENT "Taking the demangler out of ${CUSLIM_LIBCXXABI}"
  VERBATIM)
set_source_files_properties(${CUSLIM_DEMANGLE_OBJECT} PROPERTIES EXTERNAL_OBJECT ON GENERATED ON)
list(APPEND CUSLIM_OBJECTS ${CUSLIM_DEMANGLE_OBJECT})
