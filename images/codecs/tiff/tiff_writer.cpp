// TIFF 6.0 in strips or tiles, each packed by itself, in any order and on any thread. Their sizes follow from
// the image's shape alone, so the bytes are the same for every number of threads. BigTIFF where the file
// might be larger than 4 GB, which is known before the first row.
//
//   header  directory  its values  strips or tiles, row by row
//
// A page of a stack is the same without the header, and ends at an even byte, where the next one begins.
#include <algorithm>
#include <limits>
#include <mutex>
#include <utility>

#include "images/codecs/codec_parts.h"
#include "images/codecs/mark.h"
#include "images/codecs/metadata/metadata.h"
#include "images/codecs/pages.h"
#include "images/codecs/tiff/tiff_codec.h"
#include "images/codecs/tiff/tiff_fields.h"
#include "images/codecs/tiff/tiff_metadata.h"
#include "images/codecs/tiff/tiff_packer.h"
#include "images/codecs/tiff/tiff_page.h"
#include "images/error.h"

namespace imgpipe {
namespace {

// Unpacked bytes of a strip: long against deflate's window, short enough for sharing out.
constexpr std::int64_t kStripBytes = std::int64_t{1} << 19;
constexpr std::int64_t kMostClassicBytes = std::numeric_limits<std::uint32_t>::max();

class TiffWriter final : public Writer {
 public:
  TiffWriter(std::int64_t most_classic_bytes, Shape shape, const EncodeOptions& options)
      : shape_(shape),
        packing_(options.tiff_packing),
        level_(options.png_level),
        mark_(options.mark),
        metadata_(options.metadata),
        in_stack_(options.in_stack) {
    tiled_ = options.tiff_tile > 0;
    cell_width_ = tiled_ ? options.tiff_tile : shape.width;
    cell_height_ = tiled_ ? options.tiff_tile
                          : std::clamp<std::int64_t>(kStripBytes / shape.row_bytes(), 1, shape.height);
    across_ = (shape.width + cell_width_ - 1) / cell_width_;
    down_ = (shape.height + cell_height_ - 1) / cell_height_;
    big_ = in_stack_ ? in_stack_->big : most_file_bytes() > most_classic_bytes;
  }

  // With the metadata that it was given.
  [[nodiscard]] std::int64_t most_file_bytes() const { return chunks() * most_chunk_bytes() + front_bytes(); }

  [[nodiscard]] std::int64_t strip_rows() const noexcept override {
    return std::min(cell_height_, shape_.height);
  }

  void write_strip(std::int64_t first, ConstHostView rows) override {
    if (first < 0 || first >= shape_.height || first % cell_height_ != 0 || rows.height != rows_from(first) ||
        rows.width != shape_.width || rows.channels != shape_.channels || rows.sample != shape_.sample)
      throw Error(ErrorKind::usage, "write_strip: the rows are no strip of the image");
    TiffPacker packer = take_packer();
    std::vector<std::vector<std::byte>> packed;
    packed.reserve(static_cast<std::size_t>(across_));
    const std::int64_t pixel_bytes = shape_.channels * sample_bytes(shape_.sample);
    for (std::int64_t x = 0; x < shape_.width; x += cell_width_) {
      const ConstHostView cell(
          rows.data + x * pixel_bytes,
          {std::min(cell_width_, shape_.width - x), rows.height, rows.channels, rows.sample},
          rows.stride_bytes);
      packed.push_back(packer.pack(cell, cell_width_, tiled_ ? cell_height_ : rows.height));
    }
    const std::lock_guard lock(mutex_);
    if (chunks_.empty()) chunks_.resize(static_cast<std::size_t>(chunks()));
    std::ranges::move(packed, chunks_.begin() + static_cast<std::ptrdiff_t>(first / cell_height_ * across_));
    packers_.push_back(std::move(packer));
  }

  void write_rows(ConstHostView rows) override {
    for (std::int64_t y = 0; y < rows.height;) {
      const std::int64_t first = next_row_ - next_row_ % cell_height_;
      const std::int64_t height = rows_from(first);
      const std::int64_t filled = next_row_ - first;
      const std::int64_t taken = std::min(rows.height - y, height - filled);
      if (taken == height) {
        write_strip(first, rows.rows(y, taken));
      } else {
        if (gathered_.empty()) gathered_ = Image(gathered_shape());
        copy_pixels(rows.rows(y, taken), gathered_.untyped_view().rows(filled, taken));
        if (filled + taken == height)
          write_strip(first, std::as_const(gathered_).untyped_view().rows(0, height));
      }
      y += taken;
      next_row_ += taken;
    }
  }

