#include "images/codecs/codec.h"

#include <algorithm>
#include <utility>

#include <sys/mman.h>

#include "images/codecs/codec_parts.h"
#include "images/error.h"
#include "images/memory/available_memory.h"

namespace imgpipe {
namespace {

std::string size_text(const Shape& shape) {
  return std::to_string(shape.width) + "x" + std::to_string(shape.height);
}

}  // namespace

std::size_t EncodedFile::size_bytes() const noexcept {
  std::size_t bytes = 0;
  for (const std::vector<std::byte>& part : parts) bytes += part.size();
  return bytes;
}

std::vector<std::byte> EncodedFile::joined() const {
  std::vector<std::byte> file;
  file.reserve(size_bytes());
  for (const std::vector<std::byte>& part : parts) file.insert(file.end(), part.begin(), part.end());
  return file;
}

void Writer::write_strip(std::int64_t, ConstHostView) {
  throw Error(ErrorKind::usage, "write_strip: this format is written row by row");
}

void Writer::give_strip(std::int64_t, const EncodedStrip&) {
  throw Error(ErrorKind::usage, "give_strip: this format does not accept encoded strips");
}

void Writer::give_scan(std::span<const std::byte>) {
  throw Error(ErrorKind::usage, "give_scan: this format does not accept encoded scans");
}

std::int64_t Writer::working_bytes_when_taken(std::int64_t) const {
  return working_bytes();
}

EncodedFile Writer::take_finished() {
  return {};
}

std::int64_t Reader::working_bytes(bool) const {
  return 0;
}

std::int64_t Reader::library_bytes(bool) const {
  return 0;
}

std::int64_t WholeImageReader::working_bytes(bool whole) const {
  return whole ? 0 : header_.shape.bytes();
}

void Reader::set_profile(std::vector<std::byte> icc) {
  if (!icc.empty()) header_.icc = std::make_shared<const std::vector<std::byte>>(std::move(icc));
}

void Reader::use_grey_rows(Luma luma) {
  if (!has_grey_rows() || rows_given_ > 0)
    throw Error(ErrorKind::usage, "use_grey_rows: the image is not decoded to grey, or rows have been read");
  luma_ = luma;
}

Shape Reader::row_shape() const noexcept {
  Shape shape = header_.shape;
  if (luma_) shape.channels = 1;
  return shape;
}

void Reader::read_rows(HostView rows) {
  const Shape shape = row_shape();
  if (rows.width != shape.width || rows.channels != shape.channels || rows.sample != shape.sample ||
      rows.height > shape.height - rows_given_) {
    throw Error(ErrorKind::usage, "read_rows: the rows do not fit the image");
  }
  read_next_rows(rows);
  rows_given_ += rows.height;
  if (rows_given_ == shape.height) finish();
}

void Reader::begin_band(std::int64_t first, std::int64_t rows) {
  if (first < band_first_ || first > rows_given_ || rows < 0 || first + rows > header_.shape.height)
    throw Error(ErrorKind::usage, "begin_band: the rows do not follow the last band");
  begin_next_band(first, rows);
  band_first_ = first;
  rows_given_ = std::max(rows_given_, first + rows);
}

void Reader::read_band(std::int64_t first, HostView rows) {
  const Shape shape = row_shape();
  if (rows.width != shape.width || rows.channels != shape.channels || rows.sample != shape.sample)
    throw Error(ErrorKind::usage, "read_band: the rows do not fit the image");
  do_read_band(first, rows);
}

void Reader::check_file_end(std::size_t) {
  throw Error(ErrorKind::usage, "check_file_end: this format has no device decoder");
}

void Reader::begin_next_band(std::int64_t, std::int64_t) {
  throw Error(ErrorKind::usage, "begin_band: this format is read row by row");
}

void Reader::do_read_band(std::int64_t, HostView) {
  throw Error(ErrorKind::usage, "read_band: this format is read row by row");
}

void WholeImageReader::read_next_rows(HostView rows) {
  if (rows.height == header_.shape.height) {
    decode(rows);
    return;
  }
  if (image_.empty()) {
    image_ = Image(row_shape(), memory_);
    decode(image_.untyped_view());
  }
  copy_pixels(std::as_const(image_).untyped_view().rows(next_row_, rows.height), rows);
  next_row_ += rows.height;
  if (next_row_ == header_.shape.height) image_ = Image();
}

void fill_missing(const HostView& rows) {
  visit_any_sample(rows.sample, [&]<class T>(T) {
    for (std::int64_t y = 0; y < rows.height; ++y)
      fill_missing(rows.as<T>().row(y), rows.width, rows.channels);
  });
}

ConstHostPlane as_8_bit(ConstHostView rows) {
  if (!rows.holds<Sample8>())
    throw Error(ErrorKind::usage, "8-bit writer: the rows have more than 8 bits per sample");
  return rows.as<Sample8>();
}

void check_header(const Shape& shape, const DecodeOptions& options) {
  const std::string size = size_text(shape);
  if (shape.width < 1 || shape.height < 1)
    throw Error(ErrorKind::input, "the width or height is 0 (" + size + ")");
  if (shape.width > kMaxSide || shape.height > kMaxSide)
    throw Error(ErrorKind::input,
                "too large: " + size + " pixels; expected at most " + std::to_string(kMaxSide) + " per side");
  if (shape.pixels() <= options.max_pixels) return;
  // The maximum of --max-pixels, which cannot be raised; programs without that option use it.
  constexpr std::int64_t kGreatestLimit = std::int64_t{1} << 34;
  throw Error(ErrorKind::input,
              "too large: " + size + " pixels; " +
                  (options.max_pixels < kGreatestLimit
                       ? "raise --max-pixels (now " + std::to_string(options.max_pixels) + ")"
                       : "expected at most " + std::to_string(options.max_pixels)));
}

void check_plausible(std::int64_t raw_bytes, std::size_t file_bytes, std::int64_t best_ratio) {
  if (raw_bytes / best_ratio > static_cast<std::int64_t>(file_bytes)) {
    throw Error(ErrorKind::input, "truncated: the file is too short for the size in its header");
  }
}

// check_available() is unreliable for small amounts, so this also requests memory from the system: twice as
// much, because other threads may have freed some since. Nothing is written there, so no page is ever used.
void check_library_memory(std::int64_t bytes) {
  check_available(2 * bytes);
  const auto size = static_cast<std::size_t>(2 * bytes);
  void* const tried = ::mmap(nullptr, size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (tried == MAP_FAILED) throw Error(ErrorKind::memory, "not enough memory");
  ::munmap(tried, size);
}

void check_storable_size(Format format, const Shape& shape, std::int64_t max_side) {
  constexpr std::int64_t kMaxRawBytes = 1 << 30;
  const std::string name(format_info(format).name);
  if (shape.width > max_side || shape.height > max_side)
    throw Error(ErrorKind::usage, name + " is limited to " + std::to_string(max_side) + " pixels per side");
  if (shape.bytes() + shape.height > kMaxRawBytes) {
    throw Error(ErrorKind::usage, name + " is limited to 1 GiB of samples; write pgm or ppm");
  }
}

std::string following_bytes(std::size_t count, bool another_image) {
  return std::to_string(count) + (count == 1 ? " byte follows" : " bytes follow") + " the image" +
         (another_image ? " (another image?)" : "");
}

void warn_of_following_bytes(Bytes file, std::size_t end, std::vector<std::string>& warnings) {
  if (end >= file.size()) return;
  const Bytes following = file.subspan(end);
  warnings.push_back(following_bytes(following.size(), format_by_content(following).has_value()));
}

}  // namespace imgpipe
