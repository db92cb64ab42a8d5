// Modules and libraries: any image will do, and has every kernel that there is.
#include <algorithm>

#include "cuda/state.h"

namespace fakes {
namespace {

// Held while callbacks tell of modules, as the real one's lock is: who waits for another thread there may wait for ever.
std::recursive_mutex& loader_mutex() {
  static auto& mutex = *new std::recursive_mutex;
  return mutex;
}

void tell_loaded(CUcontext context) {
  const auto* told = hooks();
  if (told == nullptr) return;
  const auto [image, size] = cubin();
  CUpti_ModuleResourceData module{.moduleId = 1, .cubinSize = size, .pCubin = image};
  CUpti_ResourceData data{.context = context, .resourceDescriptor = &module};
  const std::lock_guard lock(loader_mutex());
  told->resource(CUPTI_CBID_RESOURCE_MODULE_LOADED, data);
}

void tell_unload(CUcontext context) {
  const auto* told = hooks();
  if (told == nullptr) return;
  CUpti_ResourceData data{.context = context};
  const std::lock_guard lock(loader_mutex());
  told->resource(CUPTI_CBID_RESOURCE_MODULE_UNLOAD_STARTING, data);
}

}  // namespace

void load_lazily(CUkernel kernel) {
  const CUcontext context = current_context();
  const std::lock_guard lock(loader_mutex());
  if (context != nullptr && kernel->library->loaded_in.insert(context).second) tell_loaded(context);
}

}  // namespace fakes

namespace {

int attribute_of(const fakes::Kernel& kernel, CUfunction_attribute attribute) {
  switch (attribute) {
    case CU_FUNC_ATTRIBUTE_NUM_REGS:
      return kernel.registers;
    case CU_FUNC_ATTRIBUTE_SHARED_SIZE_BYTES:
      return kernel.static_shared_bytes;
    case CU_FUNC_ATTRIBUTE_MAX_THREADS_PER_BLOCK:
      return 1024;
    case CU_FUNC_ATTRIBUTE_PREFERRED_SHARED_MEMORY_CARVEOUT:
      return -1;
    case CU_FUNC_ATTRIBUTE_PTX_VERSION:
    case CU_FUNC_ATTRIBUTE_BINARY_VERSION:
      return 90;
    case CU_FUNC_ATTRIBUTE_REQUIRED_CLUSTER_WIDTH:
    case CU_FUNC_ATTRIBUTE_REQUIRED_CLUSTER_HEIGHT:
    case CU_FUNC_ATTRIBUTE_REQUIRED_CLUSTER_DEPTH:
      if (kernel.cluster == 1) return 0;
      return attribute == CU_FUNC_ATTRIBUTE_REQUIRED_CLUSTER_WIDTH ? kernel.cluster : 1;
    default:
      return 0;
  }
}

CUresult add_function(CUmodule module, const char* name, CUfunction* function) {
  const auto* kernel = fakes::find_kernel(name);
  if (kernel == nullptr) return CUDA_ERROR_NOT_FOUND;
  auto& functions = module->functions;  // a module has one handle for each, as programs ask again
  const auto known = std::find_if(functions.begin(), functions.end(), [&](const CUfunc_st& one) { return one.kernel == kernel; });
  *function = known != functions.end() ? &*known : &functions.emplace_back(CUfunc_st{.kernel = kernel});
  return CUDA_SUCCESS;
}

}  // namespace

extern "C" {

CUresult cuModuleLoadData(CUmodule* module, const void* image) {
  FAKE_ENTRY(cuModuleLoadData);
  if (fakes::spoils_recording()) return CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED;
  if (fakes::current_context() == nullptr) return CUDA_ERROR_INVALID_CONTEXT;
  if (image == nullptr) return CUDA_ERROR_INVALID_IMAGE;
  *module = new CUmod_st{fakes::current_context(), {}};
  fakes::tell_loaded(fakes::current_context());
  return CUDA_SUCCESS;
}

CUresult cuModuleGetFunction(CUfunction* function, CUmodule module, const char* name) {
  FAKE_ENTRY(cuModuleGetFunction);
  return add_function(module, name, function);
}

CUresult cuModuleUnload(CUmodule module) {
  FAKE_ENTRY(cuModuleUnload);
  fakes::tell_unload(module->context);
  fakes::finish(module->context);
  delete module;
  return CUDA_SUCCESS;
}

CUresult cuLibraryLoadData(CUlibrary* library, const void*, CUjit_option*, void**, unsigned, CUlibraryOption*, void**, unsigned) {
  FAKE_ENTRY(cuLibraryLoadData);
  *library = new CUlib_st;
  return CUDA_SUCCESS;
}

CUresult cuLibraryGetKernel(CUkernel* kernel, CUlibrary library, const char* name) {
  FAKE_ENTRY(cuLibraryGetKernel);
  CUfunction function = nullptr;
  if (const auto result = add_function(&library->module, name, &function); result != CUDA_SUCCESS) return result;
  auto& kernels = library->kernels;
  const auto known = std::find_if(kernels.begin(), kernels.end(), [&](const CUkern_st& one) { return one.function == function; });
  *kernel = known != kernels.end() ? &*known : &kernels.emplace_back(CUkern_st{.function = function, .library = library});
  return CUDA_SUCCESS;
}

CUresult cuKernelGetFunction(CUfunction* function, CUkernel kernel) {
  FAKE_ENTRY(cuKernelGetFunction);
  if (kernel->kind != HandleKind::kernel) return CUDA_ERROR_INVALID_HANDLE;
  fakes::load_lazily(kernel);
  *function = kernel->function;
  return CUDA_SUCCESS;
}

CUresult cuFuncGetName(const char** name, CUfunction function) {
  FAKE_ENTRY(cuFuncGetName);
  if (function->kind != HandleKind::function) return CUDA_ERROR_INVALID_HANDLE;
  *name = function->kernel->name;
  return CUDA_SUCCESS;
}

CUresult cuFuncGetAttribute(int* value, CUfunction_attribute attribute, CUfunction function) {
  FAKE_ENTRY(cuFuncGetAttribute);
  if (function->kind != HandleKind::function) return CUDA_ERROR_INVALID_HANDLE;
  *value = attribute_of(*function->kernel, attribute);
  return CUDA_SUCCESS;
}

}  // extern "C"
