// The tables of a job's database.
#pragma once

#include <array>
#include <string>

namespace dlkprof::job {

struct JobTable {
  const char* name;
  const char* columns;
  const char* keys;  // its primary key
  const char* meaning;
};

// References are to the id of another table. Times in ns.
inline constexpr std::array kJobTables{
    JobTable{"op", "id INTEGER NOT NULL, name TEXT NOT NULL, direction TEXT NOT NULL, type TEXT NOT NULL", "id",
             "Ops of all ranks, by name."},
    JobTable{"metric", "id INTEGER NOT NULL, name TEXT NOT NULL", "id", "Hardware counters, as NVPerf names them."},
    JobTable{"kind", "id INTEGER NOT NULL, name TEXT NOT NULL", "id", "Kernels of collectives."},
    JobTable{
        "rank",
        "rank INTEGER NOT NULL, known INTEGER NOT NULL, host TEXT NOT NULL, pid INTEGER NOT NULL, start_unix_ns INTEGER NOT "
        "NULL, world_size INTEGER NOT NULL, gpu TEXT NOT NULL, pci_bus_id TEXT NOT NULL, clock_hz REAL NOT NULL, launches "
        "INTEGER NOT NULL, damaged INTEGER NOT NULL, ended INTEGER NOT NULL",
        "rank",
        "A row per rank. known: the launcher or torch.distributed said the number; the others are numbered by host and start. "
        "world_size, clock_hz 0: not known. damaged: records of its capture that were left out. ended 0: its capture was cut "
        "short."},
    JobTable{"left_out",
             "known INTEGER NOT NULL, rank INTEGER NOT NULL, host TEXT NOT NULL, pid INTEGER NOT NULL, start_unix_ns "
             "INTEGER NOT NULL",
             "known, rank, host, pid, start_unix_ns", "Processes that another process of the same rank was taken before."},
    JobTable{
        "rank_op",
        "rank INTEGER NOT NULL, op INTEGER NOT NULL, segment INTEGER NOT NULL, launches INTEGER NOT NULL, n INTEGER NOT NULL, "
        "gpu_ns TEXT NOT NULL, gpu_squares TEXT NOT NULL, gpu_least_ns INTEGER NOT NULL, gpu_most_ns INTEGER NOT NULL, "
        "gpu_histogram TEXT NOT NULL, wait_ns TEXT NOT NULL, wait_squares TEXT NOT NULL, wait_least_ns INTEGER NOT NULL, "
        "wait_most_ns INTEGER NOT NULL, wait_histogram TEXT NOT NULL",
        "rank, op",
        "An op of a rank over its n iterations: sum, sum of squares, least, most and histogram (bin:count, bin k holds values of "
        "k bits) of its GPU time without collectives, and of the time in which the GPU did nothing before its work. segment: so "
        "many collectives of the iteration come before it. Sums are decimal digits, as they may exceed 64 bits."},
    JobTable{"rank_counter",
             "rank INTEGER NOT NULL, op INTEGER NOT NULL, metric INTEGER NOT NULL, value REAL NOT NULL, samples INTEGER NOT NULL",
             "rank, op, metric",
             "A hardware counter of an op of a rank; of counts (.sum) per iteration. samples: launches measured."},
    JobTable{
        "rank_iteration",
        "rank INTEGER NOT NULL, iteration INTEGER NOT NULL, start_ns INTEGER NOT NULL, length_ns INTEGER NOT NULL, gpu_ns "
        "INTEGER NOT NULL, collective_ns INTEGER NOT NULL, exposed_ns INTEGER NOT NULL, input_ns INTEGER NOT NULL, idle_ns "
        "INTEGER NOT NULL",
        "rank, iteration",
        "An iteration of a rank: the GPU did anything, ran a collective, ran nothing else; did nothing before the first work of "
        "the iteration, and later. start_ns: wall clock of the host."},
    JobTable{
        "rank_collective",
        "rank INTEGER NOT NULL, communicator INTEGER NOT NULL, sequence INTEGER NOT NULL, iteration INTEGER NOT NULL, position "
        "INTEGER NOT NULL, kind INTEGER NOT NULL, start_ns INTEGER NOT NULL, end_ns INTEGER NOT NULL, late_op INTEGER, late_ns "
        "INTEGER NOT NULL, bytes INTEGER, exposed_ns INTEGER NOT NULL",
        "rank, communicator, sequence",
        "A collective on a rank. communicator: by the rank's stream, in the order of first use. late_op: of those that ran since "
        "the collective before, the op that took longer than its median on this rank, by late_ns. bytes: of its message, as NCCL "
        "says; NULL: not known. exposed_ns: nothing but collectives ran."},
};

// Them in Markdown: what docs/user/jobs.md says.
[[nodiscard]] std::string describe_job_schema();

}  // namespace dlkprof::job
