#include "cupti/checkpoint.h"

#include <dlfcn.h>

#include <utility>

#include "base/error.h"

namespace dlkprof::cupti {

namespace checkpoint_api = NV::Cupti::Checkpoint;

struct Checkpoint::Functions {
  decltype(&checkpoint_api::cuptiCheckpointSave) save = nullptr;
  decltype(&checkpoint_api::cuptiCheckpointRestore) restore = nullptr;
  decltype(&checkpoint_api::cuptiCheckpointFree) free = nullptr;
};

const Checkpoint::Functions& Checkpoint::functions(const Library& library) {
  static const Functions table = [&library] {
    const auto beside_cupti = library.path().parent_path() / "libcheckpoint.so";
    void* handle = dlopen(beside_cupti.c_str(), RTLD_NOW | RTLD_LOCAL);
    if (handle == nullptr) handle = dlopen("libcheckpoint.so", RTLD_NOW | RTLD_LOCAL);
    Functions found;
    if (handle != nullptr) {
      found.save = reinterpret_cast<decltype(found.save)>(dlsym(handle, "cuptiCheckpointSave"));
      found.restore = reinterpret_cast<decltype(found.restore)>(dlsym(handle, "cuptiCheckpointRestore"));
      found.free = reinterpret_cast<decltype(found.free)>(dlsym(handle, "cuptiCheckpointFree"));
    }
    if (found.save == nullptr || found.restore == nullptr || found.free == nullptr) {
      const char* words = dlerror();
      throw Error("CUPTI's checkpoint library cannot be opened", words != nullptr ? words : beside_cupti.string(),
                  "Use --cache-control none, or a CUDA Toolkit that has libcheckpoint.so beside libcupti.so.");
    }
    return found;
  }();
  return table;
}

Checkpoint Checkpoint::save(const Library& library, CUcontext context) {
  Checkpoint checkpoint(library, functions(library));
  using checkpoint_api::CUpti_Checkpoint;  // named by the size macro
  checkpoint.handle_.structSize = CUpti_Checkpoint_STRUCT_SIZE;
  checkpoint.handle_.ctx = context;
  check(library, checkpoint.functions_->save(&checkpoint.handle_), "cuptiCheckpointSave");
  checkpoint.saved_ = true;
  return checkpoint;
}

Checkpoint::Checkpoint(Checkpoint&& other) noexcept
    : library_(other.library_),
      functions_(other.functions_),
      handle_(other.handle_),
      saved_(std::exchange(other.saved_, false)) {}

Checkpoint::~Checkpoint() {
  if (saved_) (void)functions_->free(&handle_);
}

void Checkpoint::restore() { check(*library_, functions_->restore(&handle_), "cuptiCheckpointRestore"); }

}  // namespace dlkprof::cupti
