// Which of the driver's calls the session listens to, and what each of them means to it.
#pragma once

#include <cuda.h>
#include <cupti.h>

#include <cstdint>
#include <vector>

#include "capture/options.h"
#include "cupti/library.h"

namespace dlkprof::inject {

class DriverCalls {
 public:
  struct Wanted {
    bool timeline = false;
    capture::Collect collect = capture::Collect::none;
    bool loaded_modules = false;  // callbacks tell of modules as they are loaded
  };
  // Asks CUPTI for the names of its callbacks; throws Error.
  DriverCalls(const cupti::Library& library, const Wanted& wanted);

  // Turns callbacks on or off; throws Error.
  void watch(CUpti_SubscriberHandle subscriber, bool on) const;

  // The call changes GPU memory or launches a graph, so it waits while a launch is measured alone.
  [[nodiscard]] bool is_gated(CUpti_CallbackId id) const noexcept { return id < roles_.size() && roles_[id].gated; }
  // A stream writes a value to memory, or waits for one.
  [[nodiscard]] bool is_of_values(CUpti_CallbackId id) const noexcept { return id < roles_.size() && roles_[id].of_values; }
  [[nodiscard]] bool is_timed(CUpti_CallbackId id) const noexcept { return id < roles_.size() && roles_[id].timed; }
  // It goes on the timeline, and the session does nothing else about it.
  [[nodiscard]] bool is_only_timed(CUpti_CallbackId id) const noexcept { return id < roles_.size() && roles_[id].only_timed; }

  // What becomes of executable graphs, where windows are wanted.
  enum class OfGraph : std::uint8_t { nothing, makes, updates, destroys };
  [[nodiscard]] OfGraph of_graph(CUpti_CallbackId id) const noexcept {
    return id < roles_.size() ? roles_[id].of_graph : OfGraph::nothing;
  }

  // Of events, where windows are wanted.
  enum class OfEvent : std::uint8_t { nothing, creates, records };
  [[nodiscard]] OfEvent of_event(CUpti_CallbackId id) const noexcept {
    return id < roles_.size() ? roles_[id].of_event : OfEvent::nothing;
  }

  [[nodiscard]] static bool launches_graph(CUpti_CallbackId id) noexcept;
  [[nodiscard]] static bool begins_capture(CUpti_CallbackId id) noexcept;
  [[nodiscard]] static bool ends_capture(CUpti_CallbackId id) noexcept;
  [[nodiscard]] static bool opens_or_closes_range(CUpti_CallbackId id) noexcept;  // cuProfilerStart and cuProfilerStop

 private:
  struct Role {
    bool gated = false, of_values = false, timed = false, only_timed = false;
    OfGraph of_graph = OfGraph::nothing;
    OfEvent of_event = OfEvent::nothing;
    [[nodiscard]] bool is_none() const noexcept {
      return !gated && !of_values && !timed && of_graph == OfGraph::nothing && of_event == OfEvent::nothing;
    }
  };
  [[nodiscard]] static Role role_of(const char* name, const Wanted& wanted);

  const cupti::Library& library_;
  const Wanted wanted_;
  std::vector<Role> roles_;  // by callback id
};

}  // namespace dlkprof::inject
