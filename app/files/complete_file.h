// Text files that grow during the work and are complete at every moment.
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include <sys/types.h>

#include "images/files/file_descriptor.h"
#include "images/files/output_sync.h"

namespace imgpipe {

// Holds a beginning, the added text, and an end (the "]" of a JSON array) that every write(2) repeats after
// the added text. The process may therefore end at any moment, by any signal, and leave a complete file. Only
// SIGKILL during a write that crosses a page of the page cache can tear it. A device or FIFO is written
// sequentially, and close() writes the end. All functions throw Error(output) with the path.
class CompleteFile {
 public:
  // Creates the file with the beginning and the end. `sync` must outlive this object.
  CompleteFile(std::string path, std::string_view beginning, std::string end, OutputSync* sync = nullptr);

  void add(std::string_view text);  // buffered; lost without flush() or close()
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
  bool is_replaced_ = false;  // false: written sequentially
  off_t at_ = 0;              // offset of the end
};

}  // namespace imgpipe
