// The smaller inputs, each by a door of its own, which the first byte picks: machine code that the driver loads, placeholders in
// names of files, the catalogue of metrics, messages of NVTX.
#include <array>
#include <filesystem>
#include <fstream>
#include <string>
#include <string_view>

#include "base/error.h"
#include "capture/message.h"
#include "cli/profile/placeholders.h"
#include "cupti/catalogue.h"
#include "cupti/cubin.h"
#include "fuzz/scratch.h"

namespace {

using namespace dlkprof;  // NOLINT(google-build-using-namespace)

// sets.json names the section "one".
const std::string& catalogue_folder() {
  static const std::string folder = [] {
    std::filesystem::create_directory(fuzz::scratch_folder() / "sections");
    return fuzz::scratch_folder().native();
  }();
  return folder;
}

void write(const std::string& path, std::string_view text) {
  std::ofstream(path, std::ios::binary).write(text.data(), static_cast<std::streamsize>(text.size()));
}

void load_catalogue(std::string_view sets, std::string_view section) {
  write(catalogue_folder() + "/sets.json", sets);
  write(catalogue_folder() + "/sections/one.json", section);
  (void)cupti::Catalogue::load(catalogue_folder());
}

// What is put together again is what was taken apart.
void split(std::string_view message) {
  if (message.find('\0') != message.npos) return;
  std::array<char, 4096> room{};
  if (message.size() >= room.size()) return;
  const capture::SplitMessage parts = capture::split_message(message, room);
  fuzz::require(capture::join_message(parts.text, parts.sequence, parts.op_id).size() <= message.size() + 64);
}

void take(unsigned door, const std::string& text) {
  switch (door % 5) {
    case 0:
      (void)cupti::has_line_information({text.data(), text.size()});
      return;
    case 1: {
      cli::Outputs outputs;
      outputs.directory = "/nowhere/" + text;
      outputs.base_name = text;
      cli::fill_placeholders(outputs);
      return;
    }
    case 2:
      return load_catalogue(text, "{}");
    case 3:
      return load_catalogue(R"({"sections":["one"],"sets":[]})", text);
    default:
      return split(text);
  }
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  if (size == 0) return 0;
  try {
    take(data[0], {data + 1, data + size});
  } catch (const Error&) {  // an answer as good as any
  }
  return 0;
}
