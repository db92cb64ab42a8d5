// model_seed <capture> <seed>: a capture as model_fuzz takes it (records.h).
#include <cstdio>
#include <fstream>

#include "capture/reader.h"
#include "fuzz/records.h"

int main(int argc, char** argv) {
  using namespace dlkprof;  // NOLINT(google-build-using-namespace)
  if (argc != 3) return 2;
  std::vector<std::uint8_t> seed{0};
  try {
    capture::Reader reader = capture::Reader::open(argv[1]);
    while (const std::optional<capture::Record> record = reader.next()) fuzz::join_record(seed, fuzz::raw_of(*record));
  } catch (const Error& error) {
    std::fprintf(stderr, "%s\n", error.message().c_str());
    return 1;
  }
  std::ofstream(argv[2], std::ios::binary)
      .write(reinterpret_cast<const char*>(seed.data()), static_cast<std::streamsize>(seed.size()));
  return 0;
}
