cmake_policy(VERSION 3.25)
# An SBOM for each program.
include(${CPACK_IMGPIPE_SOURCE}/app/package/sbom.cmake)
file(GLOB_RECURSE programs LIST_DIRECTORIES false ${CPACK_TEMPORARY_INSTALL_DIRECTORY}/imgpipe
     ${CPACK_TEMPORARY_INSTALL_DIRECTORY}/imgpipe-bench)
list(FILTER programs INCLUDE REGEX "/(bin|libexec/imgpipe)/[^/]+$")
foreach(program IN LISTS programs)
  string(REGEX REPLACE "/(bin|libexec/imgpipe)/[^/]+$" "" prefix ${program})
  get_filename_component(name ${program} NAME)
  imgpipe_sbom(${program} ${name} ${CPACK_IMGPIPE_VERSION} ${prefix}/share/doc/${name}/${name}.cdx.json)
endforeach()

# CMake strips no static libraries. nvcc's objects hold the names of its temporary files, which differ in every build.
file(GLOB_RECURSE libraries ${CPACK_TEMPORARY_INSTALL_DIRECTORY}/*.a)
if(libraries)
  execute_process(COMMAND ${CPACK_IMGPIPE_STRIP} --strip-debug ${libraries} COMMAND_ERROR_IS_FATAL ANY)
endif()

# Make permissions independent of the umask of the checkout or of cpack.
execute_process(COMMAND chmod -R u=rwX,go=rX ${CPACK_TEMPORARY_INSTALL_DIRECTORY} COMMAND_ERROR_IS_FATAL ANY)
# Debian policy 12.1 requires compressed man pages in a .deb.
if(CPACK_GENERATOR STREQUAL "DEB")
  find_program(GZIP gzip REQUIRED)
  file(GLOB_RECURSE pages ${CPACK_TEMPORARY_INSTALL_DIRECTORY}/*.1)
  list(FILTER pages INCLUDE REGEX "/man/man1/[^/]+\\.1$")
  if(pages)
    execute_process(COMMAND ${GZIP} -9nf ${pages} COMMAND_ERROR_IS_FATAL ANY)
  endif()
endif()
