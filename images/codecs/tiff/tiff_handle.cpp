#include "images/codecs/tiff/tiff_handle.h"

#include <algorithm>
#include <cstdarg>
#include <cstdio>
#include <cstring>
#include <new>
#include <utility>

#include "images/codecs/tiff/tiff_functions.h"
#include "images/text.h"

namespace imgpipe {

struct TiffHandle::Calls {
  static std::string text(const char* format, std::va_list arguments) {
    char buffer[200];
    std::vsnprintf(buffer, sizeof buffer, format, arguments);
    return printable(buffer);
  }
  static int on_error(TIFF*, void* self, const char*, const char* format, std::va_list arguments) {
    auto& handle = *static_cast<TiffHandle*>(self);
    if (handle.error_.empty()) handle.error_ = text(format, arguments);
    return 1;  // suppresses libtiff's own handlers
  }
  static int on_warning(TIFF*, void* self, const char*, const char* format, std::va_list arguments) {
    auto& handle = *static_cast<TiffHandle*>(self);
    if (handle.warning_.empty()) handle.warning_ = text(format, arguments);
    return 1;
  }

  static tmsize_t on_read(thandle_t self, void* out, tmsize_t count) {
    auto& handle = *static_cast<TiffHandle*>(self);
    const std::size_t there = handle.file_.size() - std::min(handle.file_.size(), handle.position_);
    const std::size_t taken = std::min(there, static_cast<std::size_t>(std::max<tmsize_t>(count, 0)));
    if (taken > 0) std::memcpy(out, handle.file_.data() + handle.position_, taken);
    handle.position_ += taken;
    return static_cast<tmsize_t>(taken);
  }
  // Exceptions must not propagate through the library.
  static tmsize_t on_write(thandle_t self, void* data, tmsize_t count) noexcept {
    auto& handle = *static_cast<TiffHandle*>(self);
    const auto bytes = static_cast<std::size_t>(std::max<tmsize_t>(count, 0));
    try {
      if (handle.file_.size() < handle.position_ + bytes) handle.file_.resize(handle.position_ + bytes);
    } catch (const std::bad_alloc&) {
      return 0;
    }
    if (bytes > 0) std::memcpy(handle.file_.data() + handle.position_, data, bytes);
    handle.position_ += bytes;
    return count;
  }
  static toff_t on_seek(thandle_t self, toff_t offset, int from) {
    auto& handle = *static_cast<TiffHandle*>(self);
    if (from == SEEK_CUR) offset += handle.position_;
    if (from == SEEK_END) offset += handle.file_.size();
    handle.position_ = offset;
    return offset;
  }
  static int on_close(thandle_t) { return 0; }
  static toff_t on_size(thandle_t self) { return static_cast<TiffHandle*>(self)->file_.size(); }
};

TiffHandle::TiffHandle(std::vector<std::byte> file, const char* mode) : file_(std::move(file)) {
  TIFFOpenOptions* options = late_tiff::TIFFOpenOptionsAlloc();
  if (options == nullptr) throw std::bad_alloc();
  late_tiff::TIFFOpenOptionsSetErrorHandlerExtR(options, Calls::on_error, this);
  late_tiff::TIFFOpenOptionsSetWarningHandlerExtR(options, Calls::on_warning, this);
  tiff_ = late_tiff::TIFFClientOpenExt("", mode, this, Calls::on_read, Calls::on_write, Calls::on_seek,
                                       Calls::on_close, Calls::on_size, nullptr, nullptr, options);
  late_tiff::TIFFOpenOptionsFree(options);
}

TiffHandle::~TiffHandle() {
  if (tiff_ != nullptr) late_tiff::TIFFClose(tiff_);
}

std::string TiffHandle::take_error() {
  return std::exchange(error_, {});
}

std::string TiffHandle::take_warning() {
  return std::exchange(warning_, {});
}

}  // namespace imgpipe
