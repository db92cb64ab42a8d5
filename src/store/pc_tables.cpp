// The tables of PC sampling, filled and read back.
#include "store/pc_tables.h"

#include "store/bulk_insert.h"
#include "store/columns.h"

namespace dlkprof::store {
namespace {

// A number of 64 bits that SQLite keeps as one with a sign.
std::int64_t with_sign(std::uint64_t value) { return static_cast<std::int64_t>(value); }

}  // namespace

std::vector<Table> pc_tables() {
  return {
      {"pc_reason", "What a warp may be found waiting for by PC sampling.", {id("From 0."), text("name", "As CUPTI has it.")}},
      {"pc_file", "A source file of kernels.", {id("From 0, which is the empty text: not known."), text("path", "")}},
      {"pc_function",
       "A kernel function that PC sampling found, in one piece of machine code.",
       {id("From 0."), reference("kernel", "kernel", ""), number("cubin_crc", "", "CUPTI's checksum of the machine code.")}},
      {"pc_instruction",
       "An instruction that PC sampling found. Ordered by function and offset.",
       {id("From 0, in order."), reference("function", "pc_function", ""),
        number("byte_offset", "bytes", "From the function's start."), reference("file", "pc_file", "Of its source line."),
        number("line", "", "From 1; 0: not known.")}},
      {"pc_stall",
       "How often warps were found at an instruction waiting for something.",
       {reference("instruction", "pc_instruction", ""), reference("reason", "pc_reason", ""), number("samples", "", ""),
        number("cycles", "cycles", "That the samples stand for: their periods, added up.")},
       2},
      {"pc_total",
       "All samples of PC sampling on a GPU in a process.",
       {reference("process", "process", ""), number("device", "", "CUDA's number of the GPU in that process."),
        number("shortest_period_log2", "", "The period was of 2^n cycles; it grows where samples are lost."),
        number("longest_period_log2", "", ""), number("samples", "", "Taken by the hardware, all of the following included."),
        number("foreign_samples", "", "Of no kernel of the program's."), number("dropped_samples", "", "By the hardware."),
        number("overflows", "", "Times that the hardware's buffer was found full.")},
       2}};
}

void insert_pc_samples(const Connection& connection, const model::PcSamples& samples) {
  std::uint32_t number = 0;
  Statement reasons = insert_into(connection, "pc_reason");
  for (const std::string& reason : samples.reasons) reasons.run(number++, reason);
  number = 0;
  Statement files = insert_into(connection, "pc_file");
  for (const std::string& file : samples.files) files.run(number++, file);
  number = 0;
  Statement functions = insert_into(connection, "pc_function");
  for (const auto& [kernel, crc] : samples.functions) functions.run(number++, kernel, with_sign(crc));
  number = 0;
  BulkInsert instructions(connection, "pc_instruction");
  for (const auto& [function, offset, file, line] : samples.instructions)
    instructions.add(number++, function, offset, file, line);
  instructions.finish();
  BulkInsert stalls(connection, "pc_stall");
  for (const auto& [instruction, reason, count, cycles] : samples.stalls) stalls.add(instruction, reason, count, cycles);
  stalls.finish();
  Statement totals = insert_into(connection, "pc_total");
  for (const auto& [process, device, shortest, longest, count, foreign, dropped, overflows] : samples.totals) {
    totals.run(process, device, shortest, longest, count, foreign, dropped, overflows);
  }
}

model::PcSamples PcReader::read(std::size_t kernels, std::size_t processes) {
  for (Rows row = rows("pc_reason"); row.next();) {
    row.id();
    samples_.reasons.push_back(row.text());
  }
  for (Rows row = rows("pc_file"); row.next();) {
    row.id();
    samples_.files.push_back(row.text());
  }
  for (Rows row = rows("pc_function"); row.next();) {
    row.id();
    samples_.functions.push_back({row.index(kernels), static_cast<std::uint64_t>(row.number<std::int64_t>())});
  }
  instructions();
  stalls();
  totals(processes);
  return std::move(samples_);
}

void PcReader::instructions() {
  for (Rows row = rows("pc_instruction"); row.next();) {
    row.id();
    samples_.instructions.push_back({row.index(samples_.functions.size()), row.number<std::uint64_t>(),
                                     row.index(samples_.files.size()), row.number<std::uint32_t>()});
  }
}

void PcReader::stalls() {
  const auto count = [](Rows& row) {
    const auto number = row.number<std::uint64_t>();
    if (number > model::kMostPcSamples) row.fail("more samples than there can be");
    return number;
  };
  for (Rows row = rows("pc_stall"); row.next();) {
    samples_.stalls.push_back(
        {row.index(samples_.instructions.size()), row.index(samples_.reasons.size()), count(row), count(row)});
  }
}

void PcReader::totals(std::size_t processes) {
  for (Rows row = rows("pc_total"); row.next();) {
    const model::PcTotals totals{row.index(processes),        row.number<std::uint32_t>(), row.number<std::uint32_t>(),
                                 row.number<std::uint32_t>(), row.number<std::uint64_t>(), row.number<std::uint64_t>(),
                                 row.number<std::uint64_t>(), row.number<std::uint64_t>()};
    if (!model::is_pc_period(totals.shortest_log2) || !model::is_pc_period(totals.longest_log2))
      row.fail("a period that there cannot be");
    samples_.totals.push_back(totals);
  }
}

}  // namespace dlkprof::store
