# The page of `dlkprof view`, built from viewer/ by esbuild and put into the program by src/view/page_asset.S. npm asks the network
# only where viewer/node_modules is not what viewer/package-lock.json says (fetch_page_packages.cmake); from then on no build needs
# it.
#
# target: dlkprof_view, which src/CMakeLists.txt makes.

target_sources(dlkprof_view PRIVATE view/page_asset.S)
set_source_files_properties(view/page_asset.S PROPERTIES SKIP_UNITY_BUILD_INCLUSION ON)
if(NOT DLKPROF_PAGE)
  message(STATUS "Without the page: dlkprof view will say so (DLKPROF_PAGE is OFF)")
  return()
endif()

find_program(DLKPROF_NODE node)
find_program(DLKPROF_NPM npm)
if(NOT DLKPROF_NODE OR NOT DLKPROF_NPM)
  message(FATAL_ERROR "The page of dlkprof view is built with Node.js and npm, and they were not found. Install nodejs and npm, "
                      "as ./setup.sh does, or leave the page out: -DDLKPROF_PAGE=OFF")
endif()

set(viewer ${PROJECT_SOURCE_DIR}/viewer)
set(page ${PROJECT_BINARY_DIR}/generated/page.html.gz)
file(GLOB_RECURSE viewer_sources CONFIGURE_DEPENDS ${viewer}/src/*)

add_custom_command(
  OUTPUT ${page}
  COMMAND ${CMAKE_COMMAND} -DNPM=${DLKPROF_NPM} -DVIEWER=${viewer} -P ${PROJECT_SOURCE_DIR}/cmake/fetch_page_packages.cmake
  COMMAND ${DLKPROF_NODE} build.mjs ${page}
  DEPENDS ${viewer}/build.mjs ${viewer}/package.json ${viewer}/package-lock.json ${viewer_sources}
          ${PROJECT_SOURCE_DIR}/cmake/fetch_page_packages.cmake ${PROJECT_SOURCE_DIR}/docs/user/cookbook.md
  WORKING_DIRECTORY ${viewer}
  COMMENT "Building the page"
  VERBATIM)
add_custom_target(dlkprof_page DEPENDS ${page})
add_dependencies(dlkprof_view dlkprof_page)
set_source_files_properties(view/page_asset.S PROPERTIES COMPILE_DEFINITIONS "DLKPROF_PAGE=\"${page}\"" OBJECT_DEPENDS ${page})
