# Copies `headers` from the directory `source` to `target`, with includes of the form <imgpipe/...>. Those of `public`
# also get a short name there, <imgpipe/NAME>.
foreach(header IN LISTS headers)
  file(READ ${source}/${header} text)
  string(REGEX REPLACE "#include \"([^\"]+)\"" "#include <imgpipe/\\1>" text "${text}")
  file(WRITE "${target}/${header}" "${text}")
  list(APPEND CMAKE_INSTALL_MANIFEST_FILES "${target}/${header}")
endforeach()
foreach(header IN LISTS public)
  get_filename_component(name ${header} NAME)
  file(WRITE "${target}/${name}" "#pragma once\n#include <imgpipe/${header}>\n")
  list(APPEND CMAKE_INSTALL_MANIFEST_FILES "${target}/${name}")
endforeach()
