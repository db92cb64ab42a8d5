// Needs the real NVPerf and, after it, huge_tables.cpp, which therefore begins before it: load this to have NVPerf loaded
// quickly.
