// Tables that the page draws from, beside the views: what follows from a run and has no view, computed by the layers that reports
// print it from.
#pragma once

#include "cupti/catalogue.h"
#include "model/profile.h"
#include "model/sass/sass.h"
#include "store/sqlite.h"

namespace dlkprof::view {

// Into a copy of the profile's database (store/copy.h). `sass`: of its sampled kernels, as far as known.
void add_page_tables(store::Connection& connection, const model::Profile& profile, const cupti::Catalogue& catalogue,
                     const model::Sass& sass);

// Iterations are summed up in blocks of 2^kBlockBits, these in larger ones of as many, and so on.
inline constexpr std::int64_t kBlockBits = 3;

// Their parts.
void add_step_tables(store::Connection& connection, const model::Profile& profile);
void add_busy_times(store::Connection& connection, const model::Timeline& timeline);
void add_config_tables(store::Connection& connection, const model::Profile& profile);

}  // namespace dlkprof::view
