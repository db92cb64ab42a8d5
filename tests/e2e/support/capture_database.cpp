// capture_database <database> <capture>...: writes captures as a database, whose raw tables independent.py can read.
#include <cstdio>
#include <filesystem>
#include <vector>

#include "advise/diagnosis.h"
#include "base/error.h"
#include "store/database.h"

namespace {

void write(const std::filesystem::path& database, const std::vector<std::filesystem::path>& captures) {
  using namespace dlkprof;  // NOLINT(google-build-using-namespace)
  model::Profile profile;
  profile.timeline = model::load_timeline(captures);
  profile.fold = model::fold(profile.timeline);
  profile.aggregate = model::aggregate(profile.timeline, profile.fold);
  store::write_database(database, profile, advise::diagnosis_of(profile));
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
