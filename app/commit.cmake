# Writes OUTPUT with the commit of SOURCE_DIR and its date, but only when that changed.
execute_process(COMMAND git -C ${SOURCE_DIR} describe --always --dirty --abbrev=12 --exclude=*
                OUTPUT_VARIABLE commit ERROR_QUIET OUTPUT_STRIP_TRAILING_WHITESPACE RESULT_VARIABLE failed)
if(failed)
  set(commit "unknown")
endif()
execute_process(COMMAND git -C ${SOURCE_DIR} log -1 --format=%cs
                OUTPUT_VARIABLE date ERROR_QUIET OUTPUT_STRIP_TRAILING_WHITESPACE)
set(text "#pragma once\n#define IMGPIPE_COMMIT \"${commit}\"\n#define IMGPIPE_COMMIT_DATE \"${date}\"\n")
if(EXISTS ${OUTPUT})
  file(READ ${OUTPUT} old)
endif()
if(NOT "${text}" STREQUAL "${old}")
  file(WRITE ${OUTPUT} "${text}")
endif()
