#include "images/codecs/tiff/tiff_chunks.h"

#include <algorithm>
#include <array>
#include <cstring>
#include <new>
#include <utility>

#include "images/codecs/png/inflate.h"
#include "images/codecs/tiff/packbits.h"
#include "images/codecs/tiff/tiff_directory.h"
#include "images/codecs/tiff/tiff_library.h"
#include "images/codecs/tiff/zstd_functions.h"
#include "images/error.h"

namespace imgpipe {
namespace {

// Bytes per step, used when decompressing in one step fails; small steps preserve the rows before the damage.
constexpr std::size_t kInflatedAtOnce = std::size_t{64} << 10;
constexpr std::int64_t kInflateBytes = std::int64_t{96} << 10;  // ISA-L's tables
constexpr std::int64_t kZstdReaderBytes = std::int64_t{192} << 10;

std::byte reversed(std::byte value) {
  auto bits = std::to_integer<unsigned>(value);
  bits = ((bits & 0xF0U) >> 4) | ((bits & 0x0FU) << 4);
  bits = ((bits & 0xCCU) >> 2) | ((bits & 0x33U) << 2);
  bits = ((bits & 0xAAU) >> 1) | ((bits & 0x55U) << 1);
  return static_cast<std::byte>(bits);
}

// JPEG has its own bit order.
bool has_reversed_bits(const TiffPage& page) {
  return page.reversed_bits && page.compression != TiffCompression::jpeg;
}

std::size_t data_bytes(Bytes file, const TiffPage& page, std::size_t chunk) {
  const std::uint64_t offset = page.offsets[chunk];
  return offset < file.size() ? std::min<std::uint64_t>(page.counts[chunk], file.size() - offset) : 0;
}

// Decompresses in one fast step. Returns false for damage or a wrong size; the caller then tries smaller
// steps.
bool inflates_whole(ZlibInflater& inflater, Bytes data, std::span<std::byte> out) {
  inflater.restart();
  try {
    return inflater.inflate(data, out) == out.size() && inflater.finished();
  } catch (const Error&) {
    return false;
  }
}

struct FreeZstd {
  void operator()(ZSTD_DCtx* context) const { late_zstd::ZSTD_freeDCtx(context); }
};

}  // namespace

struct TiffChunks::Unpackers {
  std::unique_ptr<ZlibInflater> inflater;
  std::unique_ptr<ZSTD_DCtx, FreeZstd> zstd;
  std::unique_ptr<TiffLibrary> library;
};

bool is_stored_uncompressed(const TiffPage& page) {
  return page.compression == TiffCompression::none && !page.reversed_bits;
}

TiffChunks::TiffChunks(Bytes file, const TiffPage& page, const TiffRows& rows, bool lenient)
    : file_(file), page_(page), rows_(rows), lenient_(lenient), unpackers_(std::make_unique<Unpackers>()) {
  line_.resize(static_cast<std::size_t>(TiffRows::line_samples(page)));
  if (!is_stored_uncompressed(page))
    raw_.resize(static_cast<std::size_t>(page.chunk_bytes(page.cell_height) * page.planes()));
}

TiffChunks::~TiffChunks() = default;

std::int64_t TiffChunks::working_bytes(Bytes file, const TiffPage& page) {
  constexpr std::int64_t kOwnBytes = 1024;
  const std::int64_t line = 2 * TiffRows::line_samples(page) + kOwnBytes;
  if (is_stored_uncompressed(page)) return line;
  std::size_t turned = 0;
  if (has_reversed_bits(page)) {
    const auto chunks = static_cast<std::size_t>(page.across * page.down * page.planes());
    for (std::size_t i = 0; i < chunks; ++i) turned = std::max(turned, data_bytes(file, page, i));
  }
  const std::int64_t inflate =
      page.compression == TiffCompression::deflate || page.compression == TiffCompression::old_deflate
          ? kInflateBytes
          : 0;
  return line + page.chunk_bytes(page.cell_height) * page.planes() + static_cast<std::int64_t>(turned) +
         inflate + library_bytes(page);
}

std::int64_t TiffChunks::library_bytes(const TiffPage& page) {
  if (page.compression == TiffCompression::zstd) return kZstdReaderBytes;
  return is_for_libtiff(page.compression) ? TiffLibrary::library_bytes(page) : 0;
}

void TiffChunks::decode_cell(std::int64_t cell_row, std::int64_t column, HostView out, TiffDamage& damage) {
  const std::int64_t rows = page_.chunk_rows(cell_row);
  const auto chunk_bytes = static_cast<std::size_t>(page_.chunk_bytes(rows));
  const auto row_bytes = static_cast<std::size_t>(page_.chunk_row_bytes());
  const auto planes = static_cast<std::size_t>(page_.planes());
  std::int64_t whole_rows = out.height;
  for (std::size_t plane = 0; plane < planes; ++plane) {
    const std::span chunk = std::span(raw_).subspan(plane * chunk_bytes, chunk_bytes);
    const std::size_t number = page_.chunk_number(cell_row, column, static_cast<int>(plane));
    whole_rows = std::min(whole_rows, unpack(number, rows, chunk, damage));
  }
  std::vector<const std::byte*> row_of_planes(planes);
  for (std::int64_t y = 0; y < whole_rows; ++y) {
    for (std::size_t plane = 0; plane < planes; ++plane)
      row_of_planes[plane] = raw_.data() + plane * chunk_bytes + static_cast<std::size_t>(y) * row_bytes;
    rows_.convert(row_of_planes, out.width, line_.data(), out.row(y));
  }
  fill_missing(out.rows(whole_rows, out.height - whole_rows));
}

void TiffChunks::decode_rows(std::int64_t first, HostView out) {
  std::vector<const std::byte*> rows(static_cast<std::size_t>(page_.planes()));
  const auto row_bytes = static_cast<std::size_t>(page_.chunk_row_bytes());
  for (std::int64_t y = 0; y < out.height; ++y) {
    const std::int64_t cell_row = (first + y) / page_.cell_height;
    const auto inside = static_cast<std::size_t>((first + y) % page_.cell_height) * row_bytes;
    for (std::int64_t column = 0; column < page_.across; ++column) {
      const std::int64_t x = column * page_.cell_width;
      const std::int64_t pixels = std::min(page_.cell_width, page_.width - x);
      bool whole = true;
      for (std::size_t plane = 0; plane < rows.size(); ++plane) {
        const std::size_t chunk = page_.chunk_number(cell_row, column, static_cast<int>(plane));
        if (data_bytes(file_, page_, chunk) >= inside + row_bytes) {
          rows[plane] = file_.data() + page_.offsets[chunk] + inside;
        } else {
          whole = false;
        }
      }
      std::byte* at = out.row(y) + x * out.channels * bytes_per_sample(out.sample);
      if (whole) {
        rows_.convert(rows, pixels, line_.data(), at);
        continue;
      }
      if (!lenient_) fail_tiff(too_few());
      fill_missing(HostView(at, {pixels, 1, out.channels, out.sample}, 0));
    }
  }
}

TiffDamage TiffChunks::plain_damage() const {
  TiffDamage damage;
  for (int plane = 0; plane < page_.planes(); ++plane) {
    for (std::int64_t cell_row = 0; cell_row < page_.down; ++cell_row) {
      const auto wanted = static_cast<std::size_t>(page_.chunk_bytes(page_.image_rows(cell_row)));
      for (std::int64_t column = 0; column < page_.across; ++column) {
        const std::size_t chunk = page_.chunk_number(cell_row, column, plane);
        if (data_bytes(file_, page_, chunk) < wanted) damage.add({1, chunk, "TIFF: " + too_few()});
      }
    }
  }
  return damage;
}

// Returns the number of valid rows in the chunk.
std::int64_t TiffChunks::unpack(std::size_t chunk, std::int64_t rows, std::span<std::byte> out,
                                TiffDamage& damage) {
  const std::size_t bytes = data_bytes(file_, page_, chunk);
  Bytes data = bytes == 0 ? Bytes() : file_.subspan(page_.offsets[chunk], bytes);
  fault_.clear();
  std::size_t made = 0;
  try {
    if (data.empty()) fail_tiff(page_.tiled ? "a tile has no data" : "a strip has no data");
    if (has_reversed_bits(page_)) {
      turned_.resize(data.size());
      std::ranges::transform(data, turned_.begin(), reversed);
      data = turned_;
    }
    made = unpack_bytes(data, rows, out);
    if (made < out.size() && fault_.empty()) fault_ = "TIFF: " + too_few();
    if (!fault_.empty() && !lenient_) throw Error(ErrorKind::input, fault_);
  } catch (const Error& error) {
    if (!lenient_ || error.kind() != ErrorKind::input) throw;
    fault_ = error.what();
  }
  if (!fault_.empty()) damage.add({1, chunk, fault_});
  return static_cast<std::int64_t>(made / static_cast<std::size_t>(page_.chunk_row_bytes()));
}

// Returns the number of valid bytes in `out`; throws errors or stores them in fault_.
std::size_t TiffChunks::unpack_bytes(Bytes data, std::int64_t rows, std::span<std::byte> out) {
  switch (page_.compression) {
    case TiffCompression::none: {
      const std::size_t taken = std::min(data.size(), out.size());
      std::memcpy(out.data(), data.data(), taken);
      return taken;
    }
    case TiffCompression::packbits:
      return unpack_packbits(data, out);
    case TiffCompression::deflate:
    case TiffCompression::old_deflate:
      return inflate(data, out);
    case TiffCompression::zstd:
      return unpack_zstd(data, out);
    default:
      break;
  }
  if (!unpackers_->library) unpackers_->library = std::make_unique<TiffLibrary>(page_, lenient_);
  unpackers_->library->unpack(data, rows, out);
  fault_ = unpackers_->library->take_warning();
  return out.size();
}

std::size_t TiffChunks::inflate(Bytes data, std::span<std::byte> out) {
  if (!unpackers_->inflater) unpackers_->inflater = std::make_unique<ZlibInflater>();
  ZlibInflater& inflater = *unpackers_->inflater;
  if (inflates_whole(inflater, data, out)) return out.size();
  inflater.restart();
  std::size_t made = 0;
  try {
    while (made < out.size() && !inflater.finished()) {
      const std::span<std::byte> target = out.subspan(made, std::min(kInflatedAtOnce, out.size() - made));
      const std::size_t step = inflater.inflate(data, target);
      made += step;
      if (step < target.size() && !inflater.finished()) break;  // the data has ended
    }
    if (made == out.size()) read_to_stream_end(inflater, data);
  } catch (const Error& error) {
    fault_ = std::string("TIFF: ") + error.what();
  }
  return made;
}

// Reads to the stream's end and checksum. Some writers pack more rows than the image has, so up to a whole
// chunk may follow and is dropped. Like libtiff, ignores any data after that.
void TiffChunks::read_to_stream_end(ZlibInflater& inflater, Bytes data) {
  std::array<std::byte, 4096> rest;
  // One more byte, because reading past the data detects the end.
  auto left = static_cast<std::size_t>(page_.chunk_bytes(page_.cell_height)) + 1;
  while (!inflater.finished() && left > 0) {
    const std::span<std::byte> target = std::span(rest).first(std::min(rest.size(), left));
    const std::size_t step = inflater.inflate(data, target);
    left -= step;
    if (step == target.size() || inflater.finished()) continue;
    fault_ = "TIFF: truncated compressed data";
    return;
  }
}

// Decompresses in one step, so that zstd needs no window besides `out`.
std::size_t TiffChunks::unpack_zstd(Bytes data, std::span<std::byte> out) {
  if (!unpackers_->zstd) unpackers_->zstd.reset(late_zstd::ZSTD_createDCtx());
  if (!unpackers_->zstd) throw std::bad_alloc();
  const std::size_t made = late_zstd::ZSTD_decompressDCtx(unpackers_->zstd.get(), out.data(), out.size(),
                                                          data.data(), data.size());
  if (late_zstd::ZSTD_isError(made) != 0)
    fail_tiff(std::string("zstd: ") + late_zstd::ZSTD_getErrorName(made));
  return made;
}

}  // namespace imgpipe
