// The order that timeline.h promises, brought about in arrays that stand in any.
#pragma once

#include <cstdint>
#include <vector>

#include "model/timeline/notice_counts.h"
#include "model/timeline/timeline.h"

namespace dlkprof::model {

// Sorts ranges, calls and works in place and brings the indices between them up to date. Where a range, or a call, cannot lie
// inside the range it names (that one is of another thread, or not open then), it moves out to the nearest around that can
// hold it, or to none. `range_rank` says which of two ranges of the same start comes first; those of rank kNone are left out.
// Indices are valid or kNone.
void put_in_order(Timeline& timeline, std::vector<std::uint32_t> range_rank, NoticeCounts& notices);

}  // namespace dlkprof::model
