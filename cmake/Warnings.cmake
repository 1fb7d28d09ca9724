# Warnings and hardening for our own code; one interface target.
add_library(cuslim_warnings INTERFACE)
target_compile_definitions(cuslim_warnings INTERFACE _GNU_SOURCE)
target_compile_options(cuslim_warnings INTERFACE
  -Wall -Wextra -Wshadow -Wvla -Wformat=2 -Wcast-qual -Wundef -Wimplicit-fallthrough
  $<$<COMPILE_LANGUAGE:C>:-Wconversion -Wsign-conversion -Wstrict-prototypes -Wmissing-prototypes
    -Wswitch-enum>
  -fvisibility=hidden -fstack-protector-strong)
option(CUSLIM_WERROR "Treat warnings as errors" OFF)
if(CUSLIM_WERROR)
  target_compile_options(cuslim_warnings INTERFACE -Werror)
endif()
set(CUSLIM_SANITIZE "" CACHE STRING "Sanitizers to build with, as for -fsanitize=")
if(CUSLIM_SANITIZE)
  add_compile_options(-fsanitize=${CUSLIM_SANITIZE} -fno-sanitize-recover=all
                      -fno-omit-frame-pointer -g)
  add_link_options(-fsanitize=${CUSLIM_SANITIZE})
endif()
if(CUSLIM_FUZZ)
  add_compile_options(-fsanitize=fuzzer-no-link)
endif()
