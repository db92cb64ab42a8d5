// libcheckpoint: saves and restores the fake GPU's memory.
#include <cuda.h>

#pragma GCC visibility push(default)
#include <cupti_checkpoint.h>
#pragma GCC visibility pop

#include "common/journal.h"
#include "cupti/real.h"

namespace NV::Cupti::Checkpoint {
namespace {

using SnapshotPointer = std::shared_ptr<fakes::Snapshot>;

void check_idle(CUcontext context, const char* what) {
  if (!fakes::driver()->idle(context)) fakes::misuse(std::string(what) + " while launches are under way");
  if (fakes::driver()->capturing()) fakes::misuse(std::string(what) + " while a stream is recorded");
}

}  // namespace

CUptiResult cuptiCheckpointSave(CUpti_Checkpoint* const handle) {
  FAKE_GPU_CALL(cuptiCheckpointSave);
  if (handle->pPriv != nullptr || handle->structSize != CUpti_Checkpoint_STRUCT_SIZE) return CUPTI_ERROR_INVALID_PARAMETER;
  check_idle(handle->ctx, "cuptiCheckpointSave");
  fakes::trace("checkpoint save");
  handle->pPriv = new SnapshotPointer(fakes::driver()->save(handle->ctx));
  return CUPTI_SUCCESS;
}

CUptiResult cuptiCheckpointRestore(CUpti_Checkpoint* const handle) {
  FAKE_GPU_CALL(cuptiCheckpointRestore);
  if (handle->pPriv == nullptr) return CUPTI_ERROR_NOT_INITIALIZED;
  check_idle(handle->ctx, "cuptiCheckpointRestore");
  fakes::trace("checkpoint restore");
  fakes::driver()->restore(**static_cast<SnapshotPointer*>(handle->pPriv));
  return CUPTI_SUCCESS;
}

CUptiResult cuptiCheckpointFree(CUpti_Checkpoint* const handle) {
  FAKE_GPU_CALL(cuptiCheckpointFree);
  if (handle->pPriv == nullptr) return CUPTI_ERROR_INVALID_PARAMETER;
  fakes::trace("checkpoint free");
  delete static_cast<SnapshotPointer*>(handle->pPriv);
  handle->pPriv = nullptr;
  return CUPTI_SUCCESS;
}

}  // namespace NV::Cupti::Checkpoint
