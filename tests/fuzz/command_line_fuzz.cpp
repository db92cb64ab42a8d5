// The command line of profiling, and what its options are written to and read from again: whatever is typed, it is refused as
// usage or understood, and the library in the program understands the same. Input: words, parted by NUL.
#include <string>
#include <vector>

#include "base/error.h"
#include "capture/options.h"
#include "cli/profile/profile_command.h"
#include "cli/profile/profile_options.h"
#include "cupti/catalogue.h"
#include "fuzz/scratch.h"
#include "select/selector.h"

namespace {

using namespace dlkprof;  // NOLINT(google-build-using-namespace)

std::vector<std::string> words_of(std::string_view text) {
  std::vector<std::string> words{"dlkprof"};
  for (std::size_t end = 0; end != text.npos; text = end == text.npos ? text : text.substr(end + 1)) {
    end = text.find('\0');
    words.emplace_back(text.substr(0, end));
  }
  return words;
}

// These print, and end.
bool only_prints(const std::string& word) { return word == "-h" || word.starts_with("--h") || word.starts_with("--v"); }

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  static const cupti::Catalogue catalogue = cupti::Catalogue::load(DLKPROF_SOURCE_DIR "/metrics");
  std::vector<std::string> words = words_of({reinterpret_cast<const char*>(data), size});
  std::vector<char*> arguments;
  for (std::string& word : words) {
    if (only_prints(word)) return 0;
    arguments.push_back(word.data());
  }
  try {
    const auto command = cli::parse_profile(static_cast<int>(arguments.size()), arguments.data(), catalogue);
    if (!command) return 0;
    const capture::ProfileOptions options = cli::options_for(*command);
    const std::string json = capture::to_json(options);
    fuzz::require(capture::to_json(capture::options_from_json(json)) == json);
    (void)select::Selector::compile(options.selection);
  } catch (const Error&) {  // and UsageError, which is one
  }
  return 0;
}
