// What the fakes have to say to a test: one line an event, appended to the file that FAKE_JOURNAL names.
#pragma once

#include <string>

namespace fakes {

// The library under test does what the real libraries do not forgive.
void misuse(const std::string& what);
// Something happened that a test may want to count.
void trace(const std::string& what);

}  // namespace fakes
