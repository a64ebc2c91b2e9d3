// Files as imgpipe needs them: read whole, written whole or not at all.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <span>
#include <string>
#include <unordered_set>
#include <vector>

namespace imgpipe {

// The path that means standard input or standard output.
inline constexpr const char* kStandardStream = "-";

// Says by a file's beginning how long it may be. It is asked with the first 64 KiB, then each time that there
// is twice as much or all that it allowed; a file that ends before is not judged. Throws Error(input) for
// what is not worth reading on.
using LengthJudge = std::function<std::int64_t(std::span<const std::byte> beginning)>;

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

// Writes `bytes` to `path` so that at every moment the path holds the old file or the whole new one: they go
// to a temporary file ".NAME.imgpipe-XXXXXXXX" in the same folder, which takes the place of the old one
// by rename(2) when it is complete (and keeps its permissions). A symbolic link is followed, so that the
// link stays. A device or FIFO is written straight, "-" is standard output; what leads to a descriptor of
// this process (/dev/stdout, /dev/fd/N) is written to that descriptor. There is no fsync: a process that dies
// leaves no half file; after a power failure the file system decides. Throws Error(output) with the system's
// reason; the temporary file is then gone.
void write_file(const std::string& path, std::span<const std::byte> bytes);
// The same for a file that is in parts, one after the other.
void write_file(const std::string& path, std::span<const std::vector<std::byte>> parts);

// Throws what write_file() would before its first byte, for work that is long: a folder that is missing or
// read-only. Makes and removes a temporary file; devices, FIFOs and standard output are not opened.
void check_writable(const std::string& path);

// Makes a folder and those above it, where they are not there yet. Throws Error(output).
void make_folder(const std::string& path);

// Unlinks the temporary files that are being written. Async-signal-safe: call it from a signal handler
// that ends the process.
void remove_temporary_files() noexcept;

// Unlinks the temporary files that are being written; a thread that would make another one then waits for
// ever. For the last act of a process whose other threads are still at work, before it ends by _exit.
void end_all_writing() noexcept;

// Unlinks the temporary files that killed processes have left behind in `folder` for the targets `names`
// (file names without a folder). A writer holds a lock (flock) on its temporary file while it lives, so that
// those of other processes at work stay. Returns how many were unlinked; what cannot be is left.
std::size_t remove_stale_temporary_files(const std::string& folder,
                                         const std::unordered_set<std::string>& names);

}  // namespace imgpipe
