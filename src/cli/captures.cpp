#include "cli/captures.h"

#include <algorithm>
#include <cctype>
#include <string_view>
#include <system_error>
#include <variant>

#include "base/error.h"
#include "capture/options.h"
#include "capture/reader.h"

namespace dlkprof::cli {
namespace {

namespace fs = std::filesystem;

bool is_capture_name(const std::string& name, const std::string& base_name) {
  constexpr std::string_view kSuffix = ".dlkcap";
  if (!name.starts_with(base_name) || !name.ends_with(kSuffix)) return false;
  if (name.size() < base_name.size() + kSuffix.size()) return false;
  const auto middle = name.substr(base_name.size(), name.size() - base_name.size() - kSuffix.size());
  if (middle.empty()) return true;
  // _<pid> or _<pid>_<n>, as capture/writer.h names them; not the captures of a base name that begins with ours.
  return middle[0] == '_' && middle.size() > 1 &&
         std::all_of(middle.begin() + 1, middle.end(), [](unsigned char c) { return std::isdigit(c) != 0 || c == '_'; });
}

}  // namespace

std::vector<fs::path> captures_by_name(const fs::path& folder, const std::string& base_name) {
  std::vector<fs::path> found;
  std::error_code ignored;
  for (const auto& entry : fs::directory_iterator(folder, ignored)) {
    if (is_capture_name(entry.path().filename().string(), base_name)) found.push_back(entry.path());
  }
  std::sort(found.begin(), found.end());
  return found;
}

bool is_of_another_run(const fs::path& capture, const std::string& base_name) {
  try {
    const auto record = capture::Reader::open(capture).next();
    const auto* process = record ? std::get_if<capture::ProcessRecord>(&*record) : nullptr;
    if (process == nullptr) return false;
    const std::string own = capture::options_from_json(process->options_json).base_name;
    return own != base_name && is_capture_name(capture.filename().string(), own);
  } catch (const Error&) {
    return false;
  }
}

std::vector<fs::path> captures_in(const fs::path& folder, const std::string& base_name) {
  std::vector<fs::path> found = captures_by_name(folder, base_name);
  std::erase_if(found, [&base_name](const fs::path& capture) { return is_of_another_run(capture, base_name); });
  return found;
}

}  // namespace dlkprof::cli
