// Input files as imgpipe needs them: read whole. Output files: images/files/output_file.h.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <span>
#include <string>
#include <vector>

namespace imgpipe {

// The path that means standard input or standard output.
inline constexpr const char* kStandardStream = "-";

// Says by a file's beginning how long it may be. It is asked with the first 64 KiB, then each time that there
// is twice as much or all that it allowed; a file that ends before is not judged. Throws Error(input) for
// what is not worth reading on.
using LengthJudge = std::function<std::int64_t(std::span<const std::byte> beginning)>;

// Fills the front of `room` with the next bytes of a file, and returns how many: 0 at its end. Waits for a
// writer. Throws Error(input).
using ByteSource = std::function<std::size_t(std::span<std::byte> room)>;

// Of a file as read_file() takes it. Throws as that does.
[[nodiscard]] ByteSource open_source(const std::string& path);

// As read_file(), of a source of which `beginning` was taken before.
[[nodiscard]] std::vector<std::byte> read_to_end(const ByteSource& source, std::vector<std::byte> beginning,
                                                 std::int64_t max_bytes, const LengthJudge& judge = {});

// Reads a regular file, a FIFO or ("-") standard input to its end. The file is opened read-only.
// Throws Error(input) when it is missing, unreadable, a directory, a device, longer than `max_bytes` or than
// the judge lets it be, Error(memory) when it does not fit. Of an endless stream no more is read than that.
[[nodiscard]] std::vector<std::byte> read_file(const std::string& path, std::int64_t max_bytes,
                                               const LengthJudge& judge = {});

// The same for a batch, which must never wait for a writer that may not come: nothing but a regular file.
// Throws Error(input) for a FIFO, a socket and everything else as well.
[[nodiscard]] std::vector<std::byte> read_regular_file(const std::string& path, std::int64_t max_bytes,
                                                       const LengthJudge& judge = {});

// The first `bytes` bytes of a regular file, or what it has. Empty where it cannot be read.
[[nodiscard]] std::vector<std::byte> read_head(const std::string& path, std::size_t bytes);

// The size of a regular file; 0 for everything else, and for what is not there.
[[nodiscard]] std::int64_t file_size_bytes(const std::string& path);

// True when both paths name one file, through whatever links. A path that names nothing is no file's twin.
[[nodiscard]] bool same_file(const std::string& a, const std::string& b);

}  // namespace imgpipe
