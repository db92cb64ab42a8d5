// capture_database <database> <capture>...: writes captures as a database, whose raw tables independent.py can read.
#include <cstdio>
#include <filesystem>
#include <vector>

#include "base/error.h"
#include "store/database.h"

namespace {

void write(const std::filesystem::path& database, const std::vector<std::filesystem::path>& captures) {
  using namespace dlkprof;  // NOLINT(google-build-using-namespace)
  const model::Timeline timeline = model::load_timeline(captures);
  const model::Fold fold = model::fold(timeline);
  const model::Aggregate aggregate = model::aggregate(timeline, fold);
  store::write_database(database, timeline, {.options = {}, .range = {}, .fold = fold, .aggregate = aggregate});
}

}  // namespace

int main(int argc, char** argv) try {
  if (argc < 3) {
    std::fputs("capture_database <database> <capture>...\n", stderr);
    return 2;
  }
  write(argv[1], {argv + 2, argv + argc});
  return 0;
} catch (const dlkprof::Error& error) {
  std::fprintf(stderr, "%s\n", error.message().c_str());
  return 1;
}
