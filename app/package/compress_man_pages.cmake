# Before a .deb is packed: man pages compressed, as Debian's policy has them (12.1).
if(CPACK_GENERATOR STREQUAL "DEB")
  find_program(GZIP gzip REQUIRED)
  file(GLOB_RECURSE pages ${CPACK_TEMPORARY_INSTALL_DIRECTORY}/*.1)
  list(FILTER pages INCLUDE REGEX "/man/man1/[^/]+\\.1$")
  if(pages)
    execute_process(COMMAND ${GZIP} -9nf ${pages} COMMAND_ERROR_IS_FATAL ANY)
  endif()
endif()
