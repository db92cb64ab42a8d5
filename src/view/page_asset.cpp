#include "view/page_asset.h"

extern "C" {
// NOLINTBEGIN(readability-identifier-naming): symbols of page_asset.S
extern const char dlkprof_page_begin[];
extern const char dlkprof_page_end[];
// NOLINTEND(readability-identifier-naming)
}

namespace dlkprof::view {

std::string_view packed_page() noexcept {
  return {dlkprof_page_begin, static_cast<std::size_t>(dlkprof_page_end - dlkprof_page_begin)};
}

}  // namespace dlkprof::view
