# cmake -DNPM=<npm> -DVIEWER=<folder> -P fetch_page_packages.cmake: has npm fetch what viewer/package-lock.json names, unless it is
# there already. Every build folder shares viewer/node_modules, so that one fetch serves them all.

file(SHA256 ${VIEWER}/package-lock.json wanted)
set(stamp ${VIEWER}/node_modules/.fetched)  # npm empties the folder first: what is cut short leaves none
if(EXISTS ${stamp})
  file(READ ${stamp} there)
  if(there STREQUAL wanted)
    return()
  endif()
endif()
message(STATUS "Fetching the packages of the page")
execute_process(COMMAND ${NPM} ci --ignore-scripts --no-audit --no-fund --loglevel=error WORKING_DIRECTORY ${VIEWER} RESULT_VARIABLE failure)
if(failure)
  message(FATAL_ERROR "npm could not fetch the packages of the page: ${failure}. It needs the network once; "
                      "-DDLKPROF_PAGE=OFF builds without the page.")
endif()
file(WRITE ${stamp} ${wanted})
