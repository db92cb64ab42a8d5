// What a run's events refer to rather than repeat: names, ops, kernels with their launch configurations, queues, counters.
#pragma once

#include <string>
#include <vector>

#include "export/perfetto/ids.h"
#include "export/perfetto/packets.h"
#include "export/run.h"

namespace dlkprof::exports::perfetto {

// The first packets of a run; `metrics`: those that its events have figures of.
void write_interned(const Run& run, const RunIndex& index, const RunIds& ids, const std::vector<std::string>& metrics,
                    Packets& packets);

// Texts that figures of counters are described by, after those of ops.
[[nodiscard]] std::uint64_t text_of_word(const Run& run, std::string_view word);

}  // namespace dlkprof::exports::perfetto
