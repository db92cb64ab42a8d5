// Calls a verb as main() does, with what it prints taken in.
#pragma once

#include <gtest/gtest.h>

#include <string>
#include <vector>

namespace dlkprof::test {

struct VerbResult {
  int exit_code = 0;
  std::string out, err;
};

template <typename Verb>
VerbResult run_verb(Verb verb, std::vector<std::string> words) {
  std::vector<char*> argv;
  for (std::string& word : words) argv.push_back(word.data());
  testing::internal::CaptureStdout();
  testing::internal::CaptureStderr();
  VerbResult result;
  try {
    result.exit_code = verb(static_cast<int>(argv.size()), argv.data());
  } catch (...) {
    (void)testing::internal::GetCapturedStdout();
    (void)testing::internal::GetCapturedStderr();
    throw;
  }
  result.out = testing::internal::GetCapturedStdout();
  result.err = testing::internal::GetCapturedStderr();
  return result;
}

// What calling `action` throws as an error of type Failure, as main() prints it.
template <typename Failure, typename Action>
std::string message_of(Action action) {
  try {
    action();
  } catch (const Failure& failure) {
    return failure.message();
  }
  ADD_FAILURE() << "nothing was thrown";
  return "";
}

}  // namespace dlkprof::test
