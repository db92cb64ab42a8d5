// A training loop that marks what it does by NVTX ranges, in the words of PyTorch's emit_nvtx and of python/dlkprof.
#pragma once

namespace target {

class Training;

// So many steps of a small network: modules and phases, ops with sequence numbers, and the backward pass on a thread of its
// own. Some work lies outside of every range, and the last range is never closed.
void train_marked(Training& training, int steps);

}  // namespace target
