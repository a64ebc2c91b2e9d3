# Packages made by `cpack`: imgpipe, imgpipe-bench and imgpipe-dev as .deb, and one tarball of everything. With
# BUILD_SHARED_LIBS, the shared library is a separate .deb. CMAKE_INSTALL_PREFIX=/usr selects /usr/lib/TRIPLET.
set(CPACK_PACKAGE_VENDOR "the imgpipe authors")
set(CPACK_PACKAGE_CONTACT "the imgpipe authors <maintainers@imgpipe.invalid>" CACHE STRING
    "Maintainer of packages: name and address, as Debian's policy has it")
set(CPACK_PACKAGE_DESCRIPTION_SUMMARY "exact image-processing pipeline")
set(CPACK_RESOURCE_FILE_LICENSE ${PROJECT_SOURCE_DIR}/LICENSE)
set(CPACK_PACKAGE_DIRECTORY ${PROJECT_BINARY_DIR}/packages)
set(CPACK_GENERATOR DEB TGZ)
set(CPACK_STRIP_FILES ON)
set(CPACK_PRE_BUILD_SCRIPTS ${PROJECT_SOURCE_DIR}/app/package/before_packing.cmake)
set(CPACK_PROJECT_CONFIG_FILE ${PROJECT_SOURCE_DIR}/app/package/at_packing.cmake)
set(CPACK_IMGPIPE_SOURCE ${PROJECT_SOURCE_DIR})
set(CPACK_IMGPIPE_DEBIAN ${PROJECT_BINARY_DIR}/generated/debian)
set(CPACK_IMGPIPE_PROCESSOR ${CMAKE_SYSTEM_PROCESSOR})

# ---- facts for the SBOM (sbom.cmake) ----------------------------------------------------------------
set(CPACK_IMGPIPE_MULTIARCH ${CMAKE_LIBRARY_ARCHITECTURE})
set(CPACK_IMGPIPE_STRIP ${CMAKE_STRIP})
set(CPACK_IMGPIPE_LATE_FILES ${imgpipe_late_files})
foreach(library stdc++ gcc)
  execute_process(COMMAND ${CMAKE_CXX_COMPILER} -print-file-name=lib${library}.a OUTPUT_VARIABLE imgpipe_archive
                  OUTPUT_STRIP_TRAILING_WHITESPACE)
  file(REAL_PATH ${imgpipe_archive} imgpipe_archive)
  if(imgpipe_archive MATCHES "^/usr/lib/")
    list(APPEND CPACK_IMGPIPE_STATIC_RUNTIME ${imgpipe_archive})
  endif()
endforeach()
if(imgpipe_has_cuda)
  set(CPACK_IMGPIPE_CUDA ${CUDAToolkit_VERSION})
endif()
foreach(header stb/stb_image.h hwy/highway.h spdlog/spdlog.h fmt/format.h nlohmann/json.hpp cxxopts.hpp toml++/toml.h)
  unset(imgpipe_header)
  find_file(imgpipe_header ${header} NO_CACHE)
  if(imgpipe_header)
    list(APPEND CPACK_IMGPIPE_HEADERS ${imgpipe_header})
  endif()
endforeach()

# ---- additional files required by Debian's policy ---------------------------------------------------
# Only .deb packages contain the components debian, debian_bench, debian_dev and debian_lib.
set(imgpipe_debian_components debian debian_bench debian_dev)
if(BUILD_SHARED_LIBS)
  list(APPEND imgpipe_debian_components debian_lib)
endif()
set(imgpipe_debian_directory ${CPACK_IMGPIPE_DEBIAN})
file(READ LICENSE imgpipe_license)
string(REGEX REPLACE "^.*Permission is hereby" "Permission is hereby" imgpipe_license "${imgpipe_license}")
string(REGEX REPLACE "\n\n" "\n.\n" imgpipe_license "${imgpipe_license}")
string(STRIP "${imgpipe_license}" imgpipe_license)
string(REPLACE "\n" "\n " imgpipe_license "${imgpipe_license}")
configure_file(app/package/copyright.in ${imgpipe_debian_directory}/copyright @ONLY)
foreach(component IN LISTS imgpipe_debian_components)
  string(REPLACE debian imgpipe package ${component})
  string(REPLACE imgpipe_lib libimgpipe${imgpipe_abi} package ${package})
  string(REPLACE _ - package ${package})
  file(STRINGS app/package/lintian-overrides overrides REGEX "^(#|${package}:)")
  list(JOIN overrides "\n" overrides)
  file(CONFIGURE OUTPUT ${imgpipe_debian_directory}/overrides/${package} CONTENT "${overrides}\n")
  install(FILES ${imgpipe_debian_directory}/overrides/${package} DESTINATION ${CMAKE_INSTALL_DATADIR}/lintian/overrides
          COMPONENT ${component} EXCLUDE_FROM_ALL)
  install(FILES ${imgpipe_debian_directory}/copyright ${imgpipe_debian_directory}/changelog.Debian.gz
          DESTINATION ${CMAKE_INSTALL_DATADIR}/doc/${package} COMPONENT ${component} EXCLUDE_FROM_ALL OPTIONAL)
endforeach()

