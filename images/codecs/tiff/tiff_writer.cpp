// Writes TIFF 6.0 in strips or tiles, compressed independently, in any order and on any thread. Their sizes
// depend on the image's shape only, so the bytes do not depend on the number of threads. Writes BigTIFF if
// the file might exceed 4 GB, which is known before the first row.
//
//   header  directory  its values  strips or tiles, row by row
//
// The size of header, directory and values is known before the first row, so compressed chunks can be taken
// early; the chunk offsets and sizes follow as a patch. A page of a stack has no header and ends at an even
// offset, where the next one begins. Of the planes of an image, the first reserves the front and the last one
// fills it; each has a writer of its own.
#include <algorithm>
#include <limits>
#include <mutex>
#include <numeric>
#include <utility>

#include "images/codecs/codec_parts.h"
#include "images/codecs/mark.h"
#include "images/codecs/metadata/metadata.h"
#include "images/codecs/pages.h"
#include "images/codecs/strip_writer.h"
#include "images/codecs/tiff/tiff_codec.h"
#include "images/codecs/tiff/tiff_fields.h"
#include "images/codecs/tiff/tiff_metadata.h"
#include "images/codecs/tiff/tiff_packer.h"
#include "images/codecs/tiff/tiff_page.h"
#include "images/error.h"

namespace imgpipe {
namespace {

// Uncompressed bytes per strip: large compared with deflate's window, small enough to distribute over
// threads.
constexpr std::int64_t kStripBytes = std::int64_t{1} << 19;
constexpr std::int64_t kMaxClassicBytes = std::numeric_limits<std::uint32_t>::max();

class TiffWriter final : public StripWriter {
 public:
  TiffWriter(std::int64_t max_classic_bytes, Shape shape, const EncodeOptions& options)
      : StripWriter(shape, std::min(shape.height, cell_height_of(shape, options))),
        packing_(options.tiff_packing),
        level_(options.png_level),
        mark_(options.mark),
        metadata_(options.metadata),
        in_stack_(options.in_stack),
        planes_(in_stack_ ? in_stack_->planes : nullptr),
        tiled_(options.tiff_tile > 0),
        cell_width_(tiled_ ? options.tiff_tile : shape.width),
        cell_height_(cell_height_of(shape, options)),
        across_((shape.width + cell_width_ - 1) / cell_width_) {
    big_ = in_stack_ ? in_stack_->big : max_file_bytes() > max_classic_bytes;
  }

  // Includes the metadata.
  [[nodiscard]] std::int64_t max_file_bytes() const { return chunks() * max_chunk_bytes() + front_bytes(); }

  [[nodiscard]] std::int64_t working_bytes() const override {
    return chunks() * max_chunk_bytes() + working_bytes_beside_chunks() + packer_bytes();
  }
  [[nodiscard]] std::int64_t working_bytes_when_taken(std::int64_t) const override {
    return working_bytes_beside_chunks() + strip_bytes();
  }
  [[nodiscard]] std::int64_t strip_bytes() const override {
    return packer_bytes() + across_ * max_chunk_bytes();
  }
  [[nodiscard]] std::int64_t library_bytes() const override { return TiffPacker::library_bytes(packing_); }

  EncodedFile take_finished() override {
    const std::lock_guard lock(mutex_);
    EncodedFile file;
    if (!chunks_.empty()) take_chunks(file);
    return file;
  }

  EncodedFile finish() override {
    drop_gathered();
    packers_.clear();
    EncodedFile file;
    const bool patched = next_to_take_ > 0 || planes_ != nullptr;
    if (!chunks_.empty()) take_chunks(file);
    if (next_to_take_ == 0 || next_to_take_ < chunks_.size())
      throw Error(ErrorKind::usage, "finish: rows of the image are missing");
    if (planes_) {
      planes_->chunk_bytes.insert(planes_->chunk_bytes.end(), sizes_.begin(), sizes_.end());
      sizes_ = planes_->chunk_bytes;
    }
    if (planes_ && !in_stack_->last) {
      // The last plane writes the front.
    } else if (patched) {
      file.patches.push_back({.at = 0, .bytes = front()});
    } else {
      file.parts.front() = front();
    }
    chunks_.clear();
    if (in_stack_ && !planes_ && page_bytes() % 2 != 0) file.parts.emplace_back(1);
    return file;
  }

