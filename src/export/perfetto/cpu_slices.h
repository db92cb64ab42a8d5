// The CPU's side of a run: tracks of processes and threads, iterations, NVTX ranges with the ops that they are, CUDA calls.
#pragma once

#include "export/perfetto/ids.h"
#include "export/perfetto/packets.h"
#include "export/run.h"

namespace dlkprof::exports::perfetto {

void write_tracks(const Run& run, const RunIds& ids, Packets& packets);
void write_iterations(const Run& run, const RunIds& ids, Packets& packets);
// Slices nest as ranges and calls do. What does not nest, such as ranges of two threads' making, gets a track beside its
// thread's.
void write_cpu_slices(const Run& run, const RunIndex& index, RunIds& ids, Packets& packets);

}  // namespace dlkprof::exports::perfetto
