# Layers that several threads of the profiled program run through: their tests run under ThreadSanitizer too.
set(DLKPROF_THREADED_LAYERS base capture cupti select inject)

# dlkprof_layer(<name> <public dependencies>...): the static library of src/<name> and the folders in it, linked by the
# layers above it and by tests. Who may include whom is checked by cmake/check_layers.py.
function(dlkprof_layer name)
  file(GLOB_RECURSE sources CONFIGURE_DEPENDS ${CMAKE_CURRENT_SOURCE_DIR}/${name}/*.cpp)
  list(FILTER sources EXCLUDE REGEX "/main\\.cpp$|/entry\\.cpp$|/without_toolkit\\.cpp$")
  if(sources)
    add_library(dlkprof_${name} STATIC ${sources})
    target_link_libraries(dlkprof_${name} PUBLIC dlkprof_flags ${ARGN})
    # What libFuzzer steers by (tests/fuzz); others do not look at it.
    if(DLKPROF_SANITIZE MATCHES address AND CMAKE_CXX_COMPILER_ID STREQUAL "Clang")
      target_compile_options(dlkprof_${name} PRIVATE -fsanitize=fuzzer-no-link)
    endif()
    # Optimizing what ThreadSanitizer adds takes longer than the few tests that run through these layers.
    if(DLKPROF_SANITIZE STREQUAL thread AND NOT name IN_LIST DLKPROF_THREADED_LAYERS)
      target_compile_options(dlkprof_${name} PRIVATE -O0)
    endif()
  else()
    add_library(dlkprof_${name} INTERFACE)
    target_link_libraries(dlkprof_${name} INTERFACE dlkprof_flags ${ARGN})
  endif()
endfunction()

add_custom_target(threaded_tests)
add_custom_target(threaded_programs)  # what end-to-end tests need of a build under ThreadSanitizer

# dlkprof_test(<name> <layers>...): the GoogleTest program of all of tests/unit/<name>. Its tests are labelled
# `threads` where the layer is one of those above, `unit` elsewhere.
function(dlkprof_test name)
  file(GLOB_RECURSE sources CONFIGURE_DEPENDS ${CMAKE_CURRENT_SOURCE_DIR}/${name}/*.cpp)
  if(NOT sources)
    return()
  endif()
  add_executable(${name}_test ${sources})
  set_target_properties(${name}_test PROPERTIES UNITY_BUILD ${DLKPROF_UNITY_TESTS} UNITY_BUILD_BATCH_SIZE 0)
  target_link_libraries(${name}_test PRIVATE ${ARGN} GTest::gtest GTest::gmock GTest::gtest_main)
  target_include_directories(${name}_test PRIVATE ${PROJECT_SOURCE_DIR}/tests)
  # Compiled for speed of compiling: what they test keeps its optimization, and all of its sanitizers.
  target_compile_options(${name}_test PRIVATE -O0 -fno-sanitize=undefined)
  target_compile_definitions(${name}_test PRIVATE DLKPROF_SOURCE_DIR="${PROJECT_SOURCE_DIR}"
                                                  DLKPROF_BINARY_DIR="${PROJECT_BINARY_DIR}")
  set(label unit)
  if(name IN_LIST DLKPROF_THREADED_LAYERS)
    set(label threads)
    add_dependencies(threaded_tests ${name}_test)
  endif()
  if(DLKPROF_SANITIZE MATCHES address)  # a process a test would spend most of its time on starting
    add_test(NAME unit.${name} COMMAND ${name}_test --gtest_brief=1 --gtest_filter=-EveryChip*)
    set_tests_properties(unit.${name} PROPERTIES TIMEOUT 900 LABELS ${label})
  elseif(DLKPROF_SANITIZE)  # mutexes of many tests at one address of the stack are one to ThreadSanitizer, so a process a suite
    set(suites ${CMAKE_CURRENT_BINARY_DIR}/${name}_suites.cmake)
    file(
      GENERATE
      OUTPUT ${suites}
      CONTENT "set(program [[$<TARGET_FILE:${name}_test>]])
set(label ${label})
include([[${PROJECT_SOURCE_DIR}/cmake/test_suites.cmake]])
")
    set_property(DIRECTORY APPEND PROPERTY TEST_INCLUDE_FILES ${suites})
  else()
    gtest_discover_tests(${name}_test DISCOVERY_MODE PRE_TEST DISCOVERY_TIMEOUT 60 PROPERTIES TIMEOUT 120
                                                                                              LABELS ${label})
  endif()
endfunction()
