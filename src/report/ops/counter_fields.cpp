#include "report/ops/counter_fields.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>

#include "advise/stalls.h"
#include "model/aggregate/provenance.h"

namespace dlkprof::report {
namespace {

using advise::Stall;
using model::Counters;

struct CounterColumn {
  const char* column;
  const char* unit;
  advise::Quantity quantity;
};
constexpr std::array kCounterColumns{
    CounterColumn{"Achieved Occupancy (%)", "%", advise::Quantity::achieved_occupancy},
    CounterColumn{"Theoretical Occupancy (%)", "%", advise::Quantity::theoretical_occupancy},
    CounterColumn{"Tensor Pipe (%)", "%", advise::Quantity::tensor_pipe},
    CounterColumn{"SM Throughput (%)", "%", advise::Quantity::sm_throughput},
    CounterColumn{"Memory Throughput (%)", "%", advise::Quantity::memory_throughput},
    CounterColumn{"DRAM Bytes", "byte", advise::Quantity::dram_bytes},
    CounterColumn{"DRAM Rate (byte/s)", "byte/s", advise::Quantity::dram_rate},
};

Cell value_of(const Counters& counters, advise::Quantity quantity) { return number_cell(find(counters.values, quantity)); }

// A figure of what warps waited for most.
template <typename Figure>
Cell of_top_stall(const Counters& counters, Figure Stall::*figure) {
  const std::vector<Stall> stalls = advise::stalls_of(counters.values);
  const Stall* top = advise::top_wait(stalls);
  return top == nullptr ? Cell{} : Cell{top->*figure};
}

}  // namespace

const Fields<Counters>& counter_fields() {
  static const Fields<Counters> kFields = [] {
    Fields<Counters> fields;
    for (const CounterColumn& column : kCounterColumns) {
      fields.push_back(
          {column.column, column.unit, [&column](const Counters& counters) { return value_of(counters, column.quantity); }});
    }
    fields.push_back({"Top Stall", "", [](const Counters& counters) { return of_top_stall(counters, &Stall::name); }});
    fields.push_back({"Top Stall (%)", "%", [](const Counters& counters) { return of_top_stall(counters, &Stall::percent); }});
    fields.push_back({"Samples Measured", "launch", [](const Counters& counters) -> Cell { return counters.samples; }});
    return fields;
  }();
  return kFields;
}

Fields<Counters> covered_counter_fields() {
  Fields<Counters> fields = counter_fields();
  fields.push_back({"Measured GPU Time (ns)", "ns", [](const Counters& counters) -> Cell { return counters.covered_ns; }});
  return fields;
}

Cell measured_sum(const Counters& counters, advise::Quantity quantity) {
  advise::Values sums;
  for (const auto& [metric, count] : counters.counts) {
    if (count.launches > 0) sums.emplace(metric, count.measured);
  }
  return number_cell(find(sums, quantity));
}

const Fields<Counters>& scaling_fields() {
  // Of the count that was measured on most launches: nearly always all of a row were on the same.
  const auto most_of = [](const Counters& counters, std::uint64_t Counters::Count::*figure) -> Cell {
    std::uint64_t most = 0;
    for (const auto& [metric, count] : counters.counts) most = std::max(most, count.*figure);
    return most == 0 ? Cell{} : Cell{most};
  };
  static const Fields<Counters> kFields{
      {"Counts Measured On", "launch", [=](const Counters& counters) { return most_of(counters, &Counters::Count::launches); }},
      {"Counts Scaled To", "launch", [=](const Counters& counters) { return most_of(counters, &Counters::Count::scaled_to); }},
      {"Unreliable", "",
       [](const Counters& counters) { return text_cell(fmt::format("{}", fmt::join(counters.unreliable, "; "))); }}};
  return kFields;
}

Fields<Counters> dram_scaling_fields() {
  Fields<Counters> fields{{"DRAM Bytes Measured", "byte",
                           [](const Counters& counters) { return measured_sum(counters, advise::Quantity::dram_bytes); }}};
  append(fields, scaling_fields());
  return fields;
}

Fields<Counters> collected_fields() {
  Fields<Counters> fields{
      {"Collected By", "", [](const Counters& counters) { return text_cell(model::replay_modes_text(counters.replay_modes)); }},
      {"Cache Control", "",
       [](const Counters& counters) { return text_cell(model::cache_controls_text(counters.cache_controls)); }}};
  append(fields, dram_scaling_fields());
  return fields;
}

Cell achieved_occupancy(const Counters& counters) { return value_of(counters, advise::Quantity::achieved_occupancy); }

}  // namespace dlkprof::report
