// The page as it is built from viewer/, packed with gzip, inside the program (page_asset.S). Empty where dlkprof was built
// without.
#pragma once

#include <string_view>

namespace dlkprof::view {

[[nodiscard]] std::string_view packed_page() noexcept;

}  // namespace dlkprof::view
