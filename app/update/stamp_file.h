// The file of stamps: lines that are added while a batch goes on, by several processes at a time. It is a
// memory and no more: what is lost of it is made once more.
#pragma once

#include <functional>
#include <string>
#include <string_view>

#include "app/files/growing_file.h"
#include "app/files/replaceable.h"
#include "app/update/stamp.h"

namespace imgpipe {

inline constexpr std::string_view kStampFile = ".imgpipe-update.ndjson";
[[nodiscard]] std::string stamp_file_in(const std::string& folder);

// Throws Error(usage) where something else is in its place, which may not be replaced.
void check_stamp_file(const std::string& path, Replace replace);

struct StampReading {
  // Asked with each stamp, the older of an output before the newer; says whether it is of this run.
  std::function<bool(const Stamp& stamp)> take;
  // What is not of this run may be of one that goes on beside it: it is kept, though its output be gone.
  bool others_are_at_work = false;
};
// Reads all stamps of a file, none where there is none. What is no stamp (a line that a killed run has left
// half written, or anything else) is passed over. Where most of many lines are of no use any more, because a
// newer one is of the same output or because the output is gone, the others are moved to the front, under the
// lock that all who add to it take. A process that is killed at that loses one line at most; where the file
// system has no locks it is left. Throws Error(output) for a file that is there and cannot be read.
void read_stamps(const std::string& path, const StampReading& reading);

// To add stamp_line()s. Throws Error(output).
[[nodiscard]] GrowingFile open_stamps(const std::string& path);

}  // namespace imgpipe
