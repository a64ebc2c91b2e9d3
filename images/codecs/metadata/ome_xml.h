// OME-XML (Open Microscopy Environment, OME-TIFF specification 6.0): what of it stays true of another file.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace imgpipe {

struct AdaptedOmeXml {
  std::string text;
  std::vector<std::string> lost;  // parts that were removed: "SignificantBits (sample values changed)"
};

// Removes UUIDs, file names and what refers to other files: TiffData, images that are stored there. Of an
// image whose planes stand in several files only those of this file stay, and its sizes become theirs.
// `file_name`: of the file that was read, without directories, by which its planes are found where the root
// has no UUID; may be empty. `revalued`: samples have other values now, so that SignificantBits goes too. The
// text is not looked at where it has none of these, and well-formed afterwards if it was so before. Throws
// Error(input) where it cannot be changed so that it is true; its text is short.
[[nodiscard]] AdaptedOmeXml adapt_ome_xml(std::string_view text, std::string_view file_name, bool revalued);

}  // namespace imgpipe
