# Man pages and completions, which the program generates from its tables (app/manual/) into the build directory. Not
# generated in sanitized builds, or if the program cannot run on this machine: then the target imgpipe_docs is not
# part of ALL.
set(imgpipe_docs_directory ${PROJECT_BINARY_DIR}/docs)
set(imgpipe_docs_all ALL)
if(IMGPIPE_SANITIZE OR (CMAKE_CROSSCOMPILING AND NOT CMAKE_CROSSCOMPILING_EMULATOR))
  set(imgpipe_docs_all)
endif()
add_custom_command(OUTPUT ${imgpipe_docs_directory}/written
  COMMAND ${CMAKE_COMMAND} "-DPROGRAM=${CMAKE_CROSSCOMPILING_EMULATOR};$<TARGET_FILE:imgpipe>"
          -DDIRECTORY=${imgpipe_docs_directory} -P ${CMAKE_CURRENT_LIST_DIR}/write_docs.cmake
  DEPENDS imgpipe ${CMAKE_CURRENT_LIST_DIR}/write_docs.cmake
  COMMENT "Man pages and completions" VERBATIM)
add_custom_target(imgpipe_docs ${imgpipe_docs_all} DEPENDS ${imgpipe_docs_directory}/written)

install(DIRECTORY ${imgpipe_docs_directory}/man1 DESTINATION ${CMAKE_INSTALL_MANDIR} OPTIONAL
        PATTERN imgpipe-bench.1 EXCLUDE)
install(FILES ${imgpipe_docs_directory}/man1/imgpipe-bench.1 DESTINATION ${CMAKE_INSTALL_MANDIR}/man1 COMPONENT bench
        OPTIONAL)
install(FILES ${imgpipe_docs_directory}/completions/imgpipe
        DESTINATION ${CMAKE_INSTALL_DATADIR}/bash-completion/completions OPTIONAL)
install(FILES ${imgpipe_docs_directory}/completions/_imgpipe
        DESTINATION ${CMAKE_INSTALL_DATADIR}/zsh/site-functions OPTIONAL)
install(FILES ${imgpipe_docs_directory}/completions/imgpipe.fish
        DESTINATION ${CMAKE_INSTALL_DATADIR}/fish/vendor_completions.d OPTIONAL)
