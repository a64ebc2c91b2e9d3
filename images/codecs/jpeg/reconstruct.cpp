#include "images/codecs/jpeg/reconstruct.h"

#include <algorithm>
#include <cstddef>
#include <cstring>
#include <utility>

#include "images/codecs/jpeg/jpeg_arithmetic.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "images/codecs/jpeg/reconstruct.cpp"
#include <hwy/foreach_target.h>
#include <hwy/highway.h>

#include "images/codecs/jpeg/inverse_dct-inl.h"

HWY_BEFORE_NAMESPACE();
namespace imgpipe {
namespace HWY_NAMESPACE {
namespace {

// A block of a batch: its AC coefficients, and the destination of its samples.
struct Slot {
  const Coefficient* begin = nullptr;
  const Coefficient* end = nullptr;
  std::uint8_t* samples = nullptr;
  std::int64_t stride = 0;
};

struct Batch {
  // Dequantised values, the rows of all blocks side by side. All 0 while count is 0.
  alignas(64) std::int16_t values[kBlocks * kBlockSamples] = {};
  alignas(64) std::uint8_t done[kBlocks * kBlockSamples];  // samples, not yet at their destinations
  Slot slots[kBlocks];
  std::size_t count = 0;
};

// Maps a zigzag index to an offset among a batch's values, relative to the start of the block.
constexpr auto kValueOffsets = [] {
  std::array<std::uint8_t, kBlockSamples> positions{};
  for (std::size_t i = 0; i < kBlockSamples; ++i) {
    const std::size_t position = kZigzag[i];
    positions[i] =
        static_cast<std::uint8_t>(position / kBlockSide * kBlockSide * kBlocks + position % kBlockSide);
  }
  return positions;
}();

// Bit x: column x has coefficients that count below its first row. Products can wrap to 0, so the values do
// not show this.
template <int kSide>
unsigned busy_columns(const Slot& slot) {
  unsigned busy = 0;
  for (const Coefficient* c = slot.begin; c != slot.end; ++c) {
    const std::size_t position = kZigzag[static_cast<std::size_t>(place_of(*c))], row = position / kBlockSide;
    const bool counts = kSide == 8 ? row != 0 : kSide == 4 ? row != 0 && row != 4 : row % 2 != 0;
    if (counts) busy |= 1U << position % kBlockSide;
  }
  return busy;
}

template <int kSide>
void transform_plainly(Batch& batch) {
  for (std::size_t b = 0; b < batch.count; ++b) {
    const Slot& slot = batch.slots[b];
    std::array<std::int16_t, kBlockSamples> values{};
    for (std::size_t y = 0; y < kBlockSide; ++y) {
      std::memcpy(&values[y * kBlockSide], batch.values + (y * kBlocks + b) * kBlockSide, sizeof(Eight));
    }
    const unsigned busy = busy_columns<kSide>(slot);
    if constexpr (kSide == 8) {
      const auto samples = inverse_dct(values, busy == 0);
      for (std::size_t y = 0; y < kBlockSide; ++y) {
        std::memcpy(slot.samples + static_cast<std::int64_t>(y) * slot.stride, &samples[y * kBlockSide],
                    kBlockSide);
      }
    } else {
      reduced_dct<kSide>(values, busy, kSide == 4 && busy == 0, slot.samples, slot.stride);
    }
  }
  std::memset(batch.values, 0, sizeof batch.values);
  batch.count = 0;
}

template <int kSide>
void transform(Batch& batch) {
#if IMGPIPE_DCT_IN_VECTORS
  constexpr std::size_t kStep = std::size_t{2} * kBlockSide;  // bytes of a block in a vector
  if constexpr (kSide == 8) {
    if (!inverse_dct_8(batch.values, batch.done)) return transform_plainly<kSide>(batch);
  } else if constexpr (kSide == 4) {
    if (!inverse_dct_4(batch.values, batch.done)) return transform_plainly<kSide>(batch);
  } else {
    inverse_dct_2(batch.values, batch.done);
  }
  const D16 d;
  for (std::size_t y = 0; y < kBlockSide; ++y)
    hn::Store(hn::Zero(d), d, batch.values + y * kBlocks * kBlockSide);
  for (std::size_t b = 0; b < batch.count; ++b) {
    std::uint8_t* to = batch.slots[b].samples;
    const std::int64_t stride = batch.slots[b].stride;
    const std::uint8_t* from = batch.done + b * kStep;
    if constexpr (kSide == 8) {
      for (std::size_t i = 0; i < kBlockSide / 2; ++i, to += 2 * stride, from += kStep * kBlocks) {
        std::memcpy(to, from, kBlockSide);
        std::memcpy(to + stride, from + kBlockSide, kBlockSide);
      }
    } else if constexpr (kSide == 4) {
      for (int y = 0; y < kSide; ++y, to += stride, from += kSide) std::memcpy(to, from, kSide);
    } else {
      to[0] = from[0];
      to[1] = from[2];
      to[stride] = from[4];
      to[stride + 1] = from[6];
    }
  }
  batch.count = 0;
#else
  transform_plainly<kSide>(batch);
#endif
}

void fill_block(std::uint8_t sample, std::uint8_t* to, std::int64_t stride, int side) {
  for (int y = 0; y < side; ++y, to += stride) std::memset(to, sample, static_cast<std::size_t>(side));
}

// Writes the dequantised AC coefficients. Writes four at a time, and may write the last four twice: the count
// is hard to predict, and a misprediction takes as long as several coefficients.
HWY_INLINE void add_coefficients(const Coefficient* begin, const Coefficient* end, const std::uint16_t* steps,
                                 std::int16_t* values) {
  const auto add = [&](const Coefficient* c) {
    const auto position = static_cast<std::size_t>(place_of(*c));
    values[kValueOffsets[position]] = dequantised(value_of(*c), steps[position]);
  };
  const auto count = end - begin;
  if (count < 4) {
    if (count == 0) return;
    add(begin);
    add(begin + count / 2);
    add(end - 1);
    return;
  }
  for (int i = 0; i < 4; ++i) add(begin + i);
  for (int i = 0; i < 4; ++i) add(end - 4 + i);
  for (const Coefficient* c = begin + 4; c < end - 4; c += 4) {
    for (int i = 0; i < 4; ++i) add(c + i);
  }
}

// Two batches alternate: vector loads right after the narrow stores to the same batch would stall.
template <int kSide>
class Batches {
 public:
  void add(const BlockTarget& target, std::int16_t dc, const Coefficient* begin, const Coefficient* end,
           std::uint8_t* samples) {
    const std::size_t b = filled_->count++;
    filled_->slots[b] = {begin, end, samples, target.stride};
    std::int16_t* const values = filled_->values + b * kBlockSide;
    values[0] = dc;
    add_coefficients(begin, end, target.steps, values);
    if (b + 1 == kBlocks) {
      std::swap(filled_, waiting_);
      if (filled_->count > 0) transform<kSide>(*filled_);
    }
  }
  void finish() {
    if (waiting_->count > 0) transform<kSide>(*waiting_);
    if (filled_->count > 0) transform<kSide>(*filled_);
  }

