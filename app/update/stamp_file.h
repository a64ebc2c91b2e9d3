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

// Gives all stamps of a file to `take`, the older of an output before the newer; none where there is none.
// What is no stamp (a line that a killed run has left half written, or anything else) is passed over. Throws
// Error(output) for a file that is there and cannot be read.
void read_stamps(const std::string& path, const std::function<void(const Stamp& stamp)>& take);

// Where most of many lines are of no use any more, because a newer one is of the same output or because the
// output is gone, the others are moved to the front, under the lock that all who add to the file take. A
// process that is killed at that loses one line at most; where the file system has no locks all is left as it
// is. `others_are_at_work`: outputs that are not there may just be made, and their lines stay.
void compact_stamps(const std::string& path, bool others_are_at_work);

// To add stamp_line()s. Throws Error(output).
[[nodiscard]] GrowingFile open_stamps(const std::string& path, OutputSync* sync = nullptr);

}  // namespace imgpipe
