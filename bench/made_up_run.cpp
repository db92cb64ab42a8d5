// Writes the capture that fold_bench works on, to run the program itself on it:
//   made_up_run <folder> <launches> [plain]
//   /usr/bin/time -v dlkprof --base_name run --output_path <other folder> --reports=all --formats=csv,json
//     cp <folder>/made_up.dlkcap <other folder>/run.dlkcap
// takes it as what the program cp left, and writes the database and all reports.
#include <fmt/format.h>

#include <cstdlib>
#include <exception>
#include <string_view>

#include "support/made_up_run.h"

int main(int argc, char** argv) {
  const bool plain = argc == 4 && std::string_view(argv[3]) == "plain";
  if (argc != 3 && !plain) {
    fmt::print(stderr, "usage: made_up_run <folder> <launches> [plain]\n");
    return 2;
  }
  try {
    auto run = dlkprof::test::made_up_run_of(static_cast<std::uint32_t>(std::strtoul(argv[2], nullptr, 10)));
    run.numbered = !plain;
    fmt::print("{}\n", dlkprof::test::write_made_up_run(argv[1], run).native());
    return 0;
  } catch (const std::exception& failure) {
    fmt::print(stderr, "made_up_run: {}\n", failure.what());
    return 1;
  }
}
