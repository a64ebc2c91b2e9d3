#include "tests/support/jpeg_pair.h"

#include <algorithm>
#include <cstring>
#include <memory>
#include <mutex>
#include <thread>
#include <utility>

#include "images/codecs/jpeg/baseline_reader.h"
#include "images/error.h"

namespace imgpipe::test {
namespace {

// The value of bytes that no decoder has written.
constexpr int kUnwritten = 0xA5;

struct Band {
  std::int64_t first = 0, rows = 0;
};

// Hands out the bands of an image from the top, and collects their pixels.
class Bands {
 public:
  Bands(Reader& reader, const Reading& reading, HostPlane image)
      : reader_(reader), reading_(reading), image_(image) {}

  // Runs in one thread until no band is left or one throws.
  void read_all() {
    try {
      for (std::vector<Band> bands = begin(); !bands.empty(); bands = begin())
        for (auto band = bands.rbegin(); band != bands.rend(); ++band) read(*band);
    } catch (const Error& error) {
      note(error.what());
    }
  }

  // The errors of all threads, joined, so that none is hidden.
  [[nodiscard]] const std::string& reason() const { return reason_; }

 private:
  std::vector<Band> begin() {
    const std::lock_guard lock(mutex_);
    std::vector<Band> bands;
    for (int most = reading_.backwards ? 3 : 1; most > 0 && end_ < image_.height; --most) {
      Band band;
      band.first = std::max<std::int64_t>(first_, end_ - reading_.common);
      band.rows =
          std::min(std::max<std::int64_t>(1, reading_.rows) + end_ - band.first, image_.height - band.first);
      reader_.begin_band(band.first, band.rows);
      first_ = band.first;
      end_ = band.first + band.rows;
      bands.push_back(band);
    }
    return bands;
  }

  void read(const Band& band) {
    Image pixels({image_.width, band.rows, image_.channels});
    std::memset(pixels.view().data, kUnwritten, static_cast<std::size_t>(pixels.shape().bytes()));
    reader_.read_band(band.first, pixels.untyped_view());
    const std::lock_guard lock(mutex_);
    const ConstHostPlane rows = std::as_const(pixels).view();
    // The first band to arrive sets the common rows; others must agree.
    for (std::int64_t y = 0; y < band.rows; ++y) {
      Sample8* to = image_.row(band.first + y);
      const auto bytes = static_cast<std::size_t>(image_.row_samples());
      if (!is_unwritten(to, bytes) && std::memcmp(to, rows.row(y), bytes) != 0)
        note_locked("two bands differ in row " + std::to_string(band.first + y));
      std::memcpy(to, rows.row(y), bytes);
    }
  }

  static bool is_unwritten(const Sample8* row, std::size_t count) {
    return std::all_of(row, row + count, [](Sample8 sample) { return sample == kUnwritten; });
  }

  void note(const std::string& reason) {
    const std::lock_guard lock(mutex_);
    note_locked(reason);
  }
  void note_locked(const std::string& reason) {
    if (reason_.empty()) reason_ = reason;
    if (reason_ != reason && !reason_.ends_with(reason)) reason_ += " / " + reason;
  }

