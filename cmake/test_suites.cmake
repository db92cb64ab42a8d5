# Adds a test for each suite of a GoogleTest program. ctest includes this itself, with `program` and `label` set by dlkprof_test, as
# CMake's GoogleTest module does for each single test: a process for each of those would spend most of its time on starting.
if(EXISTS "${program}")
  execute_process(COMMAND "${program}" --gtest_list_tests OUTPUT_VARIABLE listed COMMAND_ERROR_IS_FATAL ANY)
  string(REGEX MATCHALL "(^|\n)[A-Za-z0-9_/]+\\." suites "${listed}") # tests are indented
  foreach(suite IN LISTS suites)
    string(STRIP "${suite}" suite)
    string(REGEX REPLACE "\\.$" "" name "${suite}")
    add_test("${name}" "${program}" --gtest_brief=1 "--gtest_filter=${suite}*")
    set_tests_properties("${name}" PROPERTIES TIMEOUT 300 LABELS "${label}")
  endforeach()
endif()
