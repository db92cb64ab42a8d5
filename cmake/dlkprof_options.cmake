option(DLKPROF_TESTS "Build the tests" ON)
option(DLKPROF_BENCH "Build the benchmarks (Google Benchmark)" OFF)
option(DLKPROF_PROFILER "Build what profiles (CUDA Toolkit); OFF builds what reads captures alone, and no tests" ON)
option(DLKPROF_PAGE "Build the page of dlkprof view (Node.js and npm); OFF leaves it out" ON)
option(DLKPROF_WERROR "Warnings are errors" OFF)
option(DLKPROF_TIDY "Run clang-tidy on src/ along with the compiler" OFF)
option(DLKPROF_UNITY_TESTS "Compile the unit tests of a layer in one go" OFF)
set(DLKPROF_SANITIZE "" CACHE STRING "Sanitizers, as for -fsanitize=: address,undefined or thread")

if(NOT DLKPROF_PROFILER AND (DLKPROF_TESTS OR DLKPROF_BENCH))
  message(FATAL_ERROR "Tests and benchmarks run through the profiler: add -DDLKPROF_TESTS=OFF -DDLKPROF_BENCH=OFF, "
                      "or leave out -DDLKPROF_PROFILER=OFF.")
endif()
if(NOT CMAKE_BUILD_TYPE)
  set(CMAKE_BUILD_TYPE Release CACHE STRING "Build type" FORCE)
endif()
# What is built here runs with this one and later ones: packages say so.
execute_process(COMMAND getconf GNU_LIBC_VERSION OUTPUT_VARIABLE DLKPROF_GLIBC OUTPUT_STRIP_TRAILING_WHITESPACE)
string(REGEX REPLACE "^glibc " "" DLKPROF_GLIBC "${DLKPROF_GLIBC}")
set(CMAKE_EXPORT_COMPILE_COMMANDS ON)
set(CMAKE_POSITION_INDEPENDENT_CODE ON)
set(CMAKE_RUNTIME_OUTPUT_DIRECTORY ${CMAKE_BINARY_DIR}/bin)
set(CMAKE_LIBRARY_OUTPUT_DIRECTORY ${CMAKE_BINARY_DIR}/lib)
find_program(CCACHE ccache)
if(CCACHE)
  set(CMAKE_CXX_COMPILER_LAUNCHER ${CCACHE})
endif()

# How everything of ours is compiled.
add_library(dlkprof_flags INTERFACE)
target_compile_features(dlkprof_flags INTERFACE cxx_std_20)
target_compile_options(dlkprof_flags INTERFACE -Wall -Wextra -Wpedantic -Wshadow -Wconversion -Wno-sign-conversion -Wno-missing-field-initializers
                                               -fvisibility=hidden -fvisibility-inlines-hidden)
# g++ 12 finds these in its own <string>, <vector> and <variant>, where they are not.
target_compile_options(dlkprof_flags INTERFACE
  $<$<CXX_COMPILER_ID:GNU>:-Wno-restrict -Wno-maybe-uninitialized -Wno-stringop-overflow>
  # In a unity build every file is an included one to GCC.
  $<$<AND:$<CXX_COMPILER_ID:GNU>,$<BOOL:${CMAKE_UNITY_BUILD}>>:-Wno-subobject-linkage>)
if(DLKPROF_WERROR)
  target_compile_options(dlkprof_flags INTERFACE -Werror)
endif()
if(DLKPROF_SANITIZE)
  target_compile_options(dlkprof_flags INTERFACE -fsanitize=${DLKPROF_SANITIZE} -fno-omit-frame-pointer
                                                 -fno-sanitize-recover=all)
  # Half of the time that clang takes, for accesses beyond an object, which AddressSanitizer finds as well.
  if(DLKPROF_SANITIZE MATCHES undefined)
    target_compile_options(dlkprof_flags INTERFACE -fno-sanitize=object-size)
  endif()
  target_link_options(dlkprof_flags INTERFACE -fsanitize=${DLKPROF_SANITIZE})
  target_compile_definitions(dlkprof_flags INTERFACE DLKPROF_SANITIZED)
endif()
target_include_directories(dlkprof_flags INTERFACE ${PROJECT_SOURCE_DIR}/include ${PROJECT_SOURCE_DIR}/src
                                                   ${PROJECT_BINARY_DIR}/generated)
target_compile_definitions(dlkprof_flags INTERFACE _FILE_OFFSET_BITS=64)
# As of when this was configured; empty outside of a checkout.
execute_process(COMMAND git -C ${PROJECT_SOURCE_DIR} rev-parse --short=10 HEAD OUTPUT_VARIABLE DLKPROF_COMMIT
                OUTPUT_STRIP_TRAILING_WHITESPACE ERROR_QUIET)
configure_file(${PROJECT_SOURCE_DIR}/cmake/build_facts.h.in ${PROJECT_BINARY_DIR}/generated/dlkprof/build_facts.h)
configure_file(${PROJECT_SOURCE_DIR}/include/dlkprof/version.h.in ${PROJECT_BINARY_DIR}/generated/dlkprof/version.h)
