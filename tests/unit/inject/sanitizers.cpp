// For AddressSanitizer alone, which calls this where it is there.

// CUPTI frees not all that it takes to find the source line of an instruction (cuptiGetSassToSourceCorrelation of CUDA 13.0).
extern "C" __attribute__((visibility("default"))) const char* __lsan_default_suppressions() { return "leak:libcupti.so"; }
