# cmake -DSOURCE_DIR=... -DOUTPUT=... -DFILES=a,b,c -P embed_sources.cmake
# Writes a C++ file with the text of these files of SOURCE_DIR, for the code in imgpipe bench --html.
string(REPLACE "," ";" files "${FILES}")
set(table "")
foreach(file IN LISTS files)
  file(READ "${SOURCE_DIR}/${file}" text)
  string(APPEND table "    {\"${file}\", R\"~source~(${text})~source~\"sv},\n")
endforeach()
file(WRITE "${OUTPUT}.new" "// Made by lab/bench/embed_sources.cmake.
#include \"lab/bench/lab_sources.h\"

#include <array>

namespace imgpipe {
using std::string_view_literals::operator\"\"sv;

std::span<const SourceFile> lab_sources() {
  static constexpr auto kFiles = std::to_array<SourceFile>({
${table}  });
  return kFiles;
}

}  // namespace imgpipe
")
file(COPY_FILE "${OUTPUT}.new" "${OUTPUT}" ONLY_IF_DIFFERENT)
file(REMOVE "${OUTPUT}.new")
