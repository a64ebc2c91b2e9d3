# The version that an unpacked `git archive` reports, even inside another repository. Run by cmake -P with SOURCE,
# PYTHON and WORK (a directory to make, in which git would find a repository).
if(NOT EXISTS ${SOURCE}/.git)
  message("SKIPPED: no git checkout")
  return()
endif()
file(REMOVE_RECURSE ${WORK})
file(MAKE_DIRECTORY ${WORK}/archive)
foreach(command "init -q ${WORK}" "-C ${WORK} -c user.name=a -c user.email=a commit -q --allow-empty -m another"
                "-C ${SOURCE} archive --output=${WORK}/archive.tar HEAD")
  separate_arguments(command UNIX_COMMAND "${command}")
  execute_process(COMMAND git ${command} COMMAND_ERROR_IS_FATAL ANY)
endforeach()
file(ARCHIVE_EXTRACT INPUT ${WORK}/archive.tar DESTINATION ${WORK}/archive)
execute_process(COMMAND git -C ${SOURCE} rev-parse --short=12 HEAD OUTPUT_VARIABLE commit
                OUTPUT_STRIP_TRAILING_WHITESPACE COMMAND_ERROR_IS_FATAL ANY)

function(expect expected)
  execute_process(COMMAND ${CMAKE_COMMAND} -DSOURCE=${WORK}/archive -DBASE=9.8.7 -P ${SOURCE}/app/build_id.cmake
                  OUTPUT_VARIABLE version OUTPUT_STRIP_TRAILING_WHITESPACE COMMAND_ERROR_IS_FATAL ANY)
  if(NOT version STREQUAL expected)
    message(SEND_ERROR "'${version}', not '${expected}'")
  endif()
endfunction()
expect(9.8.7.dev0+g${commit})
# The version that scikit-build-core reads.
file(STRINGS ${SOURCE}/CMakeLists.txt base REGEX "^project\\(imgpipe VERSION ")
string(REGEX MATCH "[0-9.]+" base "${base}")
execute_process(COMMAND ${PYTHON} -c "import imgpipe_version; print(imgpipe_version.dynamic_metadata('version'))"
                WORKING_DIRECTORY ${WORK}/archive/app/python OUTPUT_VARIABLE version OUTPUT_STRIP_TRAILING_WHITESPACE
                COMMAND_ERROR_IS_FATAL ANY)
if(NOT version STREQUAL "${base}.dev0+g${commit}" AND NOT version STREQUAL "${base}")
  message(SEND_ERROR "Python: '${version}'")
endif()
# A tag names the release; a branch of that name does not.
file(WRITE ${WORK}/archive/app/archive_id.txt "commit ${commit}0123\ndate 2026-01-02\ntags HEAD -> main, tag: v9.8.7")
expect(9.8.7)
file(WRITE ${WORK}/archive/app/archive_id.txt "commit ${commit}0123\ndate 2026-01-02\ntags HEAD -> v9.8.7, v9.8.7")
expect(9.8.7.dev0+g${commit})
# A copy without git.
file(COPY_FILE ${SOURCE}/app/archive_id.txt ${WORK}/archive/app/archive_id.txt)
expect(9.8.7.dev0)
file(REMOVE ${WORK}/archive/app/archive_id.txt)
expect(9.8.7.dev0)
