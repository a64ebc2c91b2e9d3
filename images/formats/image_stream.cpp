#include "images/formats/image_stream.h"

#include <algorithm>
#include <array>
#include <string>
#include <string_view>
#include <utility>

#include "images/codecs/sniff.h"
#include "images/error.h"

namespace imgpipe {
namespace {

constexpr std::size_t kReadBytes = std::size_t{1} << 16;
constexpr std::size_t kSignatureBytes = 64;  // more than detection of any format needs

std::string bytes_text(std::size_t bytes) {
  return std::to_string(bytes) + (bytes == 1 ? " byte" : " bytes");
}

}  // namespace

ImageStream::ImageStream(ByteSource source, const DecodeOptions& options)
    : source_(std::move(source)), options_(options) {}

// Reads once; returns false at the end.
bool ImageStream::read_more() {
  if (all_read_) return false;
  if (begin_ > 0) {
    std::move(buffer_.begin() + static_cast<std::ptrdiff_t>(begin_),
              buffer_.begin() + static_cast<std::ptrdiff_t>(end_), buffer_.begin());
    end_ -= std::exchange(begin_, 0);
  }
  if (end_ == buffer_.size()) buffer_.resize(std::max({2 * end_, kReadBytes, last_bytes_ + kReadBytes}));
  const std::size_t got = source_(std::span(buffer_).subspan(end_));
  end_ += got;
  read_bytes_ += static_cast<std::int64_t>(got);
  all_read_ = got == 0;
  return !all_read_;
}

bool ImageStream::read_ahead(std::size_t bytes) {
  while (ahead().size() < bytes) {
    if (!read_more()) return false;
  }
  return true;
}

void ImageStream::skip(std::size_t bytes) {
  begin_ += bytes;
  offset_ += static_cast<std::int64_t>(bytes);
}

// The length does not depend on how the stream is chunked.
std::span<const std::byte> ImageStream::signature() const {
  return ahead().first(std::min(kSignatureBytes, ahead().size()));
}

bool ImageStream::begins_with_image() {
  read_ahead(kSignatureBytes);
  if (ahead().empty()) return true;
  const Codec* const codec = codec_by_content(signature());
  return codec != nullptr && codec->find_end != nullptr;
}

std::vector<std::byte> ImageStream::rest() {
  const auto judge = [this](std::span<const std::byte> beginning) {
    return longest_file(beginning, options_);
  };
  const std::span<const std::byte> there = ahead();
  const ByteSource on = all_read_ ? [](std::span<std::byte>) { return std::size_t{0}; } : source_;
  std::vector<std::byte> bytes =
      read_to_end(on, std::vector<std::byte>(there.begin(), there.end()), max_file_bytes(options_), judge);
  read_bytes_ += static_cast<std::int64_t>(bytes.size() - there.size());
  skip(there.size());
  all_read_ = true;
  return bytes;
}

bool ImageStream::at_end() {
  if (skip_padding()) return true;
  if (before_ != nullptr && before_->may_have_trailer()) skip_appendix();
  return ahead().empty();
}

// Unless an image begins here, skips to the next JPEG or PNG signature; only those are unambiguous.
void ImageStream::skip_appendix() {
  using namespace std::string_view_literals;
  constexpr std::array kSignatures{"\xFF\xD8\xFF"sv, "\x89PNG\r\n\x1A\n"sv};
  constexpr std::size_t kLongest = 8;
  read_ahead(kSignatureBytes);
  if (codec_by_content(signature()) != nullptr) return;
  const std::int64_t begin = offset_;
  const auto is_signature = [&](std::size_t at) {
    return std::ranges::any_of(kSignatures,
                               [&](std::string_view text) { return matches_at(ahead(), at, text); });
  };
  while (offset_ - begin <= kMaxMetadataBytes && (read_ahead(kLongest) || !ahead().empty())) {
    const std::size_t last = all_read_ ? ahead().size() : ahead().size() - kLongest + 1;
    std::size_t at = 0;
    while (at < last && !is_signature(at)) ++at;
    skip(at);
    if (at < last) break;
  }
  skipped_bytes_ += offset_ - begin;
}

// Skips padding; returns whether the stream ended.
bool ImageStream::skip_padding() {
  const std::int64_t begin = offset_;
  for (;;) {
    if (offset_ - begin > kMaxMetadataBytes) return false;  // an endless stream is not an image
    if (!read_ahead(2)) {
      if (before_ != nullptr) skip(before_->padding(ahead()));
      return ahead().empty();
    }
    const std::size_t padding = before_ != nullptr ? before_->padding(ahead()) : 0;
    if (padding < ahead().size()) {
      skip(padding);
      return false;
    }
    // A 0xFF may begin the next image, so the next byte decides.
    skip(padding - 1);
  }
}

const Codec& ImageStream::codec_of_next() const {
  const Codec* const codec = codec_by_content(signature());
  if (codec == nullptr) throw Error(ErrorKind::input, unknown_content_reason(signature()));
  if (codec->find_end == nullptr)
    throw Error(ErrorKind::input, "the end of a " + std::string(codec->name) +
                                      " image in a stream cannot be detected; pass a single image");
  return *codec;
}

// Reads until the finder succeeds; returns false if the stream ends first.
bool ImageStream::find_end(EndFinder& finder) {
  std::size_t checked_at = kReadBytes;
  while (!finder.find(ahead(), all_read_)) {
    if (all_read_) return false;
    if (ahead().size() >= checked_at) {
      const std::int64_t most = longest_file(ahead(), options_);
      if (static_cast<std::int64_t>(ahead().size()) > most)
        throw Error(ErrorKind::input, "too long: more than " + std::to_string(most) +
                                          " bytes, the limit for an image of the size in its header");
      checked_at = 2 * ahead().size();
    }
    read_more();
  }
  return true;
}

std::vector<std::byte> ImageStream::next() {
  try {
    read_ahead(kSignatureBytes);
    before_ = codec_of_next().find_end();
    if (find_end(*before_)) return take(before_->image_bytes(), before_->taken_bytes());
    if (options_.accept == Acceptance::strict)
      throw Error(ErrorKind::input,
                  "truncated: the stream ends after " + bytes_text(ahead().size()) + " of the image");
    return take(ahead().size(), ahead().size());
  } catch (const std::bad_alloc&) {
    throw Error(ErrorKind::memory, "not enough memory to read the image");
  }
}

std::vector<std::byte> ImageStream::take(std::size_t image_bytes, std::size_t taken_bytes) {
  const auto from = buffer_.begin() + static_cast<std::ptrdiff_t>(begin_);
  std::vector<std::byte> image;
  const std::size_t rest_bytes = ahead().size() - taken_bytes;
  if (image_bytes < rest_bytes || begin_ > 0) {
    image.assign(from, from + static_cast<std::ptrdiff_t>(image_bytes));
    skip(taken_bytes);
  } else {
    // Copies the smaller part.
    std::vector<std::byte> after(from + static_cast<std::ptrdiff_t>(taken_bytes),
                                 from + static_cast<std::ptrdiff_t>(taken_bytes + rest_bytes));
    image = std::exchange(buffer_, std::move(after));
    image.resize(image_bytes);
    begin_ = 0;
    end_ = rest_bytes;
    offset_ += static_cast<std::int64_t>(taken_bytes);
  }
  last_bytes_ = taken_bytes;
  ++images_;
  return image;
}

}  // namespace imgpipe
