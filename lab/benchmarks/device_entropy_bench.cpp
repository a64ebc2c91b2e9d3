// Measures how fast a CUDA device decodes the Huffman codes of JPEGs.
//
//   device_entropy_bench GROUP STREAMS ROUNDS FILE...
//
// A group has GROUP images, taken from the files in turn, whose data is already on the device. First measures
// one stream with CUDA events (median). Then measures STREAMS streams with one group each by the host's
// clock; each decodes its group ROUNDS times without waiting. Prints GP/s of pixels and GB/s of codes.
#include <algorithm>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <deque>
#include <fstream>
#include <iterator>
#include <memory>
#include <vector>

#include <cuda_runtime.h>

#include "images/codecs/jpeg/library_jpeg.h"
#include "images/codecs/jpeg/staged_scan.h"
#include "kernels/jpeg/entropy_decoding.h"
#include "pipeline/cuda/cuda_api.h"

namespace {

using namespace imgpipe;
using Clock = std::chrono::steady_clock;

double seconds_since(Clock::time_point start) {
  return std::chrono::duration<double>(Clock::now() - start).count();
}

struct File {
  std::vector<std::byte> bytes, stream;
  std::unique_ptr<LibraryJpeg> library;
  BaselineScan scan;
  EntropyTables tables;
  StagedScan staged;
};

bool load(const char* path, File& file, double& seconds) {
  std::ifstream in(path, std::ios::binary);
  const std::vector<char> chars{std::istreambuf_iterator<char>(in), {}};
  file.bytes.resize(chars.size());
  std::transform(chars.begin(), chars.end(), file.bytes.begin(),
                 [](char c) { return static_cast<std::byte>(c); });
  file.library = open_library_jpeg(file.bytes, {});
  const auto scan = file.library->baseline();
  if (!scan || !file.tables.make(*scan)) return false;
  file.scan = *scan;
  file.stream.resize(staged_capacity(file.scan));
  (void)stage_scan(file.scan, file.stream);
  const auto start = Clock::now();
  const auto staged = stage_scan(file.scan, file.stream);
  seconds += seconds_since(start);
  if (staged) file.staged = *staged;
  return staged.has_value();
}

class Group {
 public:
  Group(const std::deque<File>& files, std::size_t first, std::size_t count) {
    std::vector<EntropyTask> tasks;
    for (std::size_t i = 0; i < count; ++i) {
      const File& file = files[(first + i) % files.size()];
      const std::size_t values =
          static_cast<std::size_t>(file.scan.mcus() * file.scan.blocks_in_mcu) * kBlockSamples;
      DeviceBuffer& stream = buffers_.emplace_back();
      stream.reserve(file.staged.bytes + kStreamMargin);
      IMGPIPE_CUDA(cudaMemcpy(stream.data(), file.stream.data(), file.staged.bytes, cudaMemcpyHostToDevice));
      DeviceBuffer& coefficients = buffers_.emplace_back();
      coefficients.reserve(values * sizeof(std::int16_t));
      tasks.push_back({&file.scan, &file.tables, &file.staged, static_cast<std::byte*>(stream.data()),
                       static_cast<std::int16_t*>(coefficients.data())});
      pixels_ += static_cast<double>(file.scan.width * file.scan.height);
      bytes_ += static_cast<double>(file.staged.bytes);
    }
    decoding_ = std::make_unique<EntropyDecoding>(std::move(tasks));
    memory_.reserve(decoding_->memory().bytes);
    std::vector<std::byte> upload(decoding_->memory().upload_bytes);
    decoding_->write_upload(upload.data());
    IMGPIPE_CUDA(cudaMemcpy(memory_.data(), upload.data(), upload.size(), cudaMemcpyHostToDevice));
    IMGPIPE_CUDA(cudaDeviceSynchronize());
  }
  void launch() const {
    IMGPIPE_CUDA(static_cast<cudaError_t>(
        decoding_->launch(static_cast<std::byte*>(memory_.data()), {stream_.get(), 132})));
  }
  [[nodiscard]] int out_of_order(std::size_t count) const {
    std::vector<std::byte> results(decoding_->memory().results_bytes);
    IMGPIPE_CUDA(cudaMemcpy(results.data(),
                            static_cast<std::byte*>(memory_.data()) + decoding_->memory().results_offset,
                            results.size(), cudaMemcpyDeviceToHost));
    int out = 0;
    for (std::size_t i = 0; i < count; ++i) out += decoding_->is_intact(i, results.data()) ? 0 : 1;
    return out;
  }
  [[nodiscard]] const Stream& stream() const { return stream_; }
  [[nodiscard]] double pixels() const { return pixels_; }
  [[nodiscard]] double bytes() const { return bytes_; }

 private:
  Stream stream_;
  std::deque<DeviceBuffer> buffers_;
  DeviceBuffer memory_;
  std::unique_ptr<EntropyDecoding> decoding_;
  double pixels_ = 0, bytes_ = 0;
};

double one_stream(const Group& group, int rounds) {
  const Event before, after;
  std::vector<float> times;
  for (int i = 0; i < rounds + 3; ++i) {
    before.record(group.stream());
    group.launch();
    after.record(group.stream());
    after.wait();
    float milliseconds = 0;
    IMGPIPE_CUDA(cudaEventElapsedTime(&milliseconds, before.get(), after.get()));
    if (i >= 3) times.push_back(milliseconds);
  }
  std::ranges::sort(times);
  return times[times.size() / 2] / 1e3;
}

}  // namespace

int main(int argc, char** argv) {
  if (argc < 5) return 2;
  const auto group_size = static_cast<std::size_t>(std::atoi(argv[1]));
  const int streams = std::atoi(argv[2]), rounds = std::atoi(argv[3]);
  std::deque<File> files;
  double staging = 0, staged_bytes = 0;
  for (int i = 4; i < argc; ++i) {
    if (!load(argv[i], files.emplace_back(), staging)) {
      std::printf("%s: not taken\n", argv[i]);
      files.pop_back();
      continue;
    }
    staged_bytes += static_cast<double>(files.back().staged.bytes);
  }
  std::deque<Group> groups;
  for (int i = 0; i < streams; ++i)
    groups.emplace_back(files, static_cast<std::size_t>(i) * group_size, group_size);
  const Group& first = groups.front();
  const double alone = one_stream(first, rounds);
  IMGPIPE_CUDA(cudaDeviceSynchronize());
  const auto start = Clock::now();
  for (int i = 0; i < rounds; ++i) {
    for (const Group& group : groups) group.launch();
  }
  IMGPIPE_CUDA(cudaDeviceSynchronize());
  const double together = seconds_since(start) / rounds;
  double pixels = 0, bytes = 0;
  int out_of_order = 0;
  for (const Group& group : groups) {
    pixels += group.pixels();
    bytes += group.bytes();
    out_of_order += group.out_of_order(group_size);
  }
  std::printf(
      "%zu x %d: %.2f bytes/pixel | alone %.0f us %.1f GP/s %.2f GB/s | %d streams %.1f GP/s %.2f GB/s | "
      "staging %.2f GB/s a thread | %d out of order\n",
      group_size, streams, bytes / pixels, alone * 1e6, first.pixels() / alone / 1e9,
      first.bytes() / alone / 1e9, streams, pixels / together / 1e9, bytes / together / 1e9,
      staged_bytes / staging / 1e9, out_of_order);
  return out_of_order == 0 ? 0 : 1;
}
