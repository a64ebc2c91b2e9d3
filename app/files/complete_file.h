// Text files that grow while the work goes on, and can be read as a whole at every moment.
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include <sys/types.h>

#include "images/files/file_descriptor.h"
#include "images/files/output_sync.h"

namespace imgpipe {

// A beginning, what was added, and an end (the "]" of a JSON array), which every write(2) writes anew behind
// what it adds. So a process may end at any moment, by any signal, and leaves a file that is whole; only
// SIGKILL in the middle of a write that crosses a page of the disk's cache can tear it. A device or FIFO is
// written straight on, its end by close(). All throw Error(output) with the path.
class CompleteFile {
 public:
  // Puts a file of the beginning and the end into its place (images/files/output_file.h).
  // `sync` (images/files/output_sync.h) must outlive it.
  CompleteFile(std::string path, std::string_view beginning, std::string end, OutputSync* sync = nullptr);

  void add(std::string_view text);  // waits for flush() or close(), without which it is lost
  void flush();
  // Syncs the file. Also throws if another process removed it.
  void close();

 private:
  [[noreturn]] void refuse(int error) const;

  std::string path_;
  std::string end_;
  std::string waiting_;
  OutputSync* sync_;
  std::optional<FileDescriptor> file_;
  bool is_replaced_ = false;  // else it is written straight on
  off_t at_ = 0;              // where the end stands
};

}  // namespace imgpipe
