// Resizes a tile of an image by Pillow's filters, both passes in shared memory.
#pragma once

#include <cstddef>
#include <cstdint>

#include "kernels/resize/filter_image.cuh"

namespace imgpipe {

// Walks a block's threads over the cells of a grid, row by row.
class FilterCells {
 public:
  __device__ explicit FilterCells(int columns)
      : columns_(columns),
        row_(static_cast<int>(threadIdx.x) / columns),
        column_(static_cast<int>(threadIdx.x) - row_ * columns),
        row_step_(kFilterThreads / columns),
        column_step_(kFilterThreads - row_step_ * columns) {}
  __device__ int row() const { return row_; }
  __device__ int column() const { return column_; }
  __device__ void next() {
    row_ += row_step_;
    column_ += column_step_;
    if (column_ >= columns_) {
      column_ -= columns_;
      ++row_;
    }
  }

 private:
  int columns_, row_, column_, row_step_, column_step_;
};

// A block of kFilterThreads threads makes a tile (kernels/resize/filter_tiling.h). Shared memory holds:
//
//   staged          [quads][pitch] input samples of each quad of lines, as units
//   middle          [quads of the tile][columns] results of the first pass, as units for the second one
//   first_weights   [steps][columns]
//   second_weights  [rows][steps]
//   starts          the unit of staged and of middle at which the taps of each column and row start
template <class T>
class FilterTile {
 public:
  __device__ FilterTile(const FilterImage<T>& image, std::int64_t number, std::byte* shared)
      : image_(image),
        tiling_(image.tiling),
        position_(image, number),
        columns_(min(image.first.out - position_.first, tiling_.columns)),
        rows_(min(image.second.out - position_.second, tiling_.rows)),
        first_base_(image.first.first(position_.first) / kFilterLines * kFilterLines),
        second_base_(image.second.first(position_.second) / kFilterLines * kFilterLines),
        staged_(reinterpret_cast<Unit*>(shared)),
        middle_(reinterpret_cast<Unit*>(shared + tiling_.middle_at)),
        first_weights_(reinterpret_cast<Weights*>(shared + tiling_.first_weights_at)),
        second_weights_(reinterpret_cast<Weights*>(shared + tiling_.second_weights_at)),
        starts_(reinterpret_cast<int*>(shared + tiling_.starts_at)) {}

  // Barriers of each iteration: the weights and the staged units are complete; all threads have read the
  // units, and `middle` is complete. The next plane overwrites `middle` after its first barrier, the next
  // tile overwrites the weights after the caller's barrier.
  __device__ void make() {
    pack(image_.first, position_.first, columns_, first_base_, tiling_.columns, tiling_.first_steps,
         first_weights_, 1, tiling_.columns, starts_);
    pack(image_.second, position_.second, rows_, second_base_, tiling_.rows, tiling_.second_steps,
         second_weights_, tiling_.second_steps, 1, starts_ + tiling_.columns);
    const int last = position_.second + rows_ - 1;
    const int lines = image_.second.first(last) + image_.second.count(last) - second_base_;
    const int quads = (lines + kFilterLines - 1) / kFilterLines;
    for (int i = 0; i < position_.channels; ++i) {
      const int channel = position_.channel(i);
      for (int quad = 0; quad < quads; quad += tiling_.quads) {
        const int count = min(quads - quad, tiling_.quads);
        stage(channel, quad, count);
        __syncthreads();
        pass_first(quad, count);
        __syncthreads();
      }
      pass_second(channel);
    }
  }

 private:
  using Step = FilterStep<T>;
  using Unit = typename Step::Unit;
  using Weights = typename Step::Weights;
  using Sum = typename Step::Sum;
  using Four = FourSamples<T>;

  // Packs the weights of `count` outputs, and of `slots` - count that have none.
  __device__ static void pack(const FilterPass<FilterWeight<T>>& pass, int from, int count, int base,
                              int slots, int steps, Weights* weights, int slot_stride, int step_stride,
                              int* starts) {
    for (FilterCells at(slots); at.row() < steps; at.next()) {
      const int step = at.row();
      const int slot = at.column();
      const int start = slot < count ? pass.first(from + slot) - base : 0;
      weights[slot * slot_stride + step * step_stride] =
          slot < count ? Step::weights(pass, from + slot, step * Step::kTaps - start % Step::kTaps)
                       : Weights{};
      if (step == 0) starts[slot] = start / Step::kTaps;
    }
  }

