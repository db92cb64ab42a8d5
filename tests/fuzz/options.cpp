// What sanitizers spend on each allocation, beside which a fuzzer's own work is little. To see more of a stack where something
// was found: ASAN_OPTIONS=malloc_context_size=30.
extern "C" const char* __asan_default_options();   // NOLINT(bugprone-reserved-identifier): the sanitizers' name
extern "C" const char* __asan_default_options() {  // NOLINT(bugprone-reserved-identifier)
  return "malloc_context_size=3:quarantine_size_mb=16";
}
