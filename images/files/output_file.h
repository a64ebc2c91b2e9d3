// Output files that are written completely or not at all.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "images/files/output_sync.h"

namespace imgpipe {

// A file written in segments. At every moment, also after a power failure, its path holds the old file or the
// complete new one: the segments go to a temporary file (images/files/temporary_file.h), which is synced and
// replaces the old file by rename(2) when complete. The new file keeps the old permissions.
//
// Follows symbolic links, so that the link stays; rejects a link that another user may have planted in a
// sticky directory. Writes devices, FIFOs, "-" (standard output) and descriptors of this process
// (/dev/stdout, /dev/fd/N) directly, without a sync. All functions throw Error(output).
class OutputFile {
 public:
  // Opens nothing before the first append(). `sync` must outlive the file.
  explicit OutputFile(std::string path, OutputSync* sync = nullptr);
  ~OutputFile();  // without put_in_place(), removes the temporary file
  OutputFile(const OutputFile&) = delete;
  OutputFile& operator=(const OutputFile&) = delete;

  // Whether the file appears only at put_in_place(); false if it is written directly.
  [[nodiscard]] bool is_replaced();
  // Whether the path existed at the first call of is_replaced(), exists() or append().
  [[nodiscard]] bool exists();
  void append(std::span<const std::byte> bytes);
  // Appends several parts in order; combines small ones into one write(2).
  void append(std::span<const std::vector<std::byte>> parts);
  // Access bytes at offset `at`, also beyond the appended ones, from any thread. Throw Error(usage) if the
  // file is not replaced or not open.
  void overwrite(std::uint64_t at, std::span<const std::byte> bytes);
  void read_back(std::uint64_t at, std::span<std::byte> bytes) const;
  void truncate(std::uint64_t size) const;
  // Hashes the bytes. Must be called before the first of them.
  void hash_bytes();
  // Completes the file. Call it once.
  void put_in_place();
  // After hash_bytes() and put_in_place(): the SHA-256 of the file, or of what was written to a device.
  [[nodiscard]] std::string sha256() const;

 private:
  struct State;
  void open();
  void check_replaced() const;
  void hash_again();
  std::unique_ptr<State> state_;
};

// Writes a whole file, as OutputFile does.
void write_file(const std::string& path, std::span<const std::byte> bytes, OutputSync* sync = nullptr);
// The same for a file in several parts.
void write_file(const std::string& path, std::span<const std::vector<std::byte>> parts,
                OutputSync* sync = nullptr);

// Throws the errors that write_file() would throw before its first byte, such as a missing or read-only
// directory. Creates and removes a temporary file; does not open devices, FIFOs or standard output.
void check_writable(const std::string& path);

// Creates a directory and its missing parents.
void make_directory(const std::string& path, OutputSync* sync = nullptr);

}  // namespace imgpipe
