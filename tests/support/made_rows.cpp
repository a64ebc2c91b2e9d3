#include "tests/support/made_rows.h"

#include <algorithm>
#include <atomic>
#include <cstring>
#include <functional>
#include <mutex>
#include <thread>

#include "images/image.h"
#include "kernels/stage.h"
#include "pipeline/plan.h"

namespace imgpipe::test {
namespace {

constexpr std::int64_t kAround = 2;  // rows that smooth needs above and below

// Calls work(i) for 0 <= i < count on several threads.
void share_out(int threads, std::int64_t count, const std::function<void(std::int64_t)>& work) {
  std::atomic<std::int64_t> next{0};
  std::vector<std::thread> all;
  for (int t = 0; t < threads; ++t) {
    all.emplace_back([&] {
      for (std::int64_t i = next++; i < count; i = next++) work(i);
    });
  }
  for (std::thread& thread : all) thread.join();
}

Image make_rows(std::int64_t width, std::int64_t first, std::int64_t end) {
  Image image({width, end - first, 1});
  for (std::int64_t y = first; y < end; ++y) make_row(y, image.view().row(y - first), width);
  return image;
}

}  // namespace

void make_row(std::int64_t y, Sample8* row, std::int64_t width) {
  if (y % 1009 == 17) {
    std::memset(row, y % 2 == 0 ? 10 : 200, static_cast<std::size_t>(width));
    return;
  }
  std::uint64_t state = static_cast<std::uint64_t>(y) * 0x9E3779B97F4A7C15U + 1;
  for (std::int64_t x = 0; x < width; x += 8) {
    state = state * 6364136223846793005U + 1442695040888963407U;
    const std::uint64_t mixed = (state ^ (state >> 29)) & 0x7F7F7F7F7F7F7F7FU;
    const std::uint64_t word = mixed + 0x2020202020202020U;
    std::memcpy(row + x, &word, static_cast<std::size_t>(std::min<std::int64_t>(8, width - x)));
  }
}

void MadeRowsReader::read_next_rows(HostView rows) {
  do_read_band(next_row_, rows);
  next_row_ += rows.height;
}

void MadeRowsReader::do_read_band(std::int64_t first, HostView rows) {
  for (std::int64_t y = 0; y < rows.height; ++y) make_row(first + y, rows.as<Sample8>().row(y), rows.width);
}

std::uint64_t row_sum(const Sample8* row, std::int64_t width) {
  std::uint64_t sum = 0xCBF29CE484222325U;
  for (std::int64_t x = 0; x < width; x += 8) {
    std::uint64_t word = 0;
    std::memcpy(&word, row + x, static_cast<std::size_t>(std::min<std::int64_t>(8, width - x)));
    sum = (sum ^ word) * 0x100000001B3U;
    sum ^= sum >> 31;
  }
  return sum;
}

void RowSumWriter::write_rows(ConstHostView rows) {
  for (std::int64_t y = 0; y < rows.height; ++y) {
    sums_.at(static_cast<std::size_t>(next_row_++)) = row_sum(rows.as<Sample8>().row(y), rows.width);
  }
}

void RowSumWriter::write_strip(std::int64_t first, ConstHostView rows) {
  for (std::int64_t y = 0; y < rows.height; ++y)
    sums_.at(static_cast<std::size_t>(first + y)) = row_sum(rows.as<Sample8>().row(y), rows.width);
}

std::vector<std::uint64_t> reference_row_sums(std::int64_t width, std::int64_t height, int threads,
                                              std::vector<std::uint64_t>& counts) {
  constexpr std::int64_t kRows = 64;
  const std::int64_t parts = (height + kRows - 1) / kRows;
  const Plan plan = make_plan(parse_stages("hist,contrast,smooth"), {width, height, 1});
  const auto call_of = [&](std::size_t step, Image& in, Image* out) {
    StageCall<Host> call{.in = {frame_type_of(in.shape()), {in.untyped_view(), {}, {}, {}}},
                         .parameters = plan.operations[step].parameters};
    if (out != nullptr) call.out = {frame_type_of(in.shape()), {out->untyped_view(), {}, {}, {}}};
    return call;
  };
  const auto run = [&](std::size_t step, const StageCall<Host>& call) {
    run_reference(*plan.operations[step].stage, call);
  };
  counts.assign(256, 0);
  std::mutex mutex;
  share_out(threads, parts, [&](std::int64_t part) {
    Image rows = make_rows(width, part * kRows, std::min(height, (part + 1) * kRows));
    std::vector<std::uint64_t> own(256);
    StageCall<Host> call = call_of(0, rows, nullptr);
    call.histogram = histogram_view<Host>(own.data(), call.in.type);
    run(0, call);
    const std::lock_guard lock(mutex);
    for (std::size_t i = 0; i < own.size(); ++i) counts[i] += own[i];
  });
  std::vector<std::uint64_t> sums(static_cast<std::size_t>(height));
  share_out(threads, parts, [&](std::int64_t part) {
    const std::int64_t first = part * kRows;
    const std::int64_t end = std::min(height, first + kRows);
    const std::int64_t top = std::max<std::int64_t>(0, first - kAround);
    Image rows = make_rows(width, top, std::min(height, end + kAround));
    Image stretched(rows.shape());
    StageCall<Host> contrast = call_of(1, rows, &stretched);
    contrast.histogram = histogram_view<Host>(counts.data(), contrast.in.type);
    run(1, contrast);
    run(2, call_of(2, stretched, &rows));
    for (std::int64_t y = first; y < end; ++y)
      sums[static_cast<std::size_t>(y)] = row_sum(rows.view().row(y - top), width);
  });
  return sums;
}

}  // namespace imgpipe::test
