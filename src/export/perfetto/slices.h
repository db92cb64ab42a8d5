// What tracks and slices of any kind are written with.
#pragma once

#include <string>

#include "export/perfetto/packets.h"

namespace dlkprof::exports::perfetto {

// The clock of the trace beside the wall clock, at one moment.
void write_clock(Packets& packets, std::int64_t monotonic_ns, std::int64_t unix_ns);

void write_track(Packets& packets, std::uint64_t uuid, std::uint64_t parent, const std::string& name,
                 const std::string& description = "");
void end_slice(Packets& packets, std::uint64_t track, std::int64_t ns);
// `name`: interned. `kind`: the field that `value` goes to.
void annotate(Message& event, std::uint64_t name, Field kind, std::uint64_t value);

}  // namespace dlkprof::exports::perfetto
