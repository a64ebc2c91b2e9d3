// Adapts OME-XML (Open Microscopy Environment, OME-TIFF specification 6.0) to another file.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace imgpipe {

struct AdaptedOmeXml {
  std::string text;
  std::vector<std::string> lost;  // removed parts: "OME-XML's SignificantBits (sample values changed)"
};

// Removes UUIDs, file names and references to other files: TiffData, and images stored there. Reduces an
// image whose planes are spread over several files to the planes of this file. `file_name`: the input's name
// without directories, which identifies its planes if the root has no UUID; may be empty. `revalued`: sample
// values changed, so SignificantBits is removed. If the text has nothing to remove, returns it unchanged
// without parsing it; otherwise well-formed input stays well-formed. Throws Error(input) with a short reason
// if adapting fails.
[[nodiscard]] AdaptedOmeXml adapt_ome_xml(std::string_view text, std::string_view file_name, bool revalued);

}  // namespace imgpipe
