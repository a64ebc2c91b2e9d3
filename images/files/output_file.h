// Output files as imgpipe needs them: written whole or not at all.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <vector>

namespace imgpipe {

// A file that is written piece by piece, so that at every moment its path holds the old file or the whole new
// one: the pieces go to a temporary file (images/files/temporary_file.h), which takes the place of the old
// one by rename(2) when it is complete (and keeps its permissions). A symbolic link is followed, so that the
// link stays. A device or FIFO is written straight, "-" is standard output; what leads to a descriptor of
// this process (/dev/stdout, /dev/fd/N) is written to that descriptor. There is no fsync: a process that dies
// leaves no half file; after a power failure the file system decides. All throw Error(output) with the
// system's reason.
class OutputFile {
 public:
  // Nothing is opened or made before the first append().
  explicit OutputFile(std::string path);
  ~OutputFile();  // without put_in_place(): what was written to a temporary file is gone
  OutputFile(const OutputFile&) = delete;
  OutputFile& operator=(const OutputFile&) = delete;

  // Whether nothing of it is seen before put_in_place(). False for what is written straight.
  [[nodiscard]] bool is_replaced();
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
void write_file(const std::string& path, std::span<const std::byte> bytes);
// The same for a file that is in parts, one after the other.
void write_file(const std::string& path, std::span<const std::vector<std::byte>> parts);

// Throws what write_file() would before its first byte, for work that is long: a folder that is missing or
// read-only. Makes and removes a temporary file; devices, FIFOs and standard output are not opened.
void check_writable(const std::string& path);

// Makes a folder and those above it, where they are not there yet. Throws Error(output).
void make_folder(const std::string& path);

}  // namespace imgpipe
