// The program that end-to-end tests profile: takes the steps that its arguments name, in order.
#include "targets/steps.h"

int main(int argc, char** argv) {
  const std::span<char* const> steps(argv + 1, argv + argc);
  for (std::size_t i = 0; i < steps.size(); ++i) target::take_step(steps.subspan(i));
  return 0;
}
