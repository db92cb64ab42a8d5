// What the program says through NVTX, taken in by functions of ours behind the calls of every NVTX instance of the process:
// there is one in each library that uses it, and all share one state. A handle given out (domain, registered string) is the
// number of its text, so that there is nothing to free and a wrong one does no harm.
#pragma once

#include <cstdint>

#include "inject/timeline/nvtx_payloads.h"
#include "inject/timeline/ranges.h"

namespace dlkprof::inject {

// Where ranges go, of all instances attached afterwards. It must stay until the process ends; null, as at the beginning:
// ranges are not wanted, and NVTX calls cost the program nothing.
void record_ranges(Ranges* ranges) noexcept;

// Puts our functions behind the calls of the NVTX instance that `export_table` belongs to (InitializeInjectionNvtx2's
// argument): those of ranges where they are wanted, those that name contexts and streams where `resource_names`.
void attach_to_nvtx(const void* (*export_table)(std::uint32_t), bool resource_names);
// The same of an extension (InitializeInjectionNvtxExtension's argument). False where it is not for us.
[[nodiscard]] bool attach_to_extension(ExtensionModule* module) noexcept;

}  // namespace dlkprof::inject
