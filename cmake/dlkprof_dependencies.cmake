# Everything from the distribution, linked statically; the CUDA Toolkit for its headers only (CUPTI is opened at
# run time), and only for what profiles. CMake's own FindCUDAToolkit looks for far more, and stumbles over toolkits without nvToolsExt. The range
# profiler's header came with 12.6.
if(DLKPROF_PROFILER)
  set(toolkits ENV CUDA_HOME ENV CUDA_PATH /usr/local/cuda)
  find_path(CUPTI_INCLUDE_DIR cupti_range_profiler.h HINTS ${toolkits} PATH_SUFFIXES include extras/CUPTI/include)
  find_path(CUDA_INCLUDE_DIR cuda.h HINTS ${toolkits} PATH_SUFFIXES include)
  if(NOT CUPTI_INCLUDE_DIR OR NOT CUDA_INCLUDE_DIR)
    message(FATAL_ERROR "No CUDA Toolkit 12.6 or later with CUPTI was found. Install it (developer.nvidia.com/cuda-downloads) "
                        "and set CUDA_HOME to its folder, or build what reads captures alone: -DDLKPROF_PROFILER=OFF -DDLKPROF_TESTS=OFF")
  endif()
  add_library(dlkprof_cuda_headers INTERFACE)
  target_include_directories(dlkprof_cuda_headers SYSTEM INTERFACE ${CUDA_INCLUDE_DIR} ${CUPTI_INCLUDE_DIR})
endif()
find_package(nlohmann_json 3.11 REQUIRED)
find_package(CLI11 2.1 REQUIRED)
find_package(fmt 9 REQUIRED)
find_package(Threads REQUIRED)

# A static archive of the distribution, as a target.
function(dlkprof_static name header archive)
  find_path(${name}_INCLUDE ${header} REQUIRED)
  find_library(${name}_ARCHIVE ${archive} REQUIRED)
  add_library(dlkprof_${name} STATIC IMPORTED GLOBAL)
  set_target_properties(dlkprof_${name} PROPERTIES IMPORTED_LOCATION ${${name}_ARCHIVE}
                                                   INTERFACE_INCLUDE_DIRECTORIES ${${name}_INCLUDE})
endfunction()
dlkprof_static(pcre2 pcre2.h libpcre2-8.a)
dlkprof_static(zstd zstd.h libzstd.a)
dlkprof_static(zlib zlib.h libz.a)
dlkprof_static(iberty libiberty/demangle.h libiberty.a)
dlkprof_static(sqlite sqlite3.h libsqlite3.a)
target_link_libraries(dlkprof_sqlite INTERFACE Threads::Threads ${CMAKE_DL_LIBS} m)
