// Hashes of a file that a job reads or writes, if ImageSettings::hash is set.
#pragma once

#include <string>

namespace imgpipe {

// SHA-256 as hexadecimal digits; empty: not known.
struct FileHashes {
  std::string bytes;   // of the file
  std::string pixels;  // of the rows as decoded, or as the file stores them (images/pixel_digest.h)
};

}  // namespace imgpipe
