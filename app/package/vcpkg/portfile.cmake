# An overlay port of the C++ library, built from a tarball of the source (git archive):
#
#   IMGPIPE_TARBALL=/path/imgpipe-0.2.0.tar.gz VCPKG_KEEP_ENV_VARS=IMGPIPE_TARBALL \
#     vcpkg install imgpipe --overlay-ports=app/package/vcpkg
#
# libmd is the system's (libmd-dev): vcpkg has no port of it.
set(tarball "$ENV{IMGPIPE_TARBALL}")
if(NOT EXISTS "${tarball}")
  message(FATAL_ERROR "IMGPIPE_TARBALL: '${tarball}' does not exist; name the source tarball")
endif()
vcpkg_extract_source_archive(source ARCHIVE "${tarball}")
vcpkg_check_linkage(ONLY_STATIC_LIBRARY)

# The port of stb has no directory stb/.
file(MAKE_DIRECTORY "${CURRENT_BUILDTREES_DIR}/stb/stb")
foreach(header stb_image.h stb_image_write.h)
  file(COPY "${CURRENT_INSTALLED_DIR}/include/${header}" DESTINATION "${CURRENT_BUILDTREES_DIR}/stb/stb")
endforeach()

set(codecs OFF)
if("icc" IN_LIST FEATURES)
  set(codecs lcms2)
endif()
vcpkg_cmake_configure(SOURCE_PATH "${source}" OPTIONS
  -DIMGPIPE_PROGRAM=OFF -DIMGPIPE_TESTS=OFF -DIMGPIPE_PYTHON=OFF -DIMGPIPE_CUDA=OFF -DIMGPIPE_CODECS=${codecs}
  "-DSTB_INCLUDE_DIR=${CURRENT_BUILDTREES_DIR}/stb")
vcpkg_cmake_install()
vcpkg_cmake_config_fixup(CONFIG_PATH lib/cmake/imgpipe)
vcpkg_fixup_pkgconfig()
file(REMOVE_RECURSE "${CURRENT_PACKAGES_DIR}/debug/include" "${CURRENT_PACKAGES_DIR}/debug/share")
vcpkg_install_copyright(FILE_LIST "${source}/LICENSE")
