// An image to be resized by Pillow's filters on a CUDA device: the arguments of kernels.
#pragma once

#include <algorithm>
#include <cstdint>
#include <utility>

#include "kernels/resize/device_planes.cuh"
#include "kernels/resize/filter_step.cuh"

namespace imgpipe {

template <class T>
struct FilterImage {
  using Weight = FilterWeight<T>;

  ResizePlanes<T> planes;  // in the order of the channels
  int channels = 0;
  // Whether the last channel is alpha, by which the colours are multiplied between reading and writing.
  bool premultiplies = false;
  bool down_first = false;
  FilterPass<Weight> first, second;  // in the order of the passes
  std::int32_t top = 0, bottom = 0;  // rows top .. bottom - 1 of the input are in memory
  FilterTiling tiling;

  // Tiles are numbered along the first axis, then along the second one, then by planes; a tile is a single
  // output sample if no tile fits into shared memory. With `premultiplies`, a tile has all planes.
  std::int64_t first_tiles = 0, second_tiles = 0, tiles = 0;
};

// Describes a call, one of `images` in a launch. Tiles fit into `max_bytes` of shared memory.
template <class T>
FilterImage<T> filter_image(const StageCall<Device>& call, const CudaLaunch& launch, std::int64_t max_bytes,
                            std::size_t images = 1) {
  const Resampling resampling = resampling_of(call.in.type, call.parameters);
  const FilterTables<FilterWeight<T>> tables = filter_tables<FilterWeight<T>>(resampling, call.table.data);
  const auto pass = [](const FilterTable<FilterWeight<T>>& table, std::int64_t begin, std::int64_t out) {
    return FilterPass<FilterWeight<T>>{table, static_cast<std::int32_t>(begin),
                                       static_cast<std::int32_t>(out)};
  };
  FilterImage<T> image;
  image.planes = resize_planes_of<T>(call);
  image.channels = call.in.type.channels();
  image.premultiplies = imgpipe::premultiplies(call.in.type, resampling);
  image.down_first = down_first(resampling);
  image.first = pass(tables.across, 0, call.out.type.width);
  image.second = pass(tables.down, call.out_top, call.out.planes[0].height);
  FilterWork work{{resampling.across.in, resampling.across.out, image.first.out, tables.across.window},
                  {resampling.down.in, resampling.down.out, image.second.out, tables.down.window},
                  kFilterSizes<T>,
                  image.channels * static_cast<std::int64_t>(images),
                  launch.multiprocessors};
  if (image.down_first) {
    std::swap(image.first, image.second);
    std::swap(work.first, work.second);
  }
  image.top = static_cast<std::int32_t>(call.in_top);
  image.bottom = static_cast<std::int32_t>(call.in_top + call.in.planes[0].height);
  image.tiling = filter_tiling(work, max_bytes);
  const auto tiles_of = [](std::int64_t outputs, int each) { return (outputs + each - 1) / each; };
  image.first_tiles = tiles_of(image.first.out, std::max(image.tiling.columns, 1));
  image.second_tiles = tiles_of(image.second.out, std::max(image.tiling.rows, 1));
  image.tiles = image.first_tiles * image.second_tiles * (image.premultiplies ? 1 : image.channels);
  return image;
}

// The position of a tile.
struct FilterPosition {
  int first, second;            // numbers of its first outputs
  int first_channel, channels;  // the planes that it processes

  template <class T>
  __device__ FilterPosition(const FilterImage<T>& image, std::int64_t tile) {
    const std::int64_t line = tile / image.first_tiles;
    const std::int64_t plane = line / image.second_tiles;
    first = static_cast<int>(tile - line * image.first_tiles) * max(image.tiling.columns, 1);
    second = static_cast<int>(line - plane * image.second_tiles) * max(image.tiling.rows, 1);
    first_channel = image.premultiplies ? image.channels - 1 : static_cast<int>(plane);
    channels = image.premultiplies ? image.channels : 1;
  }
  // Returns plane i of the tile. Alpha comes first: the others are divided by its result.
  __device__ int channel(int i) const { return i == 0 ? first_channel : i - 1; }
};

}  // namespace imgpipe
