// What the command line says of kernels and ranks, on names that programs choose: whatever the bytes, it is refused or compiled,
// and matching ends. The first byte picks the option; a NUL parts its value from the kernel's name.
#include <string>

#include "base/error.h"
#include "capture/options.h"
#include "capture/ranks.h"
#include "select/selector.h"

namespace {

using namespace dlkprof;  // NOLINT(google-build-using-namespace)

void select_by(const capture::Selection& selection, const std::string& mangled) {
  auto selector = select::Selector::compile(selection);
  const select::KernelNames names = select::kernel_names(mangled);
  const select::NameMatch match = selector.match_names(names);
  select::LaunchIdentity launch{};
  launch.name_id = selector.name_id(names);
  for (int i = 0; i < 3; ++i) (void)selector.decide(match, launch);
  (void)selector.exhausted();
}

void take(unsigned door, const std::string& value, const std::string& name) {
  capture::Selection selection;
  switch (door % 6) {
    case 0:
      selection.kernel_id = value;
      break;
    case 1:
      selection.kernel_name = value;
      break;
    case 2:
      selection.kernel_name = "regex:" + value;
      break;
    case 3:
      selection.kernel_id = "::regex:" + value + ":";
      selection.filter_mode = "per-launch-config";
      break;
    case 4:
      (void)capture::Ranks::parse(value).contains({.rank = 3, .on_node = 1, .ranks = 8});
      return;
    default:
      (void)capture::options_from_json(value);
      return;
  }
  select_by(selection, name);
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  if (size == 0) return 0;
  const std::string text(data + 1, data + size);
  const std::size_t end = text.find('\0');
  try {
    take(data[0], text.substr(0, end), end == text.npos ? "_Z6kernelPf" : text.substr(end + 1));
  } catch (const Error&) {  // an answer as good as any
  }
  return 0;
}
