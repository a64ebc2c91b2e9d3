#include "app/python/core/sources.h"

#include <cstdint>
#include <utility>

#include <nanobind/stl/string.h>

#include "app/python/core/errors.h"
#include "app/python/core/shard_samples.h"
#include "images/files/file.h"
#include "images/formats/pending_input.h"
#include "pipeline/image_io.h"

namespace imgpipe::python {
namespace {

std::string class_name(nb::handle object) {
  return nb::cast<std::string>(object.type().attr("__name__"));
}

nb::builtin_exception wrong(const std::string& argument, const std::string& got) {
  return nb::type_error(
      (argument + ": expected a path, the bytes of a file or a binary file object, got " + got).c_str());
}

// Returns the bytes of a path in the encoding of file names. Raises ValueError for a null character.
std::string path_bytes(nb::handle object, const std::string& argument) {
  nb::object path = nb::steal(PyOS_FSPath(object.ptr()));
  if (path.is_valid() && PyUnicode_Check(path.ptr())) path = nb::steal(PyUnicode_EncodeFSDefault(path.ptr()));
  if (!path.is_valid()) throw nb::python_error();
  const auto bytes = nb::borrow<nb::bytes>(path);
  std::string text(bytes.c_str(), bytes.size());
  if (text.find('\0') == text.npos) return text;
  PyErr_SetString(PyExc_ValueError, (argument + ": embedded null character").c_str());
  throw nb::python_error();
}

std::span<const std::byte> span_of(const void* data, std::size_t size) {
  return {static_cast<const std::byte*>(data), size};
}

}  // namespace

std::string path_of(const nb::bytes& path, const std::string& argument) {
  std::string text(path.c_str(), path.size());
  check_no_null(text, argument);
  return text;
}

void check_no_null(const std::string& text, const std::string& argument) {
  if (text.find('\0') != text.npos) throw nb::value_error((argument + ": embedded null character").c_str());
}

std::string file_path(std::string path) {
  return path == kStandardStream ? "./" + path : path;
}

void Source::Release::operator()(Py_buffer* buffer) const noexcept {
  PyBuffer_Release(buffer);
  delete buffer;
}

Source Source::from(nb::handle object, const std::string& argument) {
  Source source;
  if (nb::isinstance<ShardImage>(object)) {
    source.take_shard_image(object);
  } else if (PyUnicode_Check(object.ptr()) || nb::hasattr(object, "__fspath__")) {
    source.name = path_bytes(object, argument);
    source.path = file_path(source.name);
  } else if (PyObject_CheckBuffer(object.ptr())) {
    source.take_buffer(object, argument);
  } else if (nb::hasattr(object, "read")) {
    source.take_file_object(object, argument);
  } else if (!source.take_array(object)) {
    throw wrong(argument, class_name(object));
  }
  return source;
}

void Source::take_shard_image(nb::handle object) {
  const auto& image = nb::cast<const ShardImage&>(object);
  if (image.error) raise(image.error);
  name = image.name;
  owner_ = nb::borrow(object);
  file_ = InputFile::borrowed(image.data);
}

void Source::take_buffer(nb::handle object, const std::string& argument) {
  auto buffer = std::make_unique<Py_buffer>();
  if (PyObject_GetBuffer(object.ptr(), buffer.get(), PyBUF_FULL_RO) != 0) throw nb::python_error();
  buffer_.reset(buffer.release());
  if (buffer_->itemsize != 1 || buffer_->ndim > 1)
    throw wrong(argument, "a " + class_name(object) + " of " + std::to_string(buffer_->ndim) +
                              (buffer_->ndim == 1 ? " dimension, " : " dimensions, ") +
                              std::to_string(8 * buffer_->itemsize) + " bits per element");
  if (PyBuffer_IsContiguous(buffer_.get(), 'C') == 0)
    throw wrong(argument, "a " + class_name(object) + " with gaps; copy it with bytes()");
  file_ = InputFile::borrowed(span_of(buffer_->buf, static_cast<std::size_t>(buffer_->len)));
}

void Source::take_file_object(nb::handle object, const std::string& argument) {
  const std::string remedy = "a file object in text mode; open it with mode \"rb\"";
  nb::object content;
  try {
    content = object.attr("read")();
  } catch (const nb::python_error& error) {
    if (error.matches(PyExc_UnicodeDecodeError)) throw wrong(argument, remedy);
    throw;
  }
  if (PyUnicode_Check(content.ptr())) throw wrong(argument, remedy);
  if (!PyObject_CheckBuffer(content.ptr()))
    throw wrong(argument, "a " + class_name(object) + " whose read() returned " + class_name(content));
  take_buffer(content, argument);
  if (!nb::hasattr(object, "name")) return;
  if (const nb::object given = object.attr("name"); PyUnicode_Check(given.ptr()))
    name = path_bytes(given, argument);
}

bool Source::take_array(nb::handle object) {
  if (!nb::hasattr(object, "__dlpack__") || !nb::try_cast(object, array_)) return false;
  if (array_.ndim() != 1 || array_.dtype() != nb::dtype<std::uint8_t>() ||
      (array_.shape(0) > 1 && array_.stride(0) != 1))
    return false;
  file_ = InputFile::borrowed(span_of(array_.data(), array_.shape(0)));
  return true;
}

std::span<const std::byte> Source::bytes() const {
  if (!file_ || !file_->is_whole()) {
    const DecodeOptions limits = usual_decoding();
    file_ = InputFile(read_file(path, max_file_bytes(limits), [&](std::span<const std::byte> beginning) {
      return longest_file(beginning, limits);
    }));
  }
  return file_->bytes();
}

std::unique_ptr<Reader> Source::open(const DecodeOptions& options) const {
  if (!file_) file_ = open_input(path, options, InputKind::any);
  return open_reader(*file_, options);
}

void Source::close() const noexcept {
  if (!is_in_memory()) file_.reset();
}

}  // namespace imgpipe::python
