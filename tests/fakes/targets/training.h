// A training loop as small as can be: a few kernels over buffers on the (fake) GPU, whose content tells whether every
// launch ran exactly once and in order.
#pragma once

#include <cuda.h>

#include <cstdint>
#include <string>

namespace target {

// Ends the program with a message where a call of the driver fails: a profiler must not bring that about.
void check(CUresult result, const char* call);
#define CHECK(call) ::target::check(call, #call)

// Which entry of the driver launches go through.
enum class Entry { plain, ptsz, ex, ex_ptsz, library_kernel };

class Training {
 public:
  // In the current context; launches go to `stream` (null: the default stream).
  Training(Entry entry, CUstream stream);
  Training(const Training&) = delete;
  Training& operator=(const Training&) = delete;
  ~Training();

  // One iteration: every ordinary kernel once, the matrix product twice with another grid.
  void iterate();
  void launch(const char* kernel, unsigned grid = 4);
  // Adds to the graph what launch() would launch.
  void add_to(CUgraph graph, const char* kernel, unsigned grid = 4);
  // With more threads in a block than there may be; whether the driver refused it.
  [[nodiscard]] bool launch_too_large(const char* kernel);
  void launch_cooperative(const char* kernel);
  // Unloads the module and loads it again: function handles change.
  void reload();
  // Overwrites a buffer of its own on the GPU from the host and reads it back; whether it came back whole.
  [[nodiscard]] bool upload(std::uint8_t value);
  // Writes one as streams do that others wait for.
  void write_value(std::uint32_t value);
  // Of all buffers; waits for the GPU.
  [[nodiscard]] std::string checksum() const;

 private:
  [[nodiscard]] CUfunction function(const char* kernel) const;

  Entry entry_;
  CUstream stream_;
  CUmodule module_ = nullptr;
  CUlibrary library_ = nullptr;
  CUdeviceptr data_ = 0, other_ = 0, uploaded_ = 0;
};

}  // namespace target
