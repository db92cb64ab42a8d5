// What the real CUPTI leaves in the program's heap.
#pragma once

namespace fakes {

// Allocates here and there in the calling thread's heap.
void litter_heap();
// Frees every second of these, so that holes are left. At the end of the process the journal says how many of them malloc still
// serves requests from: "trace: holes 0".
void leave_holes();

}  // namespace fakes