 protected:
  void encode_strip(std::int64_t first, ConstHostView rows) override {
    TiffPacker packer = packers_.take([&] { return TiffPacker(packing_, level_); });
    std::vector<std::vector<std::byte>> packed;
    packed.reserve(static_cast<std::size_t>(across_));
    const std::int64_t pixel_bytes = shape().channels * bytes_per_sample(shape().sample);
    for (std::int64_t x = 0; x < shape().width; x += cell_width_) {
      const ConstHostView cell(
          rows.data + x * pixel_bytes,
          {std::min(cell_width_, shape().width - x), rows.height, rows.channels, rows.sample},
          rows.stride_bytes);
      packed.push_back(packer.pack(cell, cell_width_, tiled_ ? cell_height_ : rows.height));
    }
    packers_.give_back(std::move(packer));
    const std::lock_guard lock(mutex_);
    if (chunks_.empty()) {
      chunks_.resize(static_cast<std::size_t>(chunks()));
      sizes_.resize(chunks_.size());
    }
    auto chunk = static_cast<std::size_t>(first / cell_height_ * across_);
    for (std::vector<std::byte>& one : packed) {
      sizes_[chunk] = one.size();
      chunks_[chunk++] = std::move(one);
    }
  }

 private:
  static std::int64_t cell_height_of(const Shape& shape, const EncodeOptions& options) {
    return options.tiff_tile > 0 ? options.tiff_tile
                                 : std::clamp<std::int64_t>(kStripBytes / shape.row_bytes(), 1, shape.height);
  }

  // Moves compressed chunks into `file` in order; before the first, reserves the front for finish().
  void take_chunks(EncodedFile& file) {
    if (next_to_take_ == 0 && !chunks_.front().empty()) reserve_front(file);
    for (; next_to_take_ < chunks_.size() && !chunks_[next_to_take_].empty(); ++next_to_take_)
      file.parts.push_back(std::move(chunks_[next_to_take_]));
  }

  void reserve_front(EncodedFile& file) const {
    const std::size_t bytes = fields().size_bytes();
    if (planes_ && !planes_->chunk_bytes.empty()) return;
    if (planes_) planes_->front_bytes = bytes;
    file.parts.emplace_back(bytes);
  }

  [[nodiscard]] std::int64_t chunks() const { return across_ * strip_count(); }
  // The number of planes of the image that the file describes.
  [[nodiscard]] std::int64_t planes() const { return planes_ ? planes_->count : 1; }
  [[nodiscard]] std::int64_t chunk_row_bytes() const {
    return Shape{cell_width_, 1, shape().channels, shape().sample}.row_bytes();
  }
  [[nodiscard]] std::int64_t max_chunk_bytes() const {
    return TiffPacker::max_bytes(packing_, cell_height_, chunk_row_bytes());
  }
  [[nodiscard]] std::int64_t packer_bytes() const {
    // A row of cells is moved in a list of chunks.
    return TiffPacker::working_bytes(packing_, level_, cell_height_, chunk_row_bytes()) +
           across_ * static_cast<std::int64_t>(sizeof(std::vector<std::byte>));
  }
  // An upper bound for header and directory.
  [[nodiscard]] std::int64_t front_bytes() const {
    constexpr std::int64_t kMetadataFields = 4096;
    constexpr std::int64_t kPlaneFields = 8;
    return 1024 + planes() * (chunks() * 16 + kPlaneFields) +
           (metadata_ ? 2 * metadata_->bytes() + kMetadataFields : 0);
  }
  [[nodiscard]] std::int64_t working_bytes_beside_chunks() const {
    constexpr auto kListed = static_cast<std::int64_t>(3 * sizeof(std::vector<std::byte>));
    return chunks() * kListed + 3 * front_bytes() + gathered_bytes();
  }

  // The size of directory, values and chunks, once all are compressed.
  [[nodiscard]] std::uint64_t page_bytes() const {
    return std::accumulate(sizes_.begin(), sizes_.end(), std::uint64_t{fields().size_bytes()});
  }

  [[nodiscard]] std::vector<std::byte> front() const {
    TiffFields all = fields();
    if (planes_ && all.size_bytes() != planes_->front_bytes)
      throw Error(ErrorKind::usage, "the planes of the image differ in shape or metadata");
    set_places(all);
    return all.build();
  }

