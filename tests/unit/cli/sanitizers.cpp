// These tests open NVPerf too.
#include "unit/cupti/sanitizers.cpp"  // NOLINT(bugprone-suspicious-include): one definition for every test program
