#include "app/python/core/decoding.h"

#include <algorithm>
#include <optional>
#include <type_traits>
#include <utility>

#include "app/python/core/item_threads.h"
#include "images/codecs/codec_parts.h"
#include "images/error.h"
#include "images/formats/codec_table.h"
#include "images/formats/pending_input.h"
#include "images/memory/available_memory.h"
#include "images/text.h"
#include "images/unreachable.h"
#include "kernels/gray/gray.h"
#include "pipeline/host/chunk_reading.h"
#include "pipeline/host/ordered_run.h"
#include "pipeline/image_io.h"
#include "pipeline/memory_need.h"

namespace imgpipe::python {
namespace {

template <class Function>
void visit_channels(int channels, const Function& function) {
  switch (channels) {
    case 1:
      return function(std::integral_constant<int, 1>());
    case 2:
      return function(std::integral_constant<int, 2>());
    case 3:
      return function(std::integral_constant<int, 3>());
    case 4:
      return function(std::integral_constant<int, 4>());
    default:
      unreachable();
  }
}

template <int In, int Out, class T>
void convert_row(const T* in, std::int64_t width, T* out) {
  constexpr int kInColors = In >= 3 ? 3 : 1, kOutColors = Out >= 3 ? 3 : 1;
  constexpr LumaWeights kWeights = luma_weights(Luma::bt601);
  for (std::int64_t x = 0; x < width; ++x, in += In, out += Out) {
    if constexpr (kInColors > kOutColors && kIsFloat<T>) {
      unreachable();  // refused
    } else if constexpr (kInColors > kOutColors) {
      out[0] = luma_of<T>(kWeights, in[0], in[1], in[2]);
    } else {
      for (int c = 0; c < kOutColors; ++c) out[c] = in[kInColors == 1 ? 0 : c];
    }
    if constexpr (Out > kOutColors) out[kOutColors] = In > kInColors ? in[In - 1] : white_sample<T>();
  }
}

// The same for RGB to grey, in SIMD.
void gray_rows(ConstHostView from, HostView to) {
  StageCall<Host> call;
  call.in = {frame_type_of(from.shape()), {from, {}, {}, {}}};
  call.out = {frame_type_of(to.shape()), {to, {}, {}, {}}};
  gray_cpu(call, {.first = 0, .end = from.height});
}

void convert_rows(ConstHostView from, HostView to) {
  if (from.channels == 3 && to.channels == 1) return gray_rows(from, to);
  visit_any_sample(from.sample, [&]<class T>(T) {
    visit_channels(from.channels, [&](auto in) {
      visit_channels(to.channels, [&](auto out) {
        for (std::int64_t y = 0; y < from.height; ++y)
          convert_row<in.value, out.value>(from.as<T>().row(y), from.width, to.as<T>().row(y));
      });
    });
  });
}

// Reads the rows of one image into memory of the same sample type, in bands if their channels differ.
class RowReading {
 public:
  RowReading(Reader& reader, HostView to) : reader_(reader), stored_(reader.header().shape), to_(to) {
    band_rows_ = chunk_band_rows(stored_);
  }

  void run(int threads) {
    if (threads > 1) {
      read_on_threads(threads);
    } else if (is_converted()) {
      // A few rows, so that they are in the cache when they are converted.
      band_rows_ = std::min<std::int64_t>(kRowsAtOnce, stored_.height);
      Band band;
      while (begin(band, false)) read(band, false);
    } else {
      reader_.read_rows(to_);
    }
  }

 private:
  static constexpr std::int64_t kRowsAtOnce = 16;

  struct Band {
    std::int64_t first = 0;
    HostView to;
    Image stored;  // as in the file
  };

  [[nodiscard]] bool is_converted() const { return stored_.channels != to_.channels; }

  bool begin(Band& band, bool in_parallel) {
    if (next_ == stored_.height) return false;
    band.first = next_;
    band.to = to_.rows(next_, std::min(band_rows_, stored_.height - next_));
    next_ += band.to.height;
    if (in_parallel) reader_.begin_band(band.first, band.to.height);
    return true;
  }

  void read(Band& band, bool in_parallel) {
    HostView rows = band.to;
    if (is_converted()) {
      if (band.stored.empty())
        band.stored = Image({stored_.width, band_rows_, stored_.channels, stored_.sample});
      rows = band.stored.untyped_view().rows(0, band.to.height);
    }
    if (in_parallel) {
      reader_.read_band(band.first, rows);
    } else {
      reader_.read_rows(rows);
    }
    if (is_converted()) convert_rows(rows, band.to);
  }