  // Stages `count` quads of lines: a thread reads four samples of each of four rows. Samples outside the
  // image or outside memory have no weight.
  template <bool Multiply>
  __device__ void stage(const Plane<const T, Device>& from, const Plane<const T, Device>& alpha, int quad,
                        int count) {
    for (FilterCells at(tiling_.pitch / kFilterLines); at.row() < count; at.next()) {
      const int along = first_base_ + at.column() * kFilterLines;
      const int line = second_base_ + (quad + at.row()) * kFilterLines;
      const int x = image_.down_first ? line : along;
      const int y = image_.down_first ? along : line;
      const int first_row = x < from.width ? image_.top - y : kFilterLines;
      const int end_row = image_.bottom - y;
      const T* row = from.row(y) + x;
      const T* alpha_row = alpha.row(y) + x;
      Four rows[kFilterLines]{};
#pragma unroll
      for (int k = 0; k < kFilterLines; ++k) {
        if (k >= first_row && k < end_row) {
          rows[k] = load_four(row);
          if (Multiply) rows[k] = premultiplied(rows[k], load_four(alpha_row));
        }
        row += from.stride;
        alpha_row += alpha.stride;
      }
      Step::stage(rows, image_.down_first,
                  staged_ + (at.row() * tiling_.pitch + at.column() * kFilterLines) / Step::kTaps);
    }
  }
  __device__ void stage(int channel, int quad, int count) {
    const Plane<const T, Device>& from = image_.planes.in[channel];
    if (!kIsWide<T> && is_multiplied(channel)) {
      stage<true>(from, image_.planes.in[position_.first_channel], quad, count);
    } else {
      stage<false>(from, from, quad, count);
    }
  }
  __device__ bool is_multiplied(int channel) const {
    return image_.premultiplies && channel != position_.first_channel;
  }

  // A warp computes 32 columns of two staged quads of lines.
  __device__ void pass_first(int quad, int count) {
    const int pitch = tiling_.pitch / Step::kTaps;
    const int lane = static_cast<int>(threadIdx.x) % kFilterColumnGroup;
    const int items = (count + 1) / 2 << tiling_.group_bits;
    for (int item = static_cast<int>(threadIdx.x) / kFilterColumnGroup; item < items;
         item += kFilterThreads / kFilterColumnGroup) {
      const int pair = (item >> tiling_.group_bits) * 2;
      const int column = (item & ((1 << tiling_.group_bits) - 1)) * kFilterColumnGroup + lane;
      const Unit* from = staged_ + pair * pitch + starts_[column];
      const Weights* weights = first_weights_ + column;
      Sum upper[kFilterLines];
      Sum lower[kFilterLines];
#pragma unroll 2
      for (int step = 0; step < tiling_.first_steps; ++step) {
        const Weights weight = weights[step * tiling_.columns];
        Step::add(upper, from[step], weight);
        Step::add(lower, from[pitch + step], weight);
      }
      Step::put(Step::samples(upper), middle_, quad + pair, column, tiling_.columns);
      Step::put(Step::samples(lower), middle_, quad + pair + 1, column, tiling_.columns);
    }
  }

  // A thread computes four adjacent columns of a row.
  __device__ void pass_second(int channel) {
    const int fours = tiling_.columns / kFilterLines;
    for (FilterCells at(fours); at.row() < rows_; at.next()) {
      const int column = at.column() * kFilterLines;
      if (column >= columns_) continue;
      const Unit* from = middle_ + starts_[tiling_.columns + at.row()] * fours + at.column();
      const Weights* weights = second_weights_ + at.row() * tiling_.second_steps;
      Sum sums[kFilterLines];
#pragma unroll 2
      for (int step = 0; step < tiling_.second_steps; ++step)
        Step::add(sums, from[step * fours], weights[step]);
      store(channel, column, at.row(), Step::samples(sums));
    }
  }

  // Stores four outputs, which are in a row, or in a column if the pass down the columns was the first one.
  __device__ void store(int channel, int column, int row, const Four& four) {
    const int along = position_.first + column;
    const int line = position_.second + row;
    const int x = image_.down_first ? line : along;
    const int y = image_.down_first ? along : line;
    const int count = min(columns_ - column, kFilterLines);
    const Plane<T, Device>& to = image_.planes.out[channel];
    const bool multiplied = is_multiplied(channel);
    if (!multiplied && !image_.down_first) {
      store_four(to.row(y) + x, four, count);
      return;
    }
    const Plane<T, Device>& alpha = image_.planes.out[position_.first_channel];
#pragma unroll
    for (int k = 0; k < kFilterLines; ++k) {
      if (k >= count) break;
      const int x_k = image_.down_first ? x : x + k;
      const int y_k = image_.down_first ? y + k : y;
      const std::uint32_t sample = sample_of<T>(four.word, k);
      // This thread has stored this sample of alpha.
      to.row(y_k)[x_k] = multiplied ? unpremultiplied(sample, alpha.row(y_k)[x_k]) : static_cast<T>(sample);
    }
  }

  const FilterImage<T>& image_;
  const FilterTiling& tiling_;
  const FilterPosition position_;
  const int columns_, rows_;  // that the image has
  const int first_base_, second_base_;
  Unit* const staged_;
  Unit* const middle_;
  Weights* const first_weights_;
  Weights* const second_weights_;
  int* const starts_;
};

}  // namespace imgpipe
