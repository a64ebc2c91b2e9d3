// Describes how a Netpbm file is stored, from its magic number.
#include <string>

#include "images/codecs/codec_parts.h"
#include "images/codecs/file_details.h"
#include "images/codecs/sniff.h"

namespace imgpipe {

FileDetails describe_netpbm(Bytes file) {
  const int kind = static_cast<int>(big_endian(file, 1, 1)) - '0';
  FileDetails details{.compression = "none", .decoder = "imgpipe"};
  details.color = kind % 3 == 1 ? "bilevel" : kind % 3 == 2 ? "grey" : "RGB";
  details.channels = kind % 3 == 0 ? 3 : 1;
  details.layout = kind <= 3 ? "plain text" : "raw";
  details.variant = "P" + std::to_string(kind);
  return details;
}

}  // namespace imgpipe