  void read_on_threads(int count) {
    HostThreads threads(count);
    std::vector<Band> bands(static_cast<std::size_t>(bands_at_once(threads.count())));
    run_in_order(threads, bands.size(),
                 {[&](std::size_t slot, int) { return begin(bands[slot], true); },
                  [&](std::size_t slot, int) { read(bands[slot], true); }, [](std::size_t, int) {}});
  }

  Reader& reader_;
  const Shape stored_;
  const HostView to_;
  std::int64_t band_rows_ = 0;
  std::int64_t next_ = 0;
};

void check_memory(Reader& reader, const Shape& result, int threads) {
  const Shape& shape = reader.header().shape;
  const bool whole = threads == 1 && result == shape;
  const auto need = [&] {
    const std::int64_t rows = chunk_band_rows(shape);
    const std::int64_t band_bytes = reader.band_bytes(rows) + rows * shape.row_bytes();
    return result.bytes() + reader.working_bytes(whole) + (whole ? 0 : bands_at_once(threads) * band_bytes);
  };
  try {
    check_available(need());
  } catch (const Error&) {
    if (!reader.use_less_memory()) throw;
    check_available(need());
  }
}

Decoded decode_image(Reader& reader, int channels, int threads) {
  Shape shape = reader.header().shape;
  if (channels > 0) shape.channels = channels;
  if (is_float(shape.sample) && reader.header().shape.color_channels() > shape.color_channels())
    throw Error(ErrorKind::usage, "mode: floats in colour do not become grey; read without mode");
  const int parallel = reader.has_bands() ? image_threads(threads, shape.pixels()) : 1;
  check_memory(reader, shape, parallel);
  Decoded decoded{.image = std::make_shared<Image>(shape), .warnings = {}};
  RowReading(reader, decoded.image->untyped_view()).run(parallel);
  decoded.warnings = reader.warnings();
  return decoded;
}

InputFile open_pages_file(const Source& source) {
  constexpr std::size_t kSignatureBytes = 64;
  if (!source.is_in_memory()) {
    if (std::optional<InputFile> file = open_on_disk(source.path, kSignatureBytes)) return std::move(*file);
  }
  return InputFile::borrowed(source.bytes());
}

[[noreturn]] void throw_missing_page(std::int64_t index, std::int64_t count) {
  throw Error(ErrorKind::input, "has no page " + std::to_string(index) + "; it has " + std::to_string(count) +
                                    (count == 1 ? " page" : " pages, from 0"));
}

}  // namespace

Acceptance acceptance_of(std::string_view name) {
  if (name == "strict") return Acceptance::strict;
  if (name == "lenient") return Acceptance::lenient;
  if (name == "pillow") return Acceptance::pillow;
  throw Error(ErrorKind::usage, "accept: expected strict, lenient or pillow, got " + printable(name));
}

std::optional<IntegerRule> integer_rule_of(std::string_view name) {
  if (name.empty()) return std::nullopt;
  if (name == "value") return IntegerRule::value;
  if (name == "unit") return IntegerRule::unit;
  if (name == "range") return IntegerRule::range;
  throw Error(ErrorKind::usage, "integers: expected value, unit or range, got " + printable(name));
}

DecodeOptions decode_options(std::string_view acceptance, std::int64_t max_pixels) {
  DecodeOptions options = usual_decoding();
  options.accept = acceptance_of(acceptance);
  options.max_pixels = max_pixels;
  return options;
}

Decoded decode(const Source& source, const Decoding& decoding, int threads) {
  if (decoding.page > 0) return SourcePages(source, decoding).decode(decoding.page, threads);
  const std::unique_ptr<Reader> reader = source.open(decoding.options);
  return decode_image(*reader, decoding.channels, threads);
}

SourcePages::SourcePages(const Source& source, const Decoding& decoding)
    : decoding_(decoding), file_(open_pages_file(source)) {
  const Codec* const codec = codec_by_content(file_.bytes());
  if (codec != nullptr && codec->open_pages != nullptr) pages_ = codec->open_pages(file_, decoding_.options);
  if (!pages_) {
    file_ = InputFile::borrowed(source.bytes());
    (void)open_reader(file_, decoding_.options);  // rejects what is not an image
  }
}

Decoded SourcePages::decode(std::int64_t index, int threads) const {
  if (index >= size()) throw_missing_page(index, size());
  const InputFile page = pages_ ? pages_->page(index, Pages::Part::all) : InputFile::borrowed(file_.bytes());
  const std::unique_ptr<Reader> reader = open_reader(page, decoding_.options);
  return decode_image(*reader, decoding_.channels, threads);
}

}  // namespace imgpipe::python
