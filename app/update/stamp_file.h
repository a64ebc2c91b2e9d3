// The stamp file, to which several processes append lines during a batch. It is only a cache: outputs whose
// stamps are lost are made again.
#pragma once

#include <functional>
#include <string>
#include <string_view>

#include "app/files/growing_file.h"
#include "app/files/replaceable.h"
#include "app/update/stamp.h"

namespace imgpipe {

inline constexpr std::string_view kStampFile = ".imgpipe-update.ndjson";
[[nodiscard]] std::string stamp_file_in(const std::string& directory);

// Throws Error(usage) if another file, which may not be replaced, has its name; Error(output) if another user
// may have planted it.
void check_stamp_file(const std::string& path, Replace replace);

// Passes all stamps of a file to `take`, older stamps of an output first. A missing file has none. Lines that
// are not stamps, such as an incomplete line of a killed run, are skipped. Throws Error(output) if an
// existing file cannot be read.
void read_stamps(const std::string& path, const std::function<void(const Stamp& stamp)>& take);

// Removes obsolete lines if there are many: superseded ones and those of missing outputs. Holds the writers'
// lock; a process killed meanwhile loses at most one line. Does nothing on file systems without locks.
// `has_other_writers` keeps lines of missing outputs, which may be in progress.
void compact_stamps(const std::string& path, bool has_other_writers);

// Opens the file to append results of stamp_line(). Throws Error(output).
[[nodiscard]] GrowingFile open_stamps(const std::string& path, OutputSync* sync = nullptr);

}  // namespace imgpipe
