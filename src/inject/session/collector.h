// How counters are collected, as the session sees it: one collector for each --replay-mode. The session calls it under one lock
// and inside OwnCalls; an Error that a function throws ends profiling, so a collector handles those it can live with.
#pragma once

#include <cstdint>
#include <span>

#include "inject/session/launch_counter.h"

namespace dlkprof::inject {

class Collector {
 public:
  Collector() = default;
  Collector(const Collector&) = delete;
  Collector& operator=(const Collector&) = delete;
  virtual ~Collector() = default;

  // Some launches are made alone, and others wait meanwhile: each launch is to enter the session's gate. Never changes.
  [[nodiscard]] virtual bool takes_turns() const noexcept { return false; }

  // At a launch's entry, once it is counted: whether it is to be made alone, and enter() be called.
  [[nodiscard]] virtual bool wants(Launch& launch) = 0;
  // The launch is alone. Whether leave() is to be called at its exit.
  [[nodiscard]] virtual bool enter(Launch&) { return false; }
  // That launch, which was wanted, is not to be measured after all.
  virtual void skip(const Launch&, capture::SkipReason) {}
  // At its exit, still alone. Whether nothing can be selected any more.
  [[nodiscard]] virtual bool leave(const CUpti_CallbackData&) { return false; }

  struct GraphKernels {
    std::span<const Ledger::Entry> known{};  // in order; none before they were launched by themselves
    bool collective = false;                 // some wait for other GPUs, or may, as the driver does not tell their names
  };
  // Whether a graph launch in the context is to be made node by node, for the counters that its kernels lack.
  enum class ByNodes : std::uint8_t {
    no,     // nor any later one, once its kernels are known, or a collective is one of them
    later,  // they lack some, but those that are collected now they have
    yes,
  };
  // At each launch of a graph, and when it is made.
  [[nodiscard]] virtual ByNodes by_nodes(CUcontext, const GraphKernels&) { return ByNodes::no; }

  // A graph is launched on that GPU, and may hold what is selected. Of a collector that takes no turns.
  virtual void graph_launched(const capture::DeviceRecord&) {}

  // The program has allocated GPU memory.
  virtual void allocated(std::uint64_t) {}
  virtual void context_ends(CUcontext) {}
  // Now and then, at the entry of a launch. Whether all is measured that was wanted.
  [[nodiscard]] virtual bool poll(const Launch&) { return false; }
  // Whether all is measured of the launches that come now.
  [[nodiscard]] virtual bool is_settled(const Launch&) { return false; }
  // Profiling has failed or ended: nothing is measured any more. `alone`: no other thread can be measuring.
  virtual void stop(bool) noexcept {}
  // At the end of the process, with no launch under way.
  virtual void finish() noexcept {}
};

// --replay-mode none.
class NoCollector final : public Collector {
 public:
  [[nodiscard]] bool wants(Launch&) override { return false; }
};

}  // namespace dlkprof::inject