  Reader& reader_;
  Reading reading_;
  HostPlane image_;
  std::mutex mutex_;
  std::int64_t first_ = 0, end_ = 0;
  std::string reason_;
};

std::unique_ptr<Reader> open(std::span<const std::byte> file, const DecodeOptions& options,
                             std::size_t scan_chunk_bytes) {
  std::unique_ptr<Reader> reader = open_reader(file, options);
  const bool is_ours = reader->header().format == Format::jpeg && options.codec == CodecChoice::automatic;
  if (scan_chunk_bytes == 0 || !is_ours || reader->header().orientation != Orientation::upright)
    return reader;
  return make_baseline_reader(open_library_jpeg(file, options), scan_chunk_bytes);
}

void read_bands(Reader& reader, const Reading& reading, HostPlane image) {
  Bands bands(reader, reading, image);
  std::vector<std::thread> threads;
  for (int i = 1; i < reading.threads; ++i) threads.emplace_back([&bands] { bands.read_all(); });
  bands.read_all();
  for (std::thread& thread : threads) thread.join();
  if (!bands.reason().empty()) throw Error(ErrorKind::input, bands.reason());
}

void read_rows(Reader& reader, const Reading& reading, HostPlane image) {
  const std::int64_t portion = reading.rows > 0 ? reading.rows : image.height;
  for (std::int64_t y = 0; y < image.height; y += portion)
    reader.read_rows(image.rows(y, std::min(portion, image.height - y)));
}

std::string difference_of_pixels(const Image& expected, const Image& got) {
  const Shape& shape = expected.shape();
  for (std::int64_t y = 0; y < shape.height; ++y) {
    const Sample8* left = expected.view().row(y);
    const Sample8* right = got.view().row(y);
    const auto bytes = static_cast<std::size_t>(shape.row_bytes());
    if (std::memcmp(left, right, bytes) == 0) continue;
    const auto at = std::mismatch(left, left + bytes, right).first - left;
    return "x=" + std::to_string(at / shape.channels) + " y=" + std::to_string(y) +
           " channel=" + std::to_string(at % shape.channels) + ": expected " + std::to_string(left[at]) +
           ", got " + std::to_string(right[at]);
  }
  return "";
}

}  // namespace

std::string text_of(const Reading& reading) {
  std::string text = reading.rows > 0 ? std::to_string(reading.rows) + " rows at a time" : "whole";
  if (reading.threads > 0) text += " by " + std::to_string(reading.threads) + " threads";
  if (reading.common > 0) text += ", " + std::to_string(reading.common) + " in common";
  if (reading.backwards) text += ", backwards";
  if (reading.scan_chunk_bytes > 0)
    text += ", pieces of " + std::to_string(reading.scan_chunk_bytes) + " bytes";
  return text;
}

JpegOutcome read_jpeg(std::span<const std::byte> file, const DecodeOptions& options, const Reading& reading) {
  JpegOutcome outcome;
  try {
    const std::unique_ptr<Reader> reader = open(file, options, reading.scan_chunk_bytes);
    outcome.opened = true;
    outcome.header = reader->header();
    outcome.decoder = reader->decoder();
    outcome.has_bands = reader->has_bands();
    outcome.image = Image(outcome.header.shape);
    const HostPlane image = outcome.image.view();
    std::memset(image.data, kUnwritten, static_cast<std::size_t>(outcome.header.shape.bytes()));
    reading.threads > 0 && reader->has_bands() ? read_bands(*reader, reading, image)
                                               : read_rows(*reader, reading, image);
    outcome.last_decoder = reader->decoder();
    outcome.warnings = reader->warnings();
  } catch (const Error& error) {
    outcome.image = Image();
    outcome.reason = error.what();
    if (error.kind() != ErrorKind::input) outcome.reason += " (not of the input)";
  }
  return outcome;
}

std::string difference(const JpegOutcome& expected, const JpegOutcome& got) {
  const auto differ = [](std::string_view what, const std::string& left, const std::string& right) {
    return std::string(what) + ": expected '" + left + "', got '" + right + "'";
  };
  const auto joined = [](const std::vector<std::string>& lines) {
    std::string text;
    for (const std::string& line : lines) text += line + "; ";
    return text;
  };
  if (expected.reason != got.reason) return differ("reason", expected.reason, got.reason);
  if (expected.opened != got.opened) return "one of the two is refused when it is opened";
  if (!expected.opened) return "";
  const ImageHeader& left = expected.header;
  const ImageHeader& right = got.header;
  if (left.shape != right.shape || left.format != right.format || left.orientation != right.orientation ||
      left.bits_per_sample != right.bits_per_sample || left.progressive != right.progressive ||
      left.more_images != right.more_images || left.profile != right.profile)
    return "the headers differ";
  if (!expected.reason.empty()) return "";
  if (expected.warnings != got.warnings)
    return differ("warnings", joined(expected.warnings), joined(got.warnings));
  return difference_of_pixels(expected.image, got.image);
}

std::string_view text_of(Acceptance accept) {
  if (accept == Acceptance::strict) return "strict";
  return accept == Acceptance::lenient ? "lenient" : "pillow";
}

DecodeOptions jpeg_options(CodecChoice codec, Acceptance accept, std::int64_t max_pixels) {
  DecodeOptions options;
  options.codec = codec;
  options.accept = accept;
  options.max_pixels = max_pixels;
  return options;
}

}  // namespace imgpipe::test
