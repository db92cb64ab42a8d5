# What is installed and where, and the packages that CPack makes of it (cpack -G DEB, cpack -G TZST).
#
# The program finds its libraries and data by where it lies itself (install_root() of src/base/file.h), so that an installation can be
# moved: bin/, lib/ and share/dlkprof/ are fixed. Nothing links the libraries in lib/, which programs load by path. All else
# goes where GNUInstallDirs says.
install(TARGETS dlkprof RUNTIME DESTINATION bin)
if(DLKPROF_PROFILER)
  install(TARGETS dlkprof_inject_library dlkprof_pytorch_library LIBRARY DESTINATION lib)
endif()
install(DIRECTORY metrics DESTINATION share/dlkprof FILES_MATCHING PATTERN "*.json")
install(DIRECTORY samples/captures DESTINATION share/dlkprof FILES_MATCHING PATTERN "*.dlkcap")
install(DIRECTORY python DESTINATION share/dlkprof PATTERN "__pycache__" EXCLUDE)
install(FILES src/report/diagnosis/findings.schema.json DESTINATION share/dlkprof)
install(FILES README.md CHANGELOG.md LICENSE SECURITY.md DESTINATION ${CMAKE_INSTALL_DOCDIR})
install(DIRECTORY docs DESTINATION ${CMAKE_INSTALL_DOCDIR})

# Manual pages and completion, which the program makes from the definitions of its options.
if(NOT DLKPROF_SANITIZE)
  set(shell_folder ${PROJECT_BINARY_DIR}/generated/shell)
  file(MAKE_DIRECTORY ${shell_folder})
  # dlkprof_shell_file(<name> <folder> <words>...): what dlkprof prints with these words, as a file that is installed in the folder.
  function(dlkprof_shell_file name folder)
    add_custom_command(OUTPUT ${shell_folder}/${name} COMMAND dlkprof ${ARGN} > ${shell_folder}/${name} VERBATIM)
    set_property(GLOBAL APPEND PROPERTY DLKPROF_SHELL_FILES ${shell_folder}/${name})
    install(FILES ${shell_folder}/${name} DESTINATION ${folder})
  endfunction()
  dlkprof_shell_file(dlkprof.1 ${CMAKE_INSTALL_MANDIR}/man1 help --man)
  foreach(verb report compare view sweep export merge mcp demo metrics doctor help completion)
    dlkprof_shell_file(dlkprof-${verb}.1 ${CMAKE_INSTALL_MANDIR}/man1 help --man ${verb})
  endforeach()
  dlkprof_shell_file(dlkprof ${CMAKE_INSTALL_DATADIR}/bash-completion/completions completion bash)
  dlkprof_shell_file(_dlkprof ${CMAKE_INSTALL_DATADIR}/zsh/site-functions completion zsh)
  dlkprof_shell_file(dlkprof.fish ${CMAKE_INSTALL_DATADIR}/fish/vendor_completions.d completion fish)
  get_property(shell_files GLOBAL PROPERTY DLKPROF_SHELL_FILES)
  add_custom_target(dlkprof_shell_files ALL DEPENDS ${shell_files})
endif()

# The format of captures, for programs that read them: find_package(dlkprof), target dlkprof::capture_format.
include(CMakePackageConfigHelpers)
add_library(dlkprof_capture_format INTERFACE)
set_target_properties(dlkprof_capture_format PROPERTIES EXPORT_NAME capture_format)
target_compile_features(dlkprof_capture_format INTERFACE cxx_std_20)
target_include_directories(dlkprof_capture_format INTERFACE $<INSTALL_INTERFACE:${CMAKE_INSTALL_INCLUDEDIR}>)
install(FILES include/dlkprof/capture_format.h ${PROJECT_BINARY_DIR}/generated/dlkprof/version.h
        DESTINATION ${CMAKE_INSTALL_INCLUDEDIR}/dlkprof)
set(config_folder ${CMAKE_INSTALL_DATADIR}/cmake/dlkprof)
install(TARGETS dlkprof_capture_format EXPORT dlkprof)
install(EXPORT dlkprof NAMESPACE dlkprof:: FILE dlkprofConfig.cmake DESTINATION ${config_folder})
write_basic_package_version_file(${PROJECT_BINARY_DIR}/generated/dlkprofConfigVersion.cmake COMPATIBILITY SameMinorVersion
                                 ARCH_INDEPENDENT)
install(FILES ${PROJECT_BINARY_DIR}/generated/dlkprofConfigVersion.cmake DESTINATION ${config_folder})

set(CPACK_PACKAGE_NAME dlkprof)
set(CPACK_PACKAGE_VENDOR "The dlkprof developers")
set(CPACK_PACKAGE_CONTACT "${CPACK_PACKAGE_VENDOR}")
set(CPACK_PACKAGE_DESCRIPTION_SUMMARY "Kernel-level metrics profiler for deep learning on NVIDIA GPUs")
set(CPACK_PACKAGE_FILE_NAME dlkprof-${PROJECT_VERSION}-linux-${CMAKE_SYSTEM_PROCESSOR})
set(CPACK_RESOURCE_FILE_LICENSE ${PROJECT_SOURCE_DIR}/LICENSE)
set(CPACK_STRIP_FILES ON)
set(CPACK_GENERATOR DEB TZST)
set(CPACK_DEBIAN_FILE_NAME DEB-DEFAULT)
set(CPACK_DEBIAN_PACKAGE_SECTION devel)
# All but libc is linked statically (tests/checks/exports.py). Python is for programs in Python, and to load databases with it.
set(CPACK_DEBIAN_PACKAGE_DEPENDS "libc6 (>= ${DLKPROF_GLIBC})")
set(CPACK_DEBIAN_PACKAGE_SUGGESTS "python3, python3-pandas, python3-distributed")
include(CPack)
