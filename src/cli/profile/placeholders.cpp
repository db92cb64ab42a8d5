#include "cli/profile/placeholders.h"

#include <fmt/format.h>
#include <unistd.h>

#include <array>
#include <climits>
#include <cstdlib>
#include <filesystem>
#include <string>
#include <string_view>

#include "base/error.h"
#include "base/text.h"

namespace dlkprof::cli {
namespace {

namespace fs = std::filesystem;

// A folder with more files of one name than this is not meant.
constexpr unsigned kMostNumbers = 100'000;

struct Filled {
  std::string text;
  bool is_numbered = false;
};

std::string host_name() {
  std::array<char, HOST_NAME_MAX + 1> name{};
  if (gethostname(name.data(), name.size() - 1) != 0 || name[0] == '\0') return "localhost";
  return name.data();
}

// Of one option's text, which says in messages where it stands.
class Filler {
 public:
  Filler(std::string_view option, std::string_view text, unsigned number) : option_(option), text_(text), number_(number) {}

  [[nodiscard]] Filled fill() {
    while (at_ < text_.size()) {
      const char letter = text_[at_++];
      if (letter == '%') {
        fill_one();
      } else {
        filled_.text += letter;
      }
    }
    return std::move(filled_);
  }

 private:
  void fill_one() {
    const char letter = at_ < text_.size() ? text_[at_++] : '\0';
    if (letter == '%') {
      filled_.text += '%';
    } else if (letter == 'h') {
      filled_.text += host_name();
    } else if (letter == 'p') {
      filled_.text += std::to_string(getpid());
    } else if (letter == 'q') {
      filled_.text += variable();
    } else if (letter == 'i' || letter == 'n') {
      filled_.text += std::to_string(number_);
      filled_.is_numbered = true;
    } else {
      throw wrong("a per cent sign stands for nothing here");
    }
  }

  std::string variable() {
    const auto end = text_.find('}', at_);
    if (at_ >= text_.size() || text_[at_] != '{' || end == std::string_view::npos) {
      throw wrong("%q is not followed by the name of a variable in braces");
    }
    const std::string name(text_.substr(at_ + 1, end - at_ - 1));
    at_ = end + 1;
    const char* value = std::getenv(name.c_str());
    if (value == nullptr) throw wrong(fmt::format("the environment has no variable {}", printable(name, 80)));
    return value;
  }

  [[nodiscard]] UsageError wrong(const std::string& what) const {
    return {fmt::format("{} {}: {}", option_, printable(text_, 200), what), "",
            "There are %h (host), %p (process), %q{NAME} (environment), %i (a number not taken yet) and %% (a per cent sign)."};
  }

  std::string_view option_, text_;
  unsigned number_;
  std::size_t at_ = 0;
  Filled filled_;
};

// `base_name` begins the names of a file and of what is made of it.
bool has_files(const fs::path& folder, const std::string& base_name) {
  std::error_code ignored;
  for (const auto& entry : fs::directory_iterator(folder, ignored)) {
    const std::string name = entry.path().filename().string();
    if (name.starts_with(base_name + '.') || name.starts_with(base_name + '_')) return true;
  }
  return false;
}

}  // namespace

void fill_placeholders(Outputs& outputs) {
  for (unsigned number = 1; number <= kMostNumbers; ++number) {
    const Filled folder = Filler("--output_path", outputs.directory.native(), number).fill();
    const Filled base_name = Filler("--base_name", outputs.base_name, number).fill();
    std::error_code ignored;
    const bool is_taken = (folder.is_numbered && fs::exists(folder.text, ignored)) ||
                          (!folder.is_numbered && base_name.is_numbered && has_files(folder.text, base_name.text));
    if (is_taken) continue;
    outputs.directory = folder.text;
    outputs.base_name = base_name.text;
    return;
  }
  throw UsageError(fmt::format("all names of {} are taken", printable(outputs.base_name, 80)), "",
                   "Name another --base_name or --output_path.");
}

}  // namespace dlkprof::cli