  // All that was packed stays until the end: the directory in front says where each strip lies.
  [[nodiscard]] std::int64_t working_bytes() const override {
    const std::int64_t list = chunks() * static_cast<std::int64_t>(2 * sizeof(std::vector<std::byte>));
    return chunks() * most_chunk_bytes() + list + 3 * front_bytes() + packer_bytes() +
           gathered_shape().bytes();
  }
  [[nodiscard]] std::int64_t strip_bytes() const override { return packer_bytes(); }
  [[nodiscard]] std::int64_t library_bytes() const override { return TiffPacker::library_bytes(packing_); }

  EncodedFile finish() override {
    gathered_ = Image();
    packers_.clear();
    if (chunks_.empty() || std::ranges::any_of(chunks_, [](const auto& chunk) { return chunk.empty(); }))
      throw Error(ErrorKind::usage, "finish: rows of the image are missing");
    EncodedFile file;
    file.parts.reserve(chunks_.size() + 2);
    file.parts.push_back(front());
    std::ranges::move(chunks_, std::back_inserter(file.parts));
    chunks_.clear();
    if (in_stack_ && file.size_bytes() % 2 != 0) file.parts.emplace_back(1);
    return file;
  }

 private:
  TiffPacker take_packer() {
    const std::lock_guard lock(mutex_);
    if (packers_.empty()) return {packing_, level_};
    TiffPacker packer = std::move(packers_.back());
    packers_.pop_back();
    return packer;
  }

  [[nodiscard]] std::int64_t rows_from(std::int64_t first) const {
    return std::min(cell_height_, shape_.height - first);
  }
  [[nodiscard]] std::int64_t chunks() const { return across_ * down_; }
  [[nodiscard]] std::int64_t chunk_row_bytes() const {
    return Shape{cell_width_, 1, shape_.channels, shape_.sample}.row_bytes();
  }
  [[nodiscard]] std::int64_t most_chunk_bytes() const {
    return TiffPacker::most_bytes(packing_, level_, cell_height_, chunk_row_bytes());
  }
  [[nodiscard]] std::int64_t packer_bytes() const {
    // The chunks of a row of cells are moved in a list.
    return TiffPacker::working_bytes(packing_, level_, cell_height_, chunk_row_bytes()) +
           across_ * static_cast<std::int64_t>(sizeof(std::vector<std::byte>));
  }
  [[nodiscard]] Shape gathered_shape() const {
    return {shape_.width, strip_rows(), shape_.channels, shape_.sample};
  }
  // More than header and directory take.
  [[nodiscard]] std::int64_t front_bytes() const {
    constexpr std::int64_t kMetadataFields = 4096;
    return 1024 + chunks() * 16 + (metadata_ ? 2 * metadata_->bytes() + kMetadataFields : 0);
  }

