// Output files as imgpipe needs them: written whole or not at all.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "images/files/output_sync.h"

namespace imgpipe {

// A file that is written in segments. At every moment its path holds the old file or the complete new one,
// after a power failure too: the segments go to a temporary file (images/files/temporary_file.h), which is
// synced and replaces the old file by rename(2) when it is complete. It keeps the permissions of the old
// file.
//
// A symbolic link is followed, so that the link stays; one that another user may have planted in a sticky
// directory is refused. A device or FIFO is written directly and not synced, and so are "-", which is
// standard output, and paths that lead to a descriptor of this process (/dev/stdout, /dev/fd/N). All
// functions throw Error(output) with the system's reason.
class OutputFile {
 public:
  // Opens nothing before the first append(). `sync` (images/files/output_sync.h) must outlive the file.
  explicit OutputFile(std::string path, OutputSync* sync = nullptr);
  ~OutputFile();  // without put_in_place(): what was written to a temporary file is gone
  OutputFile(const OutputFile&) = delete;
  OutputFile& operator=(const OutputFile&) = delete;

  // Whether nothing of it is seen before put_in_place(). False for what is written straight.
  [[nodiscard]] bool is_replaced();
  // Whether the path named something when is_replaced(), exists() or append() was first called.
  [[nodiscard]] bool exists();
  void append(std::span<const std::byte> bytes);
  // Several parts, one after the other; small ones together in one write(2).
  void append(std::span<const std::vector<std::byte>> parts);
  // Writes over bytes that were appended, `at` bytes behind the beginning. Of a file that is replaced only,
  // else Error(usage).
  void overwrite(std::uint64_t at, std::span<const std::byte> bytes);
  // The end of the file; once.
  void put_in_place();

 private:
  struct State;
  void open();
  std::unique_ptr<State> state_;
};

// Writes a whole file, as OutputFile does.
void write_file(const std::string& path, std::span<const std::byte> bytes, OutputSync* sync = nullptr);
// The same for a file that is in parts, one after the other.
void write_file(const std::string& path, std::span<const std::vector<std::byte>> parts,
                OutputSync* sync = nullptr);

// Throws what write_file() would before its first byte, for work that is long: a folder that is missing or
// read-only. Makes and removes a temporary file; devices, FIFOs and standard output are not opened.
void check_writable(const std::string& path);

// Creates a directory and its missing parents. Throws Error(output).
void make_folder(const std::string& path, OutputSync* sync = nullptr);

}  // namespace imgpipe
