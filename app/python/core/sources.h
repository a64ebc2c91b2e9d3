// Image files as Python callers pass them: paths, bytes in memory, file objects.
#pragma once

#include <cstddef>
#include <memory>
#include <optional>
#include <span>
#include <string>

#include <nanobind/nanobind.h>
#include <nanobind/ndarray.h>

#include "images/codecs/codec.h"
#include "images/files/input_file.h"

namespace imgpipe::python {

namespace nb = nanobind;

// Returns a path that Python passed as bytes. Throws nb::value_error, in a line that begins with `argument`,
// for a null character, which would end the path early.
[[nodiscard]] std::string path_of(const nb::bytes& path, const std::string& argument = "path");
void check_no_null(const std::string& text, const std::string& argument);

// Returns a path to a file of any name for functions that take "-" for a standard stream.
[[nodiscard]] std::string file_path(std::string path);

// Keeps the caller's object alive, and a buffer locked, without a copy. Made and destroyed with the GIL; the
// const functions also work without it, by one thread at a time.
class Source {
 public:
  // Accepts a path (str, os.PathLike), bytes in a buffer (bytes, bytearray, memoryview, mmap, a 1-D uint8
  // array, a tensor with DLPack) or a binary file object, which it reads to its end. Throws nb::type_error in
  // one line that begins with `argument`, and the exceptions of the object's methods.
  [[nodiscard]] static Source from(nb::handle object, const std::string& argument = "source");

  Source(Source&&) noexcept = default;
  Source& operator=(Source&&) noexcept = default;
  Source(const Source&) = delete;
  Source& operator=(const Source&) = delete;
  ~Source() = default;

  // The name in a DecodeError: the path as given, or the name of a file object. Empty: bytes in memory.
  std::string name;
  // The file to read; empty: the bytes are in memory.
  std::string path;

  [[nodiscard]] bool is_in_memory() const { return path.empty(); }

  // Returns the whole file. The first call reads a path's file, within the limits of the program. Throws
  // Error(input) and Error(memory), without the name.
  [[nodiscard]] std::span<const std::byte> bytes() const;
  // Opens the reader, which this must outlive, as the program does: a large raw Netpbm file stays on disk.
  // Throws the errors of bytes() and open_reader().
  [[nodiscard]] std::unique_ptr<Reader> open(const DecodeOptions& options) const;
  // Whether the readers of open() read from the disk.
  [[nodiscard]] bool is_on_disk() const { return file_ && !file_->is_whole(); }
  // Frees a path's file, which the readers of open() need.
  void close() const noexcept;

 private:
  struct Release {
    void operator()(Py_buffer* buffer) const noexcept;
  };
  using Array = nb::ndarray<nb::ro, nb::device::cpu>;

  Source() = default;
  void take_shard_image(nb::handle object);
  void take_buffer(nb::handle object, const std::string& argument);
  void take_file_object(nb::handle object, const std::string& argument);
  bool take_array(nb::handle object);

  nb::object owner_;  // of the bytes
  std::unique_ptr<Py_buffer, Release> buffer_;
  Array array_;
  mutable std::optional<InputFile> file_;  // of the path, once read; or the buffer's bytes
};

}  // namespace imgpipe::python
