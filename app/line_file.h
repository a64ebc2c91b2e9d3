// Text files that grow while the work goes on, so that what is known stays if the process is killed.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>

namespace imgpipe {

class LineFile {
 public:
  // Makes the file or empties it but for its first `kept_bytes`. Throws Error(output), as all here, with the
  // path.
  explicit LineFile(std::string path, std::size_t kept_bytes = 0);
  ~LineFile();
  LineFile(const LineFile&) = delete;
  LineFile& operator=(const LineFile&) = delete;

  // Adds text; some of it may wait in a buffer until flush() or close().
  void add(std::string_view text);
  void flush();
  void close();

 private:
  std::string path_;
  std::string waiting_;
  int fd_ = -1;
};

}  // namespace imgpipe