  [[nodiscard]] std::vector<std::byte> front() const {
    constexpr std::uint16_t kCompressions[] = {1, 8, 32773, 50000};  // by TiffPacking
    const auto values = [](int count, int value) {
      return std::vector(static_cast<std::size_t>(count), static_cast<std::uint16_t>(value));
    };
    TiffFields fields(big_, in_stack_ ? static_cast<std::uint64_t>(in_stack_->at) : 0);
    fields.add_u32(TiffTag::width, static_cast<std::uint32_t>(shape_.width));
    fields.add_u32(TiffTag::height, static_cast<std::uint32_t>(shape_.height));
    fields.add_u16(TiffTag::bits, values(shape_.channels, static_cast<int>(8 * sample_bytes(shape_.sample))));
    fields.add_u16(TiffTag::compression, {kCompressions[static_cast<std::size_t>(packing_)]});
    fields.add_u16(TiffTag::photometric, values(1, shape_.color_channels() == 3 ? 2 : 1));
    const std::size_t count = chunks_.size();
    if (!tiled_) fields.add_offsets(TiffTag::strip_offsets, count);
    fields.add_u16(TiffTag::samples, values(1, shape_.channels));
    if (!tiled_) {
      fields.add_u32(TiffTag::rows_per_strip, static_cast<std::uint32_t>(cell_height_));
      fields.add_offsets(TiffTag::strip_counts, count);
    }
    // Baseline TIFF has a resolution: square pixels of no known size.
    const Resolution resolution = metadata_ && metadata_->resolution ? *metadata_->resolution : Resolution();
    fields.add_rational(TiffTag::x_resolution, resolution.x, resolution.x_of);
    fields.add_rational(TiffTag::y_resolution, resolution.y, resolution.y_of);
    fields.add_u16(TiffTag::planar, {1});
    fields.add_u16(TiffTag::resolution_unit, values(1, 1 + static_cast<int>(resolution.unit)));
    if (mark_ != Mark::none) fields.add_text(TiffTag::software, mark_text(mark_));
    if (TiffPacker::predicts(packing_)) fields.add_u16(TiffTag::predictor, {2});
    if (tiled_) {
      fields.add_u32(TiffTag::tile_width, static_cast<std::uint32_t>(cell_width_));
      fields.add_u32(TiffTag::tile_height, static_cast<std::uint32_t>(cell_height_));
      fields.add_offsets(TiffTag::tile_offsets, count);
      fields.add_offsets(TiffTag::tile_counts, count);
    }
    if (shape_.has_alpha()) fields.add_u16(TiffTag::extra_samples, {2});  // not multiplied into the colours
    if (metadata_) add_tiff_metadata(fields, *metadata_, big_);
    set_places(fields);
    return fields.build();
  }

  void set_places(TiffFields& fields) const {
    std::vector<std::uint64_t> numbers;
    numbers.reserve(chunks_.size());
    std::uint64_t at = fields.end();
    for (const std::vector<std::byte>& chunk : chunks_) {
      numbers.push_back(at);
      at += chunk.size();
    }
    if (in_stack_ && !in_stack_->last) fields.set_next((at + 1) / 2 * 2);
    if (in_stack_ && !big_ && at >= static_cast<std::uint64_t>(kMostClassicBytes))
      throw Error(ErrorKind::usage, "the stack has more than 4 GB, which was not foreseen");
    fields.set_offsets(tiled_ ? TiffTag::tile_offsets : TiffTag::strip_offsets, numbers);
    std::ranges::transform(chunks_, numbers.begin(), [](const auto& chunk) { return chunk.size(); });
    fields.set_offsets(tiled_ ? TiffTag::tile_counts : TiffTag::strip_counts, numbers);
  }

  Shape shape_;
  TiffPacking packing_;
  int level_;
  Mark mark_;
  std::shared_ptr<const Metadata> metadata_;
  std::shared_ptr<const PlaceInStack> in_stack_;
  bool tiled_ = false;
  bool big_ = false;
  std::int64_t cell_width_ = 1, cell_height_ = 1;
  std::int64_t across_ = 1, down_ = 1;
  std::mutex mutex_;                            // of the next two
  std::vector<std::vector<std::byte>> chunks_;  // packed, or empty
  std::vector<TiffPacker> packers_;
  Image gathered_;  // rows of write_rows() that make no strip yet
  std::int64_t next_row_ = 0;
};

}  // namespace

std::unique_ptr<Writer> make_tiff_writer_up_to(std::int64_t most_classic_bytes, Shape shape,
                                               const EncodeOptions& options) {
  if (options.tiff_tile != 0 &&
      (options.tiff_tile < 16 || options.tiff_tile > 4096 || options.tiff_tile % 16 != 0))
    throw Error(ErrorKind::usage, "tiles of a TIFF have a side of 16 to 4096 pixels, a multiple of 16");
  if (shape.width > kMostSide || shape.height > kMostSide)
    throw Error(ErrorKind::usage, "tiff holds at most 2147483647 pixels a side");
  return std::make_unique<TiffWriter>(most_classic_bytes, shape, options);
}

std::int64_t most_tiff_page_bytes(Shape shape, const EncodeOptions& options) {
  return TiffWriter(kMostClassicBytes, shape, options).most_file_bytes() + 1;
}

std::unique_ptr<Writer> make_tiff_writer(Shape shape, const EncodeOptions& options) {
  return make_tiff_writer_up_to(kMostClassicBytes, shape, options);
}

}  // namespace imgpipe
