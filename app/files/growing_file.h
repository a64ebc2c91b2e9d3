// Text files that grow by whole lines while the work goes on, also from several processes at a time.
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

// What is known stays if the process is killed. Every write(2) ends with a line and goes to the end of the
// file (O_APPEND), whoever else has written there. A lock (flock) is held for its time: over NFS, where the
// end of the file is only looked up, else two would write to one place; and what a full disk or a kill leaves
// of a line can be taken back, before another line is written behind it. Where the file system has no locks
// it goes without. All throw Error(output) with the path.
class GrowingFile {
 public:
  // Says by a file's first bytes (at most kBeginningBytes) whether it is kept and added to.
  using Keeps = std::function<bool(std::string_view beginning)>;
  static constexpr std::size_t kBeginningBytes = std::size_t{1} << 16;

  // Creates the file. An existing one is emptied unless `keeps` says otherwise. `sync`
  // (images/files/output_sync.h) must outlive it.
  explicit GrowingFile(std::string path, const Keeps& keeps = nullptr, OutputSync* sync = nullptr);

  // Adds whole lines; they may wait in a buffer until flush() or close(), without which they are lost.
  void add(std::string_view lines);
  // Writes what waits, but does not wait for another process that is just writing unless there is much of it.
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
  std::optional<FileDescriptor> reader_;  // of the same file, where it is a regular one that can be read
  off_t known_end_ = -1;                  // of a file that ends with a line
};

}  // namespace imgpipe
