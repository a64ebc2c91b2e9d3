// Plans a group's device memory.
#include "kernels/png/encoding.h"

#include <algorithm>
#include <bit>
#include <cstring>

#include "kernels/shared/device_layout.h"

namespace imgpipe {

using namespace png_strips;

namespace {

std::uint32_t blocks_of(std::uint64_t threads, std::uint32_t block) {
  return static_cast<std::uint32_t>((threads + block - 1) / block);
}

PngImage picture_of_task(const PngEncodingTask& task) {
  PngImage picture{};
  picture.pixels = task.pixels.data;
  picture.stride = task.pixels.stride;
  picture.row_bytes = static_cast<std::uint32_t>(task.pixels.row_samples());
  picture.height = static_cast<std::uint32_t>(task.pixels.height);
  picture.channels = static_cast<std::uint32_t>(task.pixels.channels);
  picture.strip_rows = static_cast<std::uint32_t>(std::min(task.strip_rows, task.pixels.height));
  picture.tiles_per_strip = picture.tiles_of(0);
  picture.segments_per_row = blocks_of(picture.row_bytes, kSegmentBytes);
  // Each lane has at least two vectors of 16 bytes, if the row is long enough.
  const std::uint32_t vectors = blocks_of(std::min(picture.row_bytes, kSegmentBytes), 16);
  picture.lanes_per_segment = std::clamp(std::bit_floor(vectors / 2), 1U, 32U);
  const auto cells = static_cast<std::uint32_t>(repeat_cells(picture.bytes_of(0)));
  picture.cell_blocks_per_strip = blocks_of(cells, kBlockCells);
  picture.hash_slots = cells == 0 ? 0 : std::bit_ceil(2 * cells);
  picture.strip_pitch = rounded_up(picture.bytes_of(0), 256);
  return picture;
}

}  // namespace

PngEncoding::PngEncoding(const std::vector<PngEncodingTask>& tasks) {
  std::uint64_t rows = 0;
  std::uint64_t sums = 0;
  std::uint64_t hashes = 0;
  std::uint64_t filtered = 0;
  std::uint64_t output = 0;
  for (const PngEncodingTask& task : tasks) {
    PngImage picture = picture_of_task(task);
    const std::uint32_t strips = picture.strips();
    picture.first_strip = layout_.strips;
    picture.first_tile = layout_.tiles;
    picture.first_choose_block = layout_.choose_blocks;
    picture.first_cell_block = layout_.cell_blocks;
    picture.first_row = rows;
    picture.first_sum = sums;
    picture.first_hash = hashes;
    picture.filtered = filtered;
    layout_.strips += strips;
    layout_.tiles += (strips - 1) * picture.tiles_per_strip + picture.tiles_of(strips - 1);
    layout_.choose_blocks += blocks_of(
        std::uint64_t{picture.height} * picture.segments_per_row * picture.lanes_per_segment, kChooseThreads);
    layout_.cell_blocks += strips * picture.cell_blocks_per_strip;
    rows += picture.height;
    if (picture.segments_per_row > 1) sums += picture.height;
    hashes += std::uint64_t{2} * strips * picture.hash_slots;
    filtered += strips * picture.strip_pitch;
    // Strips returned as filtered rows are no larger than stored ones.
    output += strips * rounded_up(stored_bytes(picture.bytes_of(0)), kStripAlignment);
    pictures_.push_back(picture);
  }
  DeviceLayout positions;
  memory_.upload_bytes = pictures_.size() * sizeof(PngImage);
  positions.take(memory_.upload_bytes);
  layout_.sums = layout_.zeroed = positions.take(sums * sizeof(RowSums));
  layout_.windows = positions.take(layout_.strips * sizeof(StripWindows));
  layout_.hashes = positions.take(hashes * sizeof(std::uint64_t));
  layout_.zeroed_bytes = positions.end() - layout_.zeroed;
  layout_.types = positions.take(rows);
  layout_.tile_states = positions.take(layout_.tiles * sizeof(TileState));
  layout_.strip_states = positions.take(layout_.strips * sizeof(StripState));
  memory_.results_bytes = layout_.strips * sizeof(StripResult);
  memory_.results_offset = layout_.results = positions.take(memory_.results_bytes);
  layout_.filtered = positions.take(filtered);
  layout_.output = positions.take(output);
  memory_.bytes = positions.end();
}

void PngEncoding::write_upload(std::byte* to) const {
  if (!pictures_.empty()) std::memcpy(to, pictures_.data(), memory_.upload_bytes);
}

Group PngEncoding::group(std::byte* memory) const {
  const auto at = [memory]<class T>(std::size_t offset, T*& to) {
    to = reinterpret_cast<T*>(memory + offset);
  };
  Group group{};
  at(0, group.pictures);
  group.count = static_cast<std::uint32_t>(pictures_.size());
  group.strips = layout_.strips;
  group.tiles = layout_.tiles;
  group.choose_blocks = layout_.choose_blocks;
  group.cell_blocks = layout_.cell_blocks;
  at(layout_.sums, group.sums);
  at(layout_.windows, group.windows);
  at(layout_.hashes, group.hashes);
  at(layout_.types, group.types);
  at(layout_.tile_states, group.tile_states);
  at(layout_.strip_states, group.strip_states);
  at(layout_.results, group.results);
  at(layout_.filtered, group.filtered);
  at(layout_.output, group.output);
  return group;
}

std::vector<PngEncoding::Strip> PngEncoding::strips(std::size_t image, const std::byte* results) const {
  const PngImage& picture = pictures_[image];
  std::vector<Strip> strips(picture.strips());
  for (std::size_t i = 0; i < strips.size(); ++i) {
    StripResult made;
    std::memcpy(&made, results + (picture.first_strip + i) * sizeof(made), sizeof(made));
    strips[i] = {layout_.output + static_cast<std::size_t>(made.position),
                 static_cast<std::size_t>(made.bytes), made.adler, made.filtered != 0};
  }
  return strips;
}

}  // namespace imgpipe