 private:
  Batch batches_[2];
  Batch* filled_ = &batches_[0];
  Batch* waiting_ = &batches_[1];
};

// Calls write(target, sum, begin, end, samples) for every block: its wrapped DC, its AC coefficients, and the
// destination of its samples.
template <class Write>
HWY_INLINE void for_each_block(std::span<const BlockTarget> targets, const BlockRun& run,
                               const Write& write) {
  const auto in_mcu = static_cast<std::int64_t>(targets.size());
  std::int64_t mcu = run.first / in_mcu;
  const BlockTarget* target = targets.data() + run.first % in_mcu;
  const BlockTarget* const after = targets.data() + targets.size();
  const Coefficient* begin = run.coefficients + run.begin;
  for (const CoefficientBlock& block : run.blocks) {
    const auto base = static_cast<std::uint32_t>(run.dc_base[static_cast<std::size_t>(target->component)]);
    const auto sum = static_cast<std::int32_t>(base + static_cast<std::uint32_t>(block.dc));
    const Coefficient* const end = run.coefficients + block.end;
    write(*target, wrapped_16(sum), begin, end, target->samples + mcu * target->mcu_step);
    begin = end;
    if (++target == after) {
      target = targets.data();
      ++mcu;
    }
  }
}

void reconstruct(std::span<const BlockTarget> targets, const BlockRun& run) {
  Batches<8> eights;
  const auto write_whole = [&](const BlockTarget& target, std::int16_t sum, const Coefficient* begin,
                               const Coefficient* end, std::uint8_t* samples) HWY_ATTR {
    const std::int16_t dc = dequantised(sum, target.steps[0]);
    if (begin == end) {
      fill_block(constant_sample(dc), samples, target.stride, kBlockSide);
    } else {
      eights.add(target, dc, begin, end, samples);
    }
  };
  if (std::ranges::all_of(targets, [](const BlockTarget& target) { return target.side == kBlockSide; })) {
    for_each_block(targets, run, write_whole);
  } else {
    Batches<4> fours;
    Batches<2> twos;
    for_each_block(targets, run,
                   [&](const BlockTarget& target, std::int16_t sum, const Coefficient* begin,
                       const Coefficient* end, std::uint8_t* samples) HWY_ATTR {
                     const std::int16_t dc = dequantised(sum, target.steps[0]);
                     switch (target.side) {
                       case 1:
                         *samples = mean_sample(sum, target.steps[0]);
                         break;
                       case 2:
                         twos.add(target, dc, begin, end, samples);
                         break;
                       case 4:
                         if (begin == end) {
                           fill_block(constant_sample(dc), samples, target.stride, 4);
                         } else {
                           fours.add(target, dc, begin, end, samples);
                         }
                         break;
                       default:
                         write_whole(target, sum, begin, end, samples);
                     }
                   });
    fours.finish();
    twos.finish();
  }
  eights.finish();
}

}  // namespace
}  // namespace HWY_NAMESPACE
}  // namespace imgpipe
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace imgpipe {

HWY_EXPORT(reconstruct);

void reconstruct_blocks(std::span<const BlockTarget> targets, const BlockRun& run) {
  HWY_DYNAMIC_DISPATCH(reconstruct)(targets, run);
}

}  // namespace imgpipe
#endif
