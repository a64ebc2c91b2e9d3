# Installs three components: the program, the lab, and the library for other programs.
set(imgpipe_library_directory ${CMAKE_INSTALL_LIBDIR}/cmake/imgpipe)
set(imgpipe_include_directory ${CMAKE_INSTALL_INCLUDEDIR}/imgpipe)

if(IMGPIPE_PROGRAM)
  install(TARGETS imgpipe RUNTIME DESTINATION ${CMAKE_INSTALL_BINDIR} COMPONENT program)
  install(TARGETS imgpipe-bench RUNTIME DESTINATION ${imgpipe_libexec_directory} COMPONENT bench)
  install(FILES README.md LICENSE CHANGELOG.md SECURITY.md CONTRIBUTING.md CODE_OF_CONDUCT.md
          DESTINATION ${CMAKE_INSTALL_DOCDIR} COMPONENT program)
  install(DIRECTORY docs DESTINATION ${CMAKE_INSTALL_DOCDIR} COMPONENT program
          FILES_MATCHING PATTERN *.md PATTERN *.svg PATTERN *.jpg PATTERN contract-*.json PATTERN schemas EXCLUDE)
  # The JSON Schemas of the program's output (docs/json.md).
  install(DIRECTORY docs/schemas/ DESTINATION ${CMAKE_INSTALL_DATADIR}/imgpipe/schemas COMPONENT program
          FILES_MATCHING PATTERN *.json)
  # The digests that `imgpipe contract` checks (docs/contract.md).
  install(FILES docs/contract-1.json DESTINATION ${CMAKE_INSTALL_DATADIR}/imgpipe COMPONENT program)
  # docs/json.md links to them.
  file(RELATIVE_PATH imgpipe_schemas ${CMAKE_INSTALL_FULL_DOCDIR}/docs ${CMAKE_INSTALL_FULL_DATADIR}/imgpipe/schemas)
  file(MAKE_DIRECTORY ${PROJECT_BINARY_DIR}/generated)
  file(CREATE_LINK ${imgpipe_schemas} ${PROJECT_BINARY_DIR}/generated/schemas SYMBOLIC)
  install(FILES ${PROJECT_BINARY_DIR}/generated/schemas DESTINATION ${CMAKE_INSTALL_DOCDIR}/docs COMPONENT program)
  install(DIRECTORY examples DESTINATION ${CMAKE_INSTALL_DOCDIR} COMPONENT program USE_SOURCE_PERMISSIONS)
endif()

# ---- the library ------------------------------------------------------------------------------------
# The headers listed in docs/library.md, and those they include, collected when CMake runs.
set(imgpipe_public_headers
  images/codecs/codec.h images/error.h images/files/output_file.h images/formats/pending_input.h images/image.h
  images/plane.h images/simd.h images/synth.h
  kernels/frame.h kernels/stage.h
  pipeline/compare.h pipeline/device.h pipeline/engine.h pipeline/engine_choice.h pipeline/image_io.h
  pipeline/jobs/image_job.h pipeline/plan.h pipeline/runner.h pipeline/stage_list.h pipeline/timeline.h)
set(imgpipe_unread_headers ${imgpipe_public_headers})
while(imgpipe_unread_headers)
  list(POP_FRONT imgpipe_unread_headers header)
  file(STRINGS ${header} includes REGEX "^#include \"")
  foreach(include IN LISTS includes)
    string(REGEX REPLACE "^#include \"([^\"]+)\".*" "\\1" include ${include})
    if(NOT include IN_LIST imgpipe_public_headers)
      list(APPEND imgpipe_public_headers ${include})
      list(APPEND imgpipe_unread_headers ${include})
    endif()
  endforeach()
endwhile()

foreach(floor images kernels pipeline)
  set(headers ${imgpipe_public_headers})
  list(FILTER headers INCLUDE REGEX "^${floor}/")
  add_library(imgpipe::${floor} ALIAS imgpipe_${floor})
  set_target_properties(imgpipe_${floor} PROPERTIES EXPORT_NAME ${floor})
  target_compile_features(imgpipe_${floor} PUBLIC cxx_std_20)
  target_sources(imgpipe_${floor} PUBLIC FILE_SET HEADERS BASE_DIRS ${PROJECT_SOURCE_DIR} FILES ${headers})
  install(TARGETS imgpipe_${floor} EXPORT imgpipe COMPONENT dev
          ARCHIVE DESTINATION ${CMAKE_INSTALL_LIBDIR} COMPONENT dev
          FILE_SET HEADERS DESTINATION ${imgpipe_include_directory} COMPONENT dev)
endforeach()
install(EXPORT imgpipe NAMESPACE imgpipe:: FILE imgpipe-targets.cmake DESTINATION ${imgpipe_library_directory}
        COMPONENT dev)

include(CMakePackageConfigHelpers)
configure_package_config_file(app/package/imgpipe-config.cmake.in ${PROJECT_BINARY_DIR}/generated/imgpipe-config.cmake
                              INSTALL_DESTINATION ${imgpipe_library_directory} NO_SET_AND_CHECK_MACRO)
write_basic_package_version_file(${PROJECT_BINARY_DIR}/generated/imgpipe-config-version.cmake
                                 COMPATIBILITY SameMinorVersion)
install(FILES ${PROJECT_BINARY_DIR}/generated/imgpipe-config.cmake
              ${PROJECT_BINARY_DIR}/generated/imgpipe-config-version.cmake
        DESTINATION ${imgpipe_library_directory} COMPONENT dev)
install(FILES images/libraries.cmake DESTINATION ${imgpipe_library_directory} RENAME imgpipe-libraries.cmake
        COMPONENT dev)

# For pkg-config. The libraries are static, so its users link all of these.
set(imgpipe_pc_requires libjpeg libpng zlib libwebp libzstd libisal libdeflate libhwy libmd)
foreach(library IN LISTS imgpipe_linked_libraries)
  string(REGEX REPLACE "^(archive|avif|heif|jxl)$" "lib\\1" library ${library})
  string(REGEX REPLACE "^tiff$" "libtiff-4" library ${library})
  list(APPEND imgpipe_pc_requires ${library})
endforeach()
list(JOIN imgpipe_pc_requires ", " imgpipe_pc_requires)
set(imgpipe_pc_libraries -pthread)
if(imgpipe_late_files)
  string(APPEND imgpipe_pc_libraries " -ldl")
endif()
if(imgpipe_has_cuda)
  string(APPEND imgpipe_pc_libraries " ${CUDA_cudart_static_LIBRARY} -lrt -ldl")
endif()
set(imgpipe_pc_directory ${CMAKE_INSTALL_FULL_LIBDIR}/pkgconfig)
file(RELATIVE_PATH imgpipe_prefix_from_pc ${imgpipe_pc_directory} ${CMAKE_INSTALL_PREFIX})
configure_file(app/package/imgpipe.pc.in ${PROJECT_BINARY_DIR}/generated/imgpipe.pc @ONLY)
install(FILES ${PROJECT_BINARY_DIR}/generated/imgpipe.pc DESTINATION ${CMAKE_INSTALL_LIBDIR}/pkgconfig COMPONENT dev)
