// CUPTI's checkpoint of device memory (libcheckpoint.so, beside libcupti): what a replay of our own needs.
#pragma once

#include <cupti_checkpoint.h>

#include "cupti/library.h"

namespace dlkprof::cupti {

class Checkpoint {
 public:
  // Saves all device memory of `context`; throws Error where libcheckpoint is missing or memory does not suffice.
  // The context must be idle.
  [[nodiscard]] static Checkpoint save(const Library& library, CUcontext context);
  Checkpoint(Checkpoint&& other) noexcept;
  Checkpoint& operator=(Checkpoint&&) = delete;
  ~Checkpoint();  // frees what was saved, without restoring

  void restore();

 private:
  struct Functions;
  static const Functions& functions(const Library& library);
  explicit Checkpoint(const Library& library, const Functions& table) : library_(&library), functions_(&table) {}

  const Library* library_;
  const Functions* functions_;
  NV::Cupti::Checkpoint::CUpti_Checkpoint handle_{};
  bool saved_ = false;
};

}  // namespace dlkprof::cupti
