// Measures only the reconstruction of pixels from JPEG coefficients on a GPU.
//
//   reconstruction_bench [--images 8] [--rounds 20] [--streams 1,2,4] FILE...
//
// For each file, every stream has a group of `--images` copies of its coefficients. Prints a Markdown table:
// median gigapixels per second, by events around several launches.
#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <memory>
#include <sstream>
#include <string>
#include <string_view>
#include <vector>

#include <cuda_runtime.h>

#include "images/codecs/jpeg/library_jpeg.h"
#include "images/error.h"
#include "kernels/jpeg/reconstruction.h"
#include "lab/pipeline/codec_subject.h"
#include "pipeline/cuda/cuda_api.h"

namespace {

using namespace imgpipe;

struct Options {
  std::vector<std::string> files;
  std::vector<int> streams{1, 2, 4};
  int images = 8, rounds = 20;
};

struct Wanted {
  const char* name;
  bool pixels, grey, counts;
};
constexpr Wanted kWanted[]{{"grey and hist", false, true, true},
                           {"grey", false, true, false},
                           {"RGB", true, false, false},
                           {"all", true, true, true}};

std::size_t rounded_up(std::size_t v) {
  return (v + 255) / 256 * 256;
}

// A group of equal images with its own memory.
class Group {
 public:
  Group(const BaselineScan& scan, const std::vector<std::int16_t>& coefficients, int images,
        const Wanted& wanted) {
    const auto width = static_cast<std::size_t>(scan.width);
    const auto height = static_cast<std::size_t>(scan.height);
    const std::size_t coefficient_bytes = rounded_up(2 * coefficients.size());
    const auto channels = static_cast<std::size_t>(scan.components);
    const std::size_t pixel_stride = rounded_up(channels * width);
    const std::size_t grey_stride = rounded_up(width);
    const auto count = static_cast<std::size_t>(images);
    const std::size_t image_bytes = coefficient_bytes + (pixel_stride + grey_stride) * height + 8 * kBins;
    planes_.reserve(count * rounded_up(image_bytes));
    std::vector<ReconstructionTask> tasks;
    for (std::size_t i = 0; i < count; ++i) {
      auto* at = static_cast<std::uint8_t*>(planes_.data()) + i * rounded_up(image_bytes);
      IMGPIPE_CUDA(cudaMemcpy(at, coefficients.data(), 2 * coefficients.size(), cudaMemcpyHostToDevice));
      ReconstructionTask task;
      task.scan = &scan;
      task.coefficients = reinterpret_cast<const std::int16_t*>(at);
      at += coefficient_bytes;
      const auto stride = [](std::size_t bytes) { return static_cast<std::int64_t>(bytes); };
      if (wanted.pixels || channels == 1)
        task.pixels = {at, scan.width, scan.height, stride(pixel_stride), scan.components};
      at += pixel_stride * height;
      if (wanted.grey && channels == 3) task.grey = {at, scan.width, scan.height, stride(grey_stride), 1};
      at += grey_stride * height;
      if (wanted.counts) task.counts = reinterpret_cast<std::uint64_t*>(at);
      tasks.push_back(task);
    }
    reconstruction_ = std::make_unique<JpegReconstruction>(tasks);
    std::vector<std::byte> upload(reconstruction_->memory().upload_bytes);
    reconstruction_->write_upload(upload.data());
    memory_.reserve(reconstruction_->memory().bytes);
    IMGPIPE_CUDA(cudaMemcpy(memory_.data(), upload.data(), upload.size(), cudaMemcpyHostToDevice));
    IMGPIPE_CUDA(cudaStreamSynchronize(nullptr));  // the stream does not wait for copies
  }
  void launch(int multiprocessors) const {
    IMGPIPE_CUDA(static_cast<cudaError_t>(
        reconstruction_->launch(static_cast<std::byte*>(memory_.data()), {stream_.get(), multiprocessors})));
  }
  [[nodiscard]] cudaStream_t stream() const { return stream_.get(); }

