// Reads the members of a tar archive in order, as a stream: a file, a pipe, any source of bytes.
//
// libarchive decides which archives are valid: old tar, ustar, pax and GNU tar, each also compressed by gzip,
// bzip2, xz or zstd if libarchive was built with that library. Holds one block of the archive, and no data of
// members.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "images/files/file.h"

struct archive_entry;

namespace imgpipe {

struct ArchiveMember {
  // Bytes as stored. May be absolute, contain "..", control characters or invalid UTF-8, be empty, or repeat
  // an earlier name: never use it as a path.
  std::string name;
  // True for a regular file. Directories, links and devices have no data.
  bool is_file = true;
  std::string hard_link;        // of a hard link: the name of an earlier member
  std::int64_t size_bytes = 0;  // of the data, as the header claims
  bool is_sparse = false;       // its data is longer than the archive stores
  // The offset of its data in the source; nullopt in a compressed archive.
  std::optional<std::int64_t> data_offset;
  // The whole header, for an ArchiveWriter.
  std::shared_ptr<archive_entry> header;
};

// Skips up to `bytes` bytes of a ByteSource without reading them, and returns their number.
using ByteSkip = std::function<std::int64_t(std::int64_t bytes)>;

class ArchiveReader {
 public:
  // Reads nothing yet. open_source() opens a path, "-" and /dev/fd/N. `skip`: for a source that can skip
  // data; truncated data is then an error only if it is read.
  explicit ArchiveReader(ByteSource source, ByteSkip skip = {});
  ~ArchiveReader();
  ArchiveReader(const ArchiveReader&) = delete;
  ArchiveReader& operator=(const ArchiveReader&) = delete;

  // Returns the next member, after skipping the unread data of the current one; nullopt at the end. Throws
  // Error(input) if the bytes are not an archive, or if it is damaged or truncated, and the source's errors;
  // no further member can be read after that.
  [[nodiscard]] std::optional<ArchiveMember> next();
  // Reads the current member's next bytes to the front of `buffer`, and returns their number: 0 at the end.
  // Throws like next().
  [[nodiscard]] std::size_t read(std::span<std::byte> buffer);
  // Returns the rest of the current member's data. Throws like next(); Error(input) if the data is longer
  // than `max_bytes` or the limit that `judge` returns, and Error(memory); next() may continue after these.
  [[nodiscard]] std::vector<std::byte> read_all(std::int64_t max_bytes, const FileLengthLimiter& judge = {});

  // Returns whether an error ended the archive; next() must not be called again then.
  [[nodiscard]] bool is_broken() const noexcept;
  // Reads the source to its end, so that the process that writes it never sees a closed pipe.
  void drain();

 private:
  struct State;
  std::unique_ptr<State> state_;
};

// Returns whether a file that begins with these kArchiveHeadBytes bytes may be an archive that ArchiveReader
// reads.
inline constexpr std::size_t kArchiveHeadBytes = 512;
[[nodiscard]] bool is_archive(std::span<const std::byte> beginning);

// Returns the ending of the name of an archive that ArchiveReader reads, in the case of the name: ".tar",
// ".tar.gz", ".TGZ"; empty for all other names.
[[nodiscard]] std::string_view archive_ending(std::string_view name);

// "libarchive 3.6.2", or "libarchive, not installed".
[[nodiscard]] std::string archive_version();

}  // namespace imgpipe
