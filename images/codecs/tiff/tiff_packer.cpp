#include "images/codecs/tiff/tiff_packer.h"

#include <cstring>
#include <optional>

#include "images/codecs/png/deflate.h"
#include "images/codecs/sniff.h"
#include "images/codecs/tiff/lzw.h"
#include "images/codecs/tiff/packbits.h"
#include "images/codecs/tiff/tiff_predictor.h"
#include "images/codecs/tiff/zstd_functions.h"
#include "images/error.h"

namespace imgpipe {
namespace {

constexpr int kZstdLevel = 3;  // the library's default
// Memory per context at that level; zstd 1.5.4 uses 1.2 MB.
constexpr std::int64_t kZstdWriterBytes = std::int64_t{3} << 19;

// Stores each sample minus that of the previous pixel.
template <class T>
void write_differences(const T* in, std::int64_t samples, int channels, T* out) {
  const std::int64_t first = std::min<std::int64_t>(channels, samples);
  for (std::int64_t i = 0; i < first; ++i) out[i] = in[i];
  for (std::int64_t i = first; i < samples; ++i) out[i] = static_cast<T>(in[i] - in[i - channels]);
}

}  // namespace

struct TiffPacker::Libraries {
  std::optional<StripDeflater> deflater;
  ZSTD_CCtx* zstd = nullptr;

  Libraries() = default;
  ~Libraries() {
    if (zstd != nullptr) late_zstd::ZSTD_freeCCtx(zstd);
  }
  Libraries(const Libraries&) = delete;
  Libraries& operator=(const Libraries&) = delete;
};

TiffPacker::TiffPacker(TiffPacking packing, int level)
    : packing_(packing), level_(level), libraries_(std::make_unique<Libraries>()) {
  if (packing == TiffPacking::deflate) libraries_->deflater.emplace(level);
  if (packing != TiffPacking::zstd) return;
  libraries_->zstd = late_zstd::ZSTD_createCCtx();
  if (libraries_->zstd == nullptr) throw Error(ErrorKind::memory, "not enough memory to compress");
}

TiffPacker::~TiffPacker() = default;
TiffPacker::TiffPacker(TiffPacker&&) noexcept = default;
TiffPacker& TiffPacker::operator=(TiffPacker&&) noexcept = default;

std::int64_t TiffPacker::library_bytes(TiffPacking packing) {
  return packing == TiffPacking::zstd ? kZstdWriterBytes : packing == TiffPacking::lzw ? kLzwWriterBytes : 0;
}

std::int64_t TiffPacker::max_bytes(TiffPacking packing, std::int64_t rows, std::int64_t row_bytes) {
  constexpr std::int64_t kZlibEnds = 2 + 4;
  switch (packing) {
    case TiffPacking::deflate:
      return max_compressed_bytes(rows * row_bytes) + kZlibEnds;
    case TiffPacking::packbits:
      return rows * static_cast<std::int64_t>(max_packbits_bytes(static_cast<std::size_t>(row_bytes)));
    case TiffPacking::zstd:
      return static_cast<std::int64_t>(
          late_zstd::ZSTD_compressBound(static_cast<std::size_t>(rows * row_bytes)));
    case TiffPacking::lzw:
      return max_lzw_bytes(rows * row_bytes);
    default:
      return rows * row_bytes;
  }
}

std::int64_t TiffPacker::working_bytes(TiffPacking packing, int level, std::int64_t rows,
                                       std::int64_t row_bytes) {
  constexpr std::int64_t kOwnBytes = 1024;
  const std::int64_t chunk_bytes = rows * row_bytes;
  // The deflater owns its buffer; the others' buffers shrink to the result.
  const std::int64_t capacity = packing == TiffPacking::deflate
                                    ? StripDeflater::working_bytes(chunk_bytes, level)
                                    : max_bytes(packing, rows, row_bytes);
  return chunk_bytes + capacity + library_bytes(packing) + kOwnBytes;
}

std::vector<std::byte> TiffPacker::pack(ConstHostView pixels, std::int64_t width, std::int64_t rows) {
  const auto row_bytes =
      static_cast<std::size_t>(Shape{width, 1, pixels.channels, pixels.sample}.row_bytes());
  raw_.assign(row_bytes * static_cast<std::size_t>(rows), std::byte{0});
  const std::int64_t samples = pixels.width * pixels.channels;
  for (std::int64_t y = 0; y < pixels.height; ++y) {
    std::byte* out = raw_.data() + static_cast<std::size_t>(y) * row_bytes;
    const std::byte* in = pixels.row(y);
    if (!predicts(packing_)) {
      std::memcpy(out, in, static_cast<std::size_t>(pixels.row_bytes()));
    } else if (is_float(pixels.sample)) {
      predict_floats(in, pixels.width, width, pixels.channels, out);
    } else {
      visit_sample(pixels.sample, [&]<class T>(T) {
        write_differences(reinterpret_cast<const T*>(in), samples, pixels.channels,
                          reinterpret_cast<T*>(out));
      });
    }
  }
  std::vector<std::byte> packed;
  switch (packing_) {
    case TiffPacking::deflate: {
      const std::span<const std::byte> data = libraries_->deflater->compress(raw_, true);
      const std::vector<std::byte> head = zlib_header(level_);
      packed.reserve(head.size() + data.size() + 4);
      packed.insert(packed.end(), head.begin(), head.end());
      packed.insert(packed.end(), data.begin(), data.end());
      append_big_endian(packed, adler32_of(raw_), 4);
      break;
    }
    case TiffPacking::zstd: {
      packed.resize(late_zstd::ZSTD_compressBound(raw_.size()));
      const std::size_t made = late_zstd::ZSTD_compressCCtx(libraries_->zstd, packed.data(), packed.size(),
                                                            raw_.data(), raw_.size(), kZstdLevel);
      if (late_zstd::ZSTD_isError(made) != 0) throw Error(ErrorKind::memory, "zstd could not compress");
      packed.resize(made);
      packed.shrink_to_fit();
      break;
    }
    case TiffPacking::packbits: {
      const auto most = max_bytes(packing_, rows, static_cast<std::int64_t>(row_bytes));
      packed.reserve(static_cast<std::size_t>(most));
      for (std::size_t at = 0; at < raw_.size(); at += row_bytes)
        pack_packbits(std::span(raw_).subspan(at, row_bytes), packed);
      packed.shrink_to_fit();
      break;
    }
    case TiffPacking::lzw:
      packed = pack_lzw(raw_);
      break;
    default:
      packed = raw_;
  }
  return packed;
}

}  // namespace imgpipe