 private:
  Stream stream_;
  DeviceBuffer planes_, memory_;
  std::unique_ptr<JpegReconstruction> reconstruction_;
};

// Returns the seconds for `launches` of each group, all groups at once.
double seconds_of(const std::vector<std::unique_ptr<Group>>& groups, int multiprocessors, int launches) {
  const Event start;
  std::vector<std::unique_ptr<Event>> ends;
  IMGPIPE_CUDA(cudaEventRecord(start.get(), groups[0]->stream()));
  for (const auto& group : groups) IMGPIPE_CUDA(cudaStreamWaitEvent(group->stream(), start.get()));
  for (int i = 0; i < launches; ++i) {
    for (const auto& group : groups) group->launch(multiprocessors);
  }
  float most = 0;
  for (const auto& group : groups) {
    ends.push_back(std::make_unique<Event>());
    IMGPIPE_CUDA(cudaEventRecord(ends.back()->get(), group->stream()));
  }
  for (const auto& end : ends) {
    IMGPIPE_CUDA(cudaEventSynchronize(end->get()));
    float ms = 0;
    IMGPIPE_CUDA(cudaEventElapsedTime(&ms, start.get(), end->get()));
    most = std::max(most, ms);
  }
  return most / 1000;
}

std::vector<std::byte> load(const std::string& path) {
  std::ifstream in(path, std::ios::binary);
  const std::string text{std::istreambuf_iterator<char>(in), {}};
  std::vector<std::byte> bytes(text.size());
  std::ranges::transform(text, bytes.begin(), [](char c) { return static_cast<std::byte>(c); });
  return bytes;
}

// Prints the share of groups of 4 MCUs whose luma blocks have coefficients only in their first row, or only
// in their upper half.
void print_shares(const BaselineScan& scan, const std::vector<std::int16_t>& coefficients) {
  double eights = 0;
  double flat = 0;
  double upper = 0;
  const auto in_mcu = static_cast<std::size_t>(scan.blocks_in_mcu) * kBlockSamples;
  const auto luma =
      static_cast<std::size_t>(scan.component[0].across * scan.component[0].down) * kBlockSamples;
  for (std::size_t mcu = 0; (mcu + 4) * in_mcu <= coefficients.size(); mcu += 4) {
    bool only_first = true;
    bool only_upper = true;
    for (std::size_t i = 0; i < 4 * in_mcu; ++i) {
      if (i % in_mcu >= luma || coefficients[mcu * in_mcu + i] == 0) continue;
      only_first = only_first && i % kBlockSamples < 8;
      only_upper = only_upper && i % kBlockSamples < 32;
    }
    ++eights;
    flat += only_first ? 1 : 0;
    upper += only_upper ? 1 : 0;
  }
  std::printf("of 4 MCUs %.1f %% have only first rows, %.1f %% only upper ones\n", 100 * flat / eights,
              100 * upper / eights);
}

void measure(const std::string& path, const Options& options, int multiprocessors) {
  const std::vector<std::byte> file = load(path);
  DecodeOptions decode;
  const auto library = open_library_jpeg(file, decode);
  const auto scan = library->baseline();
  if (!scan) throw Error(ErrorKind::input, path + ": not a JPEG with such a scan");
  const auto subject = naming(path, [&] { return make_jpeg_subject(file); });
  const std::vector<std::int16_t>& coefficients = subject->coefficients;
  print_shares(*scan, coefficients);
  const double pixels = static_cast<double>(scan->width * scan->height) * options.images;
  for (const Wanted& wanted : kWanted) {
    std::printf("| %s | %dx%d | %s |", std::filesystem::path(path).filename().c_str(),
                static_cast<int>(scan->width), static_cast<int>(scan->height), wanted.name);
    for (const int streams : options.streams) {
      std::vector<std::unique_ptr<Group>> groups;
      for (int i = 0; i < streams; ++i)
        groups.push_back(std::make_unique<Group>(*scan, coefficients, options.images, wanted));
      (void)seconds_of(groups, multiprocessors, 3);
      std::vector<double> seconds;
      constexpr int kLaunches = 10;
      for (int i = 0; i < options.rounds; ++i)
        seconds.push_back(seconds_of(groups, multiprocessors, kLaunches));
      std::ranges::sort(seconds);
      std::printf(" %.1f |", pixels * streams * kLaunches / seconds[seconds.size() / 2] / 1e9);
    }
    std::printf("\n");
    (void)std::fflush(stdout);
  }
}

Options parse(int count, char** arguments) {
  Options options;
  for (int i = 1; i < count; ++i) {
    const std::string_view argument = arguments[i];
    if (argument.starts_with("--") && i + 1 < count) {
      const std::string value = arguments[++i];
      if (argument == "--images") options.images = std::atoi(value.c_str());
      if (argument == "--rounds") options.rounds = std::atoi(value.c_str());
      if (argument == "--streams") {
        options.streams.clear();
        std::istringstream list(value);
        for (std::string one; std::getline(list, one, ',');)
          options.streams.push_back(std::atoi(one.c_str()));
      }
    } else {
      options.files.emplace_back(argument);
    }
  }
  return options;
}

}  // namespace

int main(int count, char** arguments) {
  try {
    const Options options = parse(count, arguments);
    int multiprocessors = 0;
    IMGPIPE_CUDA(cudaDeviceGetAttribute(&multiprocessors, cudaDevAttrMultiProcessorCount, 0));
    std::printf("| file | size | wanted |");
    for (const int streams : options.streams) std::printf(" %d streams, GP/s |", streams);
    std::printf("\n|---|---|---|");
    for (std::size_t i = 0; i < options.streams.size(); ++i) std::printf("--:|");
    std::printf("\n");
    for (const std::string& file : options.files) measure(file, options, multiprocessors);
  } catch (const Error& error) {
    (void)std::fprintf(stderr, "%s\n", error.what());
    return 1;
  }
  return 0;
}
