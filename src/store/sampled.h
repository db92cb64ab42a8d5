// Figures from samples (replay mode sample), and what GPUs did over time.
#pragma once

#include <cstdint>
#include <map>
#include <string>

#include "model/timeline/timeline.h"
#include "store/open.h"
#include "store/rows.h"
#include "store/sqlite.h"

namespace dlkprof::store {

// Fills the tables sampled and sample_bin. `metrics`: rows of the table metric by name.
void insert_sampled(const Connection& connection, const model::Timeline& timeline,
                    const std::map<std::string, std::uint32_t>& metrics);

// Reads them back. What they refer to must have been read.
void read_sampled(const OpenDatabase& database, TextBudget& budget, model::Timeline& timeline);

}  // namespace dlkprof::store
