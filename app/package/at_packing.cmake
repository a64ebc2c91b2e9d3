# Included by cpack. Sets the version of the packages (app/build_id.cmake), which changes without rerunning CMake.
include(${CPACK_IMGPIPE_SOURCE}/app/build_id.cmake)
imgpipe_build_id(${CPACK_IMGPIPE_SOURCE} ${CPACK_PACKAGE_VERSION})
set(CPACK_IMGPIPE_VERSION ${imgpipe_version})
set(CPACK_DEBIAN_PACKAGE_VERSION ${imgpipe_debian_version})
# Files in packages have the date of the commit, or SOURCE_DATE_EPOCH: a later build gives the same bytes.
if(NOT DEFINED ENV{SOURCE_DATE_EPOCH} AND imgpipe_commit_date)
  execute_process(COMMAND date -u -d ${imgpipe_commit_date} +%s OUTPUT_VARIABLE imgpipe_epoch
                  OUTPUT_STRIP_TRAILING_WHITESPACE COMMAND_ERROR_IS_FATAL ANY)
  set(ENV{SOURCE_DATE_EPOCH} ${imgpipe_epoch})
endif()
set(CPACK_DEBIAN_BENCH_PACKAGE_DEPENDS "imgpipe (= ${imgpipe_debian_version}-${CPACK_DEBIAN_PACKAGE_RELEASE})")
if(CPACK_IMGPIPE_LIBRARY_PACKAGE)
  set(CPACK_DEBIAN_DEV_PACKAGE_DEPENDS
      "${CPACK_IMGPIPE_LIBRARY_PACKAGE} (= ${imgpipe_debian_version}-${CPACK_DEBIAN_PACKAGE_RELEASE})")
endif()
set(CPACK_PACKAGE_FILE_NAME ${CPACK_PACKAGE_NAME}-${imgpipe_version}-linux-${CPACK_IMGPIPE_PROCESSOR})
if(CPACK_GENERATOR STREQUAL "DEB")
  find_program(GZIP gzip REQUIRED)
  string(TIMESTAMP imgpipe_date "%a, %d %b %Y %H:%M:%S +0000" UTC)
  configure_file(${CPACK_IMGPIPE_SOURCE}/app/package/changelog.in ${CPACK_IMGPIPE_DEBIAN}/changelog.Debian @ONLY)
  execute_process(COMMAND ${GZIP} -9nf changelog.Debian WORKING_DIRECTORY ${CPACK_IMGPIPE_DEBIAN}
                  COMMAND_ERROR_IS_FATAL ANY)
endif()
