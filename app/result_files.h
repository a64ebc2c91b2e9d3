// What a run reads and what it will write, held against each other before any work: no result may take the
// place of an input or of another result, by whatever name or link.
#pragma once

#include <map>
#include <string>

#include "images/file_identity.h"

namespace imgpipe {

class ResultFiles {
 public:
  // `path` is "-" for stdin.
  void add_input(const std::string& path);
  // `role` is what the user wrote it behind: "OUTPUT", "--report". `path` is "-" for stdout; an empty one is
  // none. Throws Error(usage) when it is an input, or the file of a result that was added before.
  void add(const std::string& role, const std::string& path);

 private:
  struct Known {
    std::string role;  // empty: an input
    std::string path;
  };
  std::map<FileIdentity, Known> known_;
};

// True when what is written to `output` ("-" is stdout) and what is printed go to one place.
[[nodiscard]] bool goes_to_stdout(const std::string& output);

// For `output` that is "-" or a descriptor: throws Error(usage) when the image would be sent to a terminal,
// Error(output) for a descriptor that takes nothing. A closed one must be found early, before some file of
// ours has its number.
void check_stream(const std::string& output);

}  // namespace imgpipe
