// A small capture with something of everything.
#pragma once

#include <string>
#include <variant>
#include <vector>

#include "support/event_capture.h"
#include "support/sample_capture.h"

namespace dlkprof::test {

// A record of each type but raw counters, which no database holds.
inline std::vector<capture::Record> records_of_all_types() {
  EventCapture events;
  events.range(range_id(0), 0, 2'000, 9'000, "iteration");
  events.range(range_id(1), range_id(0), 3'000, 5'000, "aten::mm, seq = 7, op_id = 3");
  events.call(1, range_id(1), 3'100, 3'300);
  events.call(2, range_id(0), 6'000, 6'200);
  events.activity(1, 3'500, 4'500, kTiledGemm);
  events.activity(2, 6'300, 7'000, kRelu);
  for (const capture::Record& record : sample_records()) {
    const bool apart = std::holds_alternative<capture::ProcessRecord>(record) ||
                       std::holds_alternative<capture::DeviceRecord>(record) ||
                       std::holds_alternative<capture::EndRecord>(record);
    if (!apart) events.before.push_back(record);
  }
  events.before.emplace_back(capture::NoticeRecord{capture::Severity::warning, "what", "detail", "remedy"});
  events.before.emplace_back(capture::FactsRecord{{{"pytorch", "cudnn.benchmark", "false"}}});
  events.before.emplace_back(capture::AbsenceRecord{7'500, 8'000});
  events.before.emplace_back(capture::PcNamesRecord{{{1, "stalled_wait"}}, {{1, 77, kRelu}}, {"relu.cu"}, {{1, 16, 0, 3}}});
  events.before.emplace_back(capture::PcCodeRecord{{1}, 1000, {1, 2, 3}});
  events.before.emplace_back(capture::SassCountsRecord{3, {.function = 1}, {"smsp__sass_inst_executed"}, {{1, 32, {{0, 64}}}}});
  events.before.emplace_back(capture::PcSamplesRecord{0, 10, 100, 3, 2, 1, {{1, 16, {{1, 50}}}}});
  return events.records();
}

}  // namespace dlkprof::test