  // Returns the directory's fields; the offsets and sizes of chunks are still 0.
  [[nodiscard]] TiffFields fields() const {
    constexpr std::uint16_t kCompressions[] = {1, 8, 32773, 50000, 5};  // by TiffPacking
    const auto values = [](int count, int value) {
      return std::vector(static_cast<std::size_t>(count), static_cast<std::uint16_t>(value));
    };
    TiffFields fields(big_, in_stack_ ? static_cast<std::uint64_t>(in_stack_->at) : 0);
    fields.add_u32(TiffTag::width, static_cast<std::uint32_t>(shape().width));
    fields.add_u32(TiffTag::height, static_cast<std::uint32_t>(shape().height));
    const int samples = shape().channels * static_cast<int>(planes());
    fields.add_u16(TiffTag::bits, values(samples, static_cast<int>(8 * bytes_per_sample(shape().sample))));
    fields.add_u16(TiffTag::compression, {kCompressions[static_cast<std::size_t>(packing_)]});
    fields.add_u16(TiffTag::photometric, values(1, shape().color_channels() == 3 ? 2 : 1));
    const auto count = static_cast<std::size_t>(planes() * chunks());
    if (!tiled_) fields.add_offsets(TiffTag::strip_offsets, count);
    fields.add_u16(TiffTag::samples, values(1, samples));
    if (!tiled_) {
      fields.add_u32(TiffTag::rows_per_strip, static_cast<std::uint32_t>(cell_height_));
      fields.add_offsets(TiffTag::strip_counts, count);
    }
    // Baseline TIFF requires a resolution; the default is square pixels of unknown size.
    const Resolution resolution = metadata_ && metadata_->resolution ? *metadata_->resolution : Resolution();
    fields.add_rational(TiffTag::x_resolution, resolution.x, resolution.x_of);
    fields.add_rational(TiffTag::y_resolution, resolution.y, resolution.y_of);
    fields.add_u16(TiffTag::planar, values(1, planes() > 1 ? 2 : 1));
    fields.add_u16(TiffTag::resolution_unit, values(1, 1 + static_cast<int>(resolution.unit)));
    if (mark_ != Mark::none) fields.add_text(TiffTag::software, mark_text(mark_));
    if (TiffPacker::predicts(packing_))
      fields.add_u16(TiffTag::predictor, values(1, is_float(shape().sample) ? 3 : 2));
    if (tiled_) {
      fields.add_u32(TiffTag::tile_width, static_cast<std::uint32_t>(cell_width_));
      fields.add_u32(TiffTag::tile_height, static_cast<std::uint32_t>(cell_height_));
      fields.add_offsets(TiffTag::tile_offsets, count);
      fields.add_offsets(TiffTag::tile_counts, count);
    }
    if (shape().has_alpha()) fields.add_u16(TiffTag::extra_samples, {2});              // not premultiplied
    if (planes() > 1) fields.add_u16(TiffTag::extra_samples, values(samples - 1, 0));  // unspecified
    if (is_float(shape().sample)) fields.add_u16(TiffTag::sample_format, values(samples, 3));
    if (metadata_) add_tiff_metadata(fields, *metadata_, big_);
    return fields;
  }

  void set_places(TiffFields& fields) const {
    std::vector<std::uint64_t> offsets;
    offsets.reserve(sizes_.size());
    std::uint64_t at = fields.end();
    for (const std::uint64_t size : sizes_) {
      offsets.push_back(at);
      at += size;
    }
    if (in_stack_ && !in_stack_->last) fields.set_next((at + 1) / 2 * 2);
    if (in_stack_ && !big_ && at >= static_cast<std::uint64_t>(kMaxClassicBytes))
      throw Error(ErrorKind::usage,
                  "the stack unexpectedly exceeds 4 GB; write it in parts with --pages A-B");
    fields.set_offsets(tiled_ ? TiffTag::tile_offsets : TiffTag::strip_offsets, offsets);
    fields.set_offsets(tiled_ ? TiffTag::tile_counts : TiffTag::strip_counts, sizes_);
  }

  TiffPacking packing_;
  int level_;
  Mark mark_;
  std::shared_ptr<const Metadata> metadata_;
  std::shared_ptr<const StackPosition> in_stack_;
  std::shared_ptr<WrittenPlanes> planes_;  // in_stack_->planes
  bool tiled_;
  bool big_ = false;
  std::int64_t cell_width_, cell_height_;
  std::int64_t across_;
  std::mutex mutex_;                            // guards the next three members
  std::vector<std::vector<std::byte>> chunks_;  // compressed; empty before, and after they are taken
  std::vector<std::uint64_t> sizes_;            // of the chunks
  std::size_t next_to_take_ = 0;
  Workers<TiffPacker> packers_;
};

}  // namespace

std::unique_ptr<Writer> make_tiff_writer_up_to(std::int64_t max_classic_bytes, Shape shape,
                                               const EncodeOptions& options) {
  if (options.tiff_tile != 0 &&
      (options.tiff_tile < 16 || options.tiff_tile > 4096 || options.tiff_tile % 16 != 0))
    throw Error(ErrorKind::usage, "the side of TIFF tiles must be a multiple of 16 from 16 to 4096, got " +
                                      std::to_string(options.tiff_tile));
  if (shape.width > kMaxSide || shape.height > kMaxSide)
    throw Error(ErrorKind::usage, "tiff is limited to 2147483647 pixels per side");
  return std::make_unique<TiffWriter>(max_classic_bytes, shape, options);
}

std::int64_t max_tiff_page_bytes(Shape shape, const EncodeOptions& options) {
  return TiffWriter(kMaxClassicBytes, shape, options).max_file_bytes() + 1;
}

std::unique_ptr<Writer> make_tiff_writer(Shape shape, const EncodeOptions& options) {
  return make_tiff_writer_up_to(kMaxClassicBytes, shape, options);
}

}  // namespace imgpipe
