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
# Each is installed as <imgpipe/NAME>; docs/library.md lists them. They declare the public API, with the headers that
# they include.
set(imgpipe_public_headers
  images/codecs/codec.h images/error.h images/files/output_file.h images/image.h images/simd.h images/synth.h
  kernels/stage.h
  pipeline/compare.h pipeline/engine.h pipeline/engine_choice.h pipeline/image_io.h pipeline/jobs/image_job.h
  pipeline/plan.h pipeline/runner.h)
set(imgpipe_headers ${imgpipe_public_headers})
set(imgpipe_unread_headers ${imgpipe_public_headers})
while(imgpipe_unread_headers)
  list(POP_FRONT imgpipe_unread_headers header)
  file(STRINGS ${header} includes REGEX "^#include \"")
  foreach(include IN LISTS includes)
    string(REGEX REPLACE "^#include \"([^\"]+)\".*" "\\1" include ${include})
    if(NOT include IN_LIST imgpipe_headers)
      list(APPEND imgpipe_headers ${include})
      list(APPEND imgpipe_unread_headers ${include})
    endif()
  endforeach()
endwhile()

# In the build tree, for projects that add imgpipe as a subdirectory.
set(imgpipe_build_include ${PROJECT_BINARY_DIR}/generated/include)
foreach(header IN LISTS imgpipe_public_headers)
  cmake_path(GET header FILENAME name)
  file(CONFIGURE OUTPUT ${imgpipe_build_include}/imgpipe/${name} CONTENT "#include \"${header}\"\n" @ONLY)
endforeach()
install(CODE "set(public ${imgpipe_public_headers})\nset(headers ${imgpipe_headers})\nset(source ${PROJECT_SOURCE_DIR})
set(target \"\$ENV{DESTDIR}\${CMAKE_INSTALL_PREFIX}/${imgpipe_include_directory}\")" COMPONENT dev)
install(SCRIPT app/package/install_headers.cmake COMPONENT dev)

if(BUILD_SHARED_LIBS OR (IMGPIPE_TESTS AND NOT IMGPIPE_SANITIZE))
  include(app/package/shared_library.cmake)
endif()
if(BUILD_SHARED_LIBS)
  add_library(imgpipe::imgpipe ALIAS imgpipe_shared)
  install(TARGETS imgpipe_shared EXPORT imgpipe INCLUDES DESTINATION ${CMAKE_INSTALL_INCLUDEDIR}
          LIBRARY DESTINATION ${CMAKE_INSTALL_LIBDIR} COMPONENT lib NAMELINK_COMPONENT dev)
else()
  foreach(layer images kernels pipeline)
    set_target_properties(imgpipe_${layer} PROPERTIES EXPORT_NAME ${layer})
    target_compile_features(imgpipe_${layer} PUBLIC cxx_std_20)
    install(TARGETS imgpipe_${layer} EXPORT imgpipe ARCHIVE DESTINATION ${CMAKE_INSTALL_LIBDIR} COMPONENT dev)
  endforeach()
  add_library(imgpipe_library INTERFACE)
  add_library(imgpipe::imgpipe ALIAS imgpipe_library)
  set_target_properties(imgpipe_library PROPERTIES EXPORT_NAME imgpipe)
  target_link_libraries(imgpipe_library INTERFACE imgpipe_pipeline)
  target_include_directories(imgpipe_library INTERFACE $<BUILD_INTERFACE:${imgpipe_build_include}>)
  install(TARGETS imgpipe_library EXPORT imgpipe INCLUDES DESTINATION ${CMAKE_INSTALL_INCLUDEDIR})
endif()
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

set(imgpipe_pc_requires)
set(imgpipe_pc_libraries -limgpipe)
if(NOT BUILD_SHARED_LIBS)
  install(FILES images/libraries.cmake DESTINATION ${imgpipe_library_directory} RENAME imgpipe-libraries.cmake
          COMPONENT dev)
  # Users of static libraries link all of these.
  set(imgpipe_pc_requires libjpeg libisal libhwy libmd)
  foreach(library IN LISTS imgpipe_linked_libraries)
    string(REGEX REPLACE "^(archive|avif|deflate|heif|jxl|png|webp|zstd)$" "lib\\1" library ${library})
    string(REGEX REPLACE "^tiff$" "libtiff-4" library ${library})
    list(APPEND imgpipe_pc_requires ${library})
  endforeach()
  list(JOIN imgpipe_pc_requires ", " imgpipe_pc_requires)
  set(imgpipe_pc_libraries "-limgpipe_pipeline -limgpipe_kernels -limgpipe_images -pthread")
  if(imgpipe_late_files)
    string(APPEND imgpipe_pc_libraries " -ldl")
  endif()
  if(imgpipe_has_cuda)
    string(APPEND imgpipe_pc_libraries " ${CUDA_cudart_static_LIBRARY} -lrt -ldl")
  endif()
endif()
set(imgpipe_pc_directory ${CMAKE_INSTALL_FULL_LIBDIR}/pkgconfig)
file(RELATIVE_PATH imgpipe_prefix_from_pc ${imgpipe_pc_directory} ${CMAKE_INSTALL_PREFIX})
configure_file(app/package/imgpipe.pc.in ${PROJECT_BINARY_DIR}/generated/imgpipe.pc @ONLY)
install(FILES ${PROJECT_BINARY_DIR}/generated/imgpipe.pc DESTINATION ${CMAKE_INSTALL_LIBDIR}/pkgconfig COMPONENT dev)
