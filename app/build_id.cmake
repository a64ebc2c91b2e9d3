# The version strings of this build, derived from project()'s version and the commit.
#
#   program   0.2.0-dev+0123456789ab         0.2.0 at the tag v0.2.0, unless the tree is modified (".dirty")
#   Debian    0.2.0~git20261123.0123456789ab
#   Python    0.2.0.dev0+g0123456789ab       (PEP 440)
#
# The commit comes from git if SOURCE/.git exists, and from app/archive_id.txt in an archive. Other directories have
# none (git would find an enclosing repository of another project).
#
#   include(build_id.cmake) and imgpipe_build_id(SOURCE BASE)   sets imgpipe_version, _debian_version, _python_version,
#                                                               _commit and _commit_date
#   cmake -DSOURCE=... -DBASE=... [-DOUTPUT=FILE.cpp] -P build_id.cmake   writes FILE when that changes it; without
#                                                                         OUTPUT, prints the Python version
function(imgpipe_build_id source base)
  set(commit "")
  set(date "")
  set(tags "")
  if(EXISTS ${source}/.git)
    execute_process(COMMAND git -C ${source} describe --always --dirty --abbrev=12 --exclude=*
                    OUTPUT_VARIABLE commit ERROR_QUIET OUTPUT_STRIP_TRAILING_WHITESPACE)
    execute_process(COMMAND git -C ${source} log -1 --format=%cs
                    OUTPUT_VARIABLE date ERROR_QUIET OUTPUT_STRIP_TRAILING_WHITESPACE)
    execute_process(COMMAND git -C ${source} tag --points-at HEAD
                    OUTPUT_VARIABLE tags ERROR_QUIET OUTPUT_STRIP_TRAILING_WHITESPACE)
    string(REPLACE "-dirty" ".dirty" commit "${commit}")
  elseif(EXISTS ${source}/app/archive_id.txt)
    file(READ ${source}/app/archive_id.txt archive)
    if(archive MATCHES "commit ([0-9a-f]+)\ndate ([0-9-]+)\ntags ([^\n]*)")
      string(SUBSTRING ${CMAKE_MATCH_1} 0 12 commit)
      set(date ${CMAKE_MATCH_2})
      string(REGEX MATCHALL "tag: [^,]+" tags "${CMAKE_MATCH_3}")  # not branches
    endif()
  endif()
  string(REGEX REPLACE "tag: |[\n;]" " " tags "${tags}")
  string(REPLACE "." "\\." base_pattern ${base})
  if(" ${tags} " MATCHES " v${base_pattern} " AND NOT commit MATCHES "dirty")
    set(version ${base})
    set(debian ${base})
    set(python ${base})
  elseif(commit STREQUAL "")
    set(version ${base}-dev)
    set(debian ${base}~git)
    set(python ${base}.dev0)
  else()
    string(REPLACE "-" "" day "${date}")
    set(version ${base}-dev+${commit})
    set(debian ${base}~git${day}.${commit})
    set(python ${base}.dev0+g${commit})
  endif()
  if(commit STREQUAL "")
    set(commit unknown)
  endif()
  set(imgpipe_version ${version} PARENT_SCOPE)
  set(imgpipe_debian_version ${debian} PARENT_SCOPE)
  set(imgpipe_python_version ${python} PARENT_SCOPE)
  set(imgpipe_commit ${commit} PARENT_SCOPE)
  set(imgpipe_commit_date "${date}" PARENT_SCOPE)
endfunction()

if(CMAKE_SCRIPT_MODE_FILE STREQUAL CMAKE_CURRENT_LIST_FILE)
  imgpipe_build_id(${SOURCE} ${BASE})
  if(NOT OUTPUT)
    execute_process(COMMAND ${CMAKE_COMMAND} -E echo ${imgpipe_python_version})
    return()
  endif()
  file(CONFIGURE OUTPUT ${OUTPUT} @ONLY CONTENT [[
#include "app/build_id.h"

namespace imgpipe {
const char* const kVersion = "@imgpipe_version@";
const char* const kPythonVersion = "@imgpipe_python_version@";
const char* const kCommit = "@imgpipe_commit@";
const char* const kCommitDate = "@imgpipe_commit_date@";
}  // namespace imgpipe
]])
endif()
