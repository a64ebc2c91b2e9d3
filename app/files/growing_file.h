// Text files that grow by complete lines during the work, also from several processes at once.
#pragma once

#include <cstddef>
#include <functional>
#include <optional>
#include <string>
#include <string_view>

#include <sys/types.h>

#include "images/files/file_descriptor.h"
#include "images/files/output_sync.h"

namespace imgpipe {

// Every write(2) appends complete lines (O_APPEND), so they survive if the process is killed.
// A lock (flock) is held during the write. Otherwise two writers could use the same offset over NFS, and a
// line cut off by a full disk or a kill could not be removed before the next one. File systems without locks
// are used without one. All functions throw Error(output) with the path.
class GrowingFile {
 public:
  // Decides from the first bytes of a file (at most kBeginningBytes) whether to keep and extend it.
  using Keeps = std::function<bool(std::string_view beginning)>;
  static constexpr std::size_t kBeginningBytes = std::size_t{1} << 16;

  // Creates the file, or truncates it unless `keeps` returns true. `sync` must outlive this object.
  explicit GrowingFile(std::string path, const Keeps& keeps = nullptr, OutputSync* sync = nullptr);

  // Adds complete lines. They may stay in a buffer until flush() or close(), and are lost if neither is
  // called.
  void add(std::string_view lines);
  // Writes the buffered lines. Waits for another process that is writing only if the buffer is large.
  void flush();
  // Syncs the file. Also throws if another process removed it.
  void close();

 private:
  void write_waiting(bool patient);
  void begin(const Keeps& keeps);
  [[nodiscard]] off_t size() const;
  [[nodiscard]] off_t end_of_last_line(off_t size) const;
  [[noreturn]] void refuse(int error) const;

  std::string path_;
  std::string waiting_;
  OutputSync* sync_;
  std::optional<FileDescriptor> file_;
  std::optional<FileDescriptor> reader_;  // of the same file, if it is regular and readable
  off_t known_end_ = -1;  // size of the file if it is known to end with a complete line; otherwise -1
};

}  // namespace imgpipe
