// Reads whole input files. Output files: images/files/output_file.h.
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <span>
#include <string>
#include <vector>

namespace imgpipe {

// The path of standard input or standard output.
inline constexpr const char* kStandardStream = "-";

// Returns how long a file may be, given its beginning. Called with the first 64 KiB, then whenever the data
// has doubled or reached the previous limit; never for a shorter file. Throws Error(input) to stop reading.
using FileLengthLimiter = std::function<std::int64_t(std::span<const std::byte> beginning)>;

// Fills the front of `buffer` with the next bytes of a file and returns their number: 0 at the end. Blocks
// until a writer delivers. Throws Error(input).
using ByteSource = std::function<std::size_t(std::span<std::byte> buffer)>;

// Returns the first bytes of standard input, as many as it has, up to `bytes`. The next read returns them
// again.
[[nodiscard]] std::vector<std::byte> peek_standard_input(std::size_t bytes);
// Returns false if a read of standard input would wait longer than `patience`.
[[nodiscard]] bool wait_for_standard_input(std::chrono::milliseconds patience);

// Opens a file like read_file(), with the same errors.
[[nodiscard]] ByteSource open_source(const std::string& path);

// Reads the rest of a source from which the caller has taken `beginning`; otherwise like read_file().
[[nodiscard]] std::vector<std::byte> read_to_end(const ByteSource& source, std::vector<std::byte> beginning,
                                                 std::int64_t max_bytes, const FileLengthLimiter& judge = {});

// Reads a regular file, a FIFO or standard input ("-") to its end. Throws Error(input) if it is missing,
// unreadable, a directory, a device, or longer than `max_bytes` or the limit that `judge` returns;
// Error(memory) if it does not fit in memory. Never reads further than that limit, even from an endless
// stream.
[[nodiscard]] std::vector<std::byte> read_file(const std::string& path, std::int64_t max_bytes,
                                               const FileLengthLimiter& judge = {});

// The same for regular files only, so that a batch never waits for a writer.
[[nodiscard]] std::vector<std::byte> read_regular_file(const std::string& path, std::int64_t max_bytes,
                                                       const FileLengthLimiter& judge = {});

// Returns the first `bytes` bytes of a regular file, or as many as it has; empty if it cannot be read.
[[nodiscard]] std::vector<std::byte> read_head(const std::string& path, std::size_t bytes);

// Returns the size of a regular file; 0 for everything else, including missing files.
[[nodiscard]] std::int64_t file_size_bytes(const std::string& path);

// Returns whether both paths name the same existing file, through any links.
[[nodiscard]] bool same_file(const std::string& a, const std::string& b);

}  // namespace imgpipe
