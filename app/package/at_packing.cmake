# Included by cpack. Sets the version of the packages (app/build_id.cmake), which changes without rerunning CMake.
include(${CPACK_IMGPIPE_SOURCE}/app/build_id.cmake)
imgpipe_build_id(${CPACK_IMGPIPE_SOURCE} ${CPACK_PACKAGE_VERSION})
set(CPACK_IMGPIPE_VERSION ${imgpipe_version})
set(CPACK_DEBIAN_PACKAGE_VERSION ${imgpipe_debian_version})
set(CPACK_DEBIAN_BENCH_PACKAGE_DEPENDS "imgpipe (= ${imgpipe_debian_version}-${CPACK_DEBIAN_PACKAGE_RELEASE})")
set(CPACK_PACKAGE_FILE_NAME ${CPACK_PACKAGE_NAME}-${imgpipe_version}-linux-${CPACK_IMGPIPE_PROCESSOR})
if(CPACK_GENERATOR STREQUAL "DEB")
  find_program(GZIP gzip REQUIRED)
  string(TIMESTAMP imgpipe_date "%a, %d %b %Y %H:%M:%S +0000" UTC)
  configure_file(${CPACK_IMGPIPE_SOURCE}/app/package/changelog.in ${CPACK_IMGPIPE_DEBIAN}/changelog.Debian @ONLY)
  execute_process(COMMAND ${GZIP} -9nf changelog.Debian WORKING_DIRECTORY ${CPACK_IMGPIPE_DEBIAN}
                  COMMAND_ERROR_IS_FATAL ANY)
endif()
