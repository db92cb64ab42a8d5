// All that follows the reader: a capture is joined, folded and summed, its reports are written, and its database is written and
// read back. Whatever the bytes: no crash, no hang, and what the loader takes the database holds. Databases themselves go in by
// another door. The first byte picks what is done, since all of it would be a few runs a second.
#include <sys/mman.h>
#include <unistd.h>

#include <array>
#include <cstdlib>
#include <span>
#include <string>
#include <vector>

#include "advise/diagnosis.h"
#include "base/error.h"
#include "base/file.h"
#include "model/profile.h"
#include "report/format/csv.h"
#include "report/format/json.h"
#include "report/registry.h"
#include "store/database.h"

namespace {

using namespace dlkprof;  // NOLINT(google-build-using-namespace)
using Bytes = std::span<const std::uint8_t>;

std::string in_memory(const UniqueFd& file, Bytes bytes) {
  const std::string path = "/proc/self/fd/" + std::to_string(file.get());
  write_all(file.get(), bytes, path);
  return path;
}

// In memory where there is /dev/shm.
const std::string& database_path() {
  static const std::string path = [] {
    std::string name = (access("/dev/shm", W_OK) == 0 ? "/dev/shm" : "/tmp") + std::string("/model_fuzz_XXXXXX");
    if (mkdtemp(name.data()) == nullptr) std::abort();
    return name + "/run.sqlite";
  }();
  return path;
}

model::Profile profile_of(Bytes bytes) {
  const UniqueFd file(memfd_create("capture", MFD_CLOEXEC));
  model::Profile profile;
  profile.timeline = model::load_timeline(std::vector<std::filesystem::path>{in_memory(file, bytes)});
  profile.fold = model::fold(profile.timeline, {});
  profile.aggregate = model::aggregate(profile.timeline, profile.fold, {});
  return profile;
}

void write_reports(const model::Profile& profile, bool as_csv) {
  const report::Sink nowhere = [](std::string_view) {};
  for (const report::Report& report : report::reports()) {
    if (report.rows == nullptr) continue;
    const report::Rows rows = report.rows({profile});
    if (as_csv) {
      report::write_csv(rows, nowhere);
    } else {
      report::write_json(rows, nowhere);
    }
  }
}

// What was written must be read.
void go_through_database(const model::Profile& profile) {
  store::write_database(database_path(), profile, advise::diagnosis_of(profile));
  try {
    const model::Timeline again = store::read_timeline(database_path());
    if (again.ranges.size() != profile.timeline.ranges.size()) std::abort();
    (void)store::read_stored_run(database_path());
  } catch (const Error&) {
    std::abort();
  }
}

void read_database(Bytes bytes) {
  const UniqueFd file(memfd_create("database", MFD_CLOEXEC));
  const std::string path = in_memory(file, bytes);
  (void)store::read_timeline(path);
  (void)store::read_stored_run(path);
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  if (size == 0) return 0;
  const Bytes rest(data + 1, size - 1);
  try {
    if (data[0] % 32 == 1) {
      read_database(rest);
      return 0;
    }
    const model::Profile profile = profile_of(rest);
    if (data[0] % 8 == 2) write_reports(profile, (data[0] & 8U) != 0);
    if (data[0] % 32 == 3) go_through_database(profile);
  } catch (const Error&) {  // not a capture, or not a database
  }
  return 0;
}
