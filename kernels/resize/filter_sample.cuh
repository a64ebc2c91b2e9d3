// Resizes by Pillow's filters if their windows are too large for shared memory: slow, but for any size.
#pragma once

#include <cstdint>

#include "kernels/resize/filter_image.cuh"

namespace imgpipe {

// A block of kFilterThreads threads computes an output sample; each thread computes the first pass on one
// line at a time. `terms`, in shared memory: the products of the lines in the second pass, one per thread.
// Thread 0 adds them in the order of the lines.
template <class T>
class FilterOutput {
 public:
  __device__ FilterOutput(const FilterImage<T>& image, std::int64_t number, FilterWeight<T>* terms)
      : image_(image), position_(image, number), terms_(terms) {}

  __device__ void make() {
    Sample8 alpha = 0;
    for (int i = 0; i < position_.channels; ++i) {
      const int channel = position_.channel(i);
      const T sample = second(channel);
      if (threadIdx.x > 0) continue;
      if constexpr (!kIsWide<T>) {
        if (i == 0) alpha = sample;
        output(channel) = i == 0 ? sample : unpremultiplied(sample, alpha);
      } else {
        output(channel) = sample;
      }
    }
  }

 private:
  using Weight = FilterWeight<T>;
  using Sum = FilterSum<T>;

  // Returns the result in thread 0. Barriers: the terms are complete; thread 0 has added them.
  __device__ T second(int channel) {
    const int first = image_.second.first(position_.second);
    const int count = image_.second.count(position_.second);
    Sum sum;
    for (int from = 0; from < count; from += kFilterThreads) {
      const int tap = from + static_cast<int>(threadIdx.x);
      if (tap < count)
        terms_[threadIdx.x] =
            Sum::product(this->first(channel, first + tap), image_.second.weight(position_.second, tap));
      __syncthreads();
      if (threadIdx.x == 0) {
        for (int i = 0; i < min(count - from, kFilterThreads); ++i) sum.add(terms_[i]);
      }
      __syncthreads();
    }
    return sum.sample();
  }

  // Returns the result of the first pass on a line.
  __device__ T first(int channel, int line) const {
    const int first = image_.first.first(position_.first);
    const int count = image_.first.count(position_.first);
    Sum sum;
    for (int tap = 0; tap < count; ++tap)
      sum.add(Sum::product(input(channel, first + tap, line), image_.first.weight(position_.first, tap)));
    return sum.sample();
  }

  __device__ T input(int channel, int along, int line) const {
    const int x = image_.down_first ? line : along;
    const int y = image_.down_first ? along : line;
    const T sample = __ldg(image_.planes.in[channel].row(y) + x);
    if constexpr (!kIsWide<T>) {
      if (image_.premultiplies && channel != position_.first_channel)
        return premultiplied(sample, __ldg(image_.planes.in[position_.first_channel].row(y) + x));
    }
    return sample;
  }

  __device__ T& output(int channel) const {
    const int x = image_.down_first ? position_.second : position_.first;
    const int y = image_.down_first ? position_.first : position_.second;
    return image_.planes.out[channel].row(y)[x];
  }

  const FilterImage<T>& image_;
  const FilterPosition position_;
  Weight* const terms_;
};

}  // namespace imgpipe
