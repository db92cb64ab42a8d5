// What fake_program does: one step after the other, each a word of its command line, name[:argument[:argument]].
#pragma once

#include <span>
#include <string>

namespace target {

// Takes the step that `steps` begins with. Most print a line on stdout. `exec` goes on with the steps after it in a
// fresh process image. Ends the program, with exit code 98, where there is no such step.
void take_step(std::span<char* const> steps);

}  // namespace target