# ---- the packages ---------------------------------------------------------------------------------
set(CPACK_DEB_COMPONENT_INSTALL ON)
set(CPACK_DEBIAN_FILE_NAME DEB-DEFAULT)
set(CPACK_DEBIAN_PACKAGE_RELEASE 1)
set(CPACK_DEBIAN_PACKAGE_PRIORITY optional)
set(CPACK_DEBIAN_PACKAGE_CONTROL_STRICT_PERMISSION ON)
set(CPACK_DEBIAN_PROGRAM_PACKAGE_NAME imgpipe)
set(CPACK_DEBIAN_PROGRAM_PACKAGE_SECTION graphics)
# Dependencies are derived from the program's shared objects. The CUDA runtime is linked statically and the driver is
# loaded at run time, so neither is a dependency.
set(CPACK_DEBIAN_PROGRAM_PACKAGE_SHLIBDEPS ON)
# Libraries that are loaded at run time are not among them.
foreach(file IN LISTS imgpipe_late_files)
  execute_process(COMMAND dpkg-query -S "*/${file}" OUTPUT_VARIABLE owner ERROR_QUIET)
  if(owner MATCHES "^([^:]+):")
    list(APPEND CPACK_DEBIAN_PROGRAM_PACKAGE_DEPENDS ${CMAKE_MATCH_1})
  endif()
endforeach()
list(JOIN CPACK_DEBIAN_PROGRAM_PACKAGE_DEPENDS ", " CPACK_DEBIAN_PROGRAM_PACKAGE_DEPENDS)
set(CPACK_COMPONENT_PROGRAM_DESCRIPTION
"Grayscale, histogram, contrast stretch, smoothing and further stages over one
image or whole folders, on CUDA devices or any processor, with the same bytes
on each and a report of what every stage took.")
set(CPACK_DEBIAN_PROGRAM_PACKAGE_SUGGESTS imgpipe-bench)
# at_packing.cmake adds the dependency on imgpipe of the same version.
set(CPACK_DEBIAN_BENCH_PACKAGE_NAME imgpipe-bench)
set(CPACK_DEBIAN_BENCH_PACKAGE_SECTION graphics)
set(CPACK_DEBIAN_BENCH_PACKAGE_SHLIBDEPS ON)
set(CPACK_COMPONENT_BENCH_DESCRIPTION
"The kernel lab of the program imgpipe, for imgpipe bench: every variant of
every stage checked against the reference and timed, with its source text.")
set(CPACK_DEBIAN_DEV_PACKAGE_NAME imgpipe-dev)
set(CPACK_DEBIAN_DEV_PACKAGE_SECTION libdevel)
if(CMAKE_INSTALL_LIBDIR MATCHES /)  # read by CMake 3.31 and later
  set(CPACK_DEBIAN_DEV_PACKAGE_MULTIARCH same)
  set(CPACK_DEBIAN_LIB_PACKAGE_MULTIARCH same)
endif()
if(NOT BUILD_SHARED_LIBS)
  # The libraries that imgpipe-config.cmake finds.
  set(CPACK_DEBIAN_DEV_PACKAGE_DEPENDS
      "libjpeg-dev, libpng-dev, zlib1g-dev, libtiff-dev, libwebp-dev, libzstd-dev, libisal-dev, libhwy-dev, \
libdeflate-dev, libarchive-dev, libmd-dev")
  foreach(codec IN LISTS imgpipe_codecs)
    string(APPEND CPACK_DEBIAN_DEV_PACKAGE_DEPENDS ", lib${codec}-dev")
  endforeach()
endif()
set(CPACK_COMPONENT_DEV_DESCRIPTION
"The C++ library of the program imgpipe: images and their files, the stages,
plans and engines, with headers, a CMake package and a pkg-config file.")
set(CPACK_DEBIAN_LIB_PACKAGE_NAME libimgpipe${imgpipe_abi})
set(CPACK_DEBIAN_LIB_PACKAGE_SECTION libs)
set(CPACK_DEBIAN_LIB_PACKAGE_SHLIBDEPS ON)
set(CPACK_DEBIAN_LIB_PACKAGE_GENERATE_SHLIBS ON)
set(CPACK_DEBIAN_LIB_PACKAGE_GENERATE_SHLIBS_POLICY ">=")
set(CPACK_DEBIAN_LIB_PACKAGE_DEPENDS ${CPACK_DEBIAN_PROGRAM_PACKAGE_DEPENDS})
set(CPACK_COMPONENT_LIB_DESCRIPTION "The shared library of imgpipe, for programs that were built with imgpipe-dev.")
set(CPACK_IMGPIPE_LIBRARY_PACKAGE)
if(BUILD_SHARED_LIBS)
  set(CPACK_IMGPIPE_LIBRARY_PACKAGE ${CPACK_DEBIAN_LIB_PACKAGE_NAME})
  list(APPEND imgpipe_debian_components lib)
endif()

set(CPACK_COMPONENTS_ALL program bench dev ${imgpipe_debian_components})
set(CPACK_COMPONENTS_GROUPING ONE_PER_GROUP)
include(CPack)
cpack_add_component_group(program)
cpack_add_component_group(bench)
cpack_add_component_group(dev)
cpack_add_component(program GROUP program DESCRIPTION "${CPACK_COMPONENT_PROGRAM_DESCRIPTION}")
cpack_add_component(bench GROUP bench DESCRIPTION "${CPACK_COMPONENT_BENCH_DESCRIPTION}")
cpack_add_component(dev GROUP dev DESCRIPTION "${CPACK_COMPONENT_DEV_DESCRIPTION}")
if(BUILD_SHARED_LIBS)
  cpack_add_component_group(lib)
  cpack_add_component(lib GROUP lib DESCRIPTION "${CPACK_COMPONENT_LIB_DESCRIPTION}")
  cpack_add_component(debian_lib GROUP lib)
endif()
cpack_add_component(debian GROUP program)
cpack_add_component(debian_bench GROUP bench)
cpack_add_component(debian_dev GROUP dev)
