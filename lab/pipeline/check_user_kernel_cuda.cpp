#include <algorithm>
#include <array>
#include <optional>
#include <utility>
#include <vector>

#include "images/error.h"
#include "images/synth.h"
#include "kernels/stage.h"
#include "lab/kernels/delay.h"
#include "lab/pipeline/check_user_kernel.h"
#include "lab/pipeline/first_difference.h"
#include "lab/pipeline/guarded_plane.h"
#include "lab/pipeline/lab.h"
#include "pipeline/cuda/cuda_api.h"

namespace imgpipe {
namespace {

struct SmallImage {
  std::string pattern;
  std::int64_t width, height;

  [[nodiscard]] std::string name() const {
    return pattern + " " + std::to_string(width) + "x" + std::to_string(height);
  }
};

std::vector<SmallImage> small_images(Sample sample) {
  using Size = std::pair<std::int64_t, std::int64_t>;
  // Sizes from 1x1 on, around the sizes of vectors, warps and tiles, and with more rows or columns than a
  // grid has blocks.
  constexpr std::array kSizes{Size{1, 1},     Size{2, 1},     Size{1, 2},    Size{2, 2},    Size{3, 3},
                              Size{1, 7},     Size{7, 1},     Size{4, 5},    Size{5, 4},    Size{5, 5},
                              Size{6, 6},     Size{15, 15},   Size{16, 16},  Size{17, 17},  Size{17, 1},
                              Size{31, 8},    Size{32, 8},    Size{33, 8},   Size{63, 65},  Size{64, 64},
                              Size{65, 63},   Size{97, 89},   Size{127, 3},  Size{128, 32}, Size{129, 33},
                              Size{255, 31},  Size{256, 256}, Size{257, 29}, Size{1, 1000}, Size{1031, 777},
                              Size{70001, 2}, Size{2, 70001}};
  constexpr std::array kFewSizes{Size{1, 1}, Size{5, 5}, Size{33, 7}, Size{97, 89}, Size{257, 130}};
  const std::string white = "constant:" + std::to_string(max_sample(sample));
  std::vector<SmallImage> images;
  for (const auto& [width, height] : kSizes) images.push_back({"noise", width, height});
  for (const std::string& pattern :
       {std::string("constant:0"), white, std::string("constant:77"), std::string("colors:2"),
        std::string("ramp"), std::string("checker"), std::string("photo")}) {
    for (const auto& [width, height] : kFewSizes) images.push_back({pattern, width, height});
  }
  return images;
}

class UserKernelCheck {
 public:
  UserKernelCheck(const Ladder& ladder, const StageVariant& variant) : ladder_(ladder), variant_(variant) {
    int device = 0;
    IMGPIPE_CUDA(cudaGetDevice(&device));
    IMGPIPE_CUDA(cudaDeviceGetAttribute(&launch_.multiprocessors, cudaDevAttrMultiProcessorCount, device));
    launch_.stream = stream_.get();
    launch_.own = variant.own;
  }

  // Returns the variant's fault on the image, or "".
  std::string fault(const SmallImage& image) {
    const int channels = find_stage(ladder_.stage)->ports.in.front().layout == Layout::interleaved ? 3 : 1;
    const LabSubject subject =
        make_subject(ladder_, synthesize(parse_pattern(image.pattern, ladder_.sample),
                                         {image.width, image.height, channels, ladder_.sample}, 21));
    std::string wrong = fault(subject, true);
    if (wrong.empty() || lost_) return wrong;
    // Wrong if the input arrives late, right if it is already there: not all work waits for the stream.
    if (fault(subject, false).empty())
      return "correct only after the device is synchronised: some work is not on call.stream (" + wrong + ")";
    return wrong;
  }
  // Whether an error has ended the context; then every call fails.
  [[nodiscard]] bool lost() const { return lost_; }

 private:
  // `late`: the input arrives on the stream, just before the variant runs.
  std::string fault(const LabSubject& subject, bool late) {
    GuardedPlane in(subject.in.shape(), 5);
    std::optional<GuardedPlane> out;
    LabOutput answer = poisoned_output(subject);
    if (late) {
      in.upload_late(subject.in.untyped_view());
    } else {
      const ConstHostView pixels = subject.in.untyped_view();
      in.upload(&pixels);
    }
    if (!answer.out.empty()) {
      out.emplace(answer.out.shape(), 3);
      const ConstHostView rubbish = std::as_const(answer.out).untyped_view();
      out->upload(&rubbish);
    }
    GuardedPlane counts(bytes_shape(answer.counts.size() * sizeof(std::uint64_t)), 1);
    const HostView count_bytes = bytes_of(answer.counts);
    const ConstHostView counts_before = count_bytes;
    if (!answer.counts.empty()) counts.upload(&counts_before);
    const std::size_t scratch_bytes = variant_.scratch_bytes(subject.in_type(), launch_);
    GuardedPlane scratch(bytes_shape(scratch_bytes), 1);
    scratch.upload(nullptr);
    launch_.scratch = scratch.plane().data;

    StageCall<Device> call{.parameters = subject.parameters};
    call.in.type = subject.in_type();
    call.in.planes[0] = in.plane();
    call.out.type = subject.out_type();
    if (out) call.out.planes[0] = out->plane();
    call.histogram =
        histogram_view<Device>(reinterpret_cast<std::uint64_t*>(counts.plane().data), subject.counted_type());
    IMGPIPE_CUDA(cudaDeviceSynchronize());
    if (late) {
      constexpr std::int64_t kDelayNs = 300'000;
      IMGPIPE_CUDA(static_cast<cudaError_t>(delay_cuda(launch_, kDelayNs)));
      in.arrive(stream_);
    }
    if (const std::string failed = failure(call, late); !failed.empty()) return failed;

    if (const std::string at = in.download(nullptr); !at.empty()) return "writes to its input: " + at;
    if (out) {
      const HostView pixels = answer.out.untyped_view();
      if (const std::string at = out->download(&pixels); !at.empty())
        return "writes outside its output: " + at;
    }
    const bool reads_counts = find_port(subject.stage->ports.in, ValueKind::counts) != nullptr;
    if (const std::string at =
            counts.download(reads_counts || answer.counts.empty() ? nullptr : &count_bytes);
        !at.empty())
      return std::string(reads_counts ? "writes to" : "writes outside") + " the counts: " + at;
    std::vector<std::byte> scratch_now(scratch_bytes + 1);
    const HostView scratch_pixels(scratch_now.data(), bytes_shape(scratch_bytes),
                                  static_cast<std::int64_t>(scratch_bytes) + 1);
    if (const std::string at = scratch.download(&scratch_pixels); !at.empty())
      return "writes outside its scratch memory: " + at;
    const ConstHostView pixels = std::as_const(answer.out).untyped_view();
    const std::string difference = lab_difference(variant_, subject, pixels, answer.counts);
    return difference.empty() ? "" : difference + "; " + first_difference(subject, pixels, answer.counts);
  }

  // Launches the variant and waits for it; returns the error, or "".
  std::string failure(const StageCall<Device>& call, bool late) {
    const auto launched = static_cast<cudaError_t>(launch_variant(variant_, call, launch_));
    const cudaError_t ended = late ? cudaStreamSynchronize(stream_.get()) : cudaDeviceSynchronize();
    if (launched == cudaSuccess && ended == cudaSuccess) return "";
    (void)cudaGetLastError();
    lost_ = cudaDeviceSynchronize() != cudaSuccess;
    return std::string("fails: ") + cudaGetErrorString(launched == cudaSuccess ? ended : launched);
  }

  static Shape bytes_shape(std::size_t bytes) { return {static_cast<std::int64_t>(bytes), 1, 1}; }
  static HostView bytes_of(std::vector<std::uint64_t>& counts) {
    const Shape shape = bytes_shape(counts.size() * sizeof(std::uint64_t));
    return {reinterpret_cast<std::byte*>(counts.data()), shape, shape.width};
  }

  const Ladder& ladder_;
  const StageVariant& variant_;
  Stream stream_;
  VariantLaunch launch_;
  bool lost_ = false;
};

}  // namespace

UserCheckResult check_user_kernel(const Ladder& ladder, const StageVariant& variant,
                                  const std::function<void(const std::string& image)>& begins) {
  UserCheckResult verdict;
  UserKernelCheck check(ladder, variant);
  for (const SmallImage& image : small_images(ladder.sample)) {
    begins(image.name());
    const std::string fault = check.fault(image);
    if (check.lost()) throw Error(ErrorKind::input, "on " + image.name() + " " + fault);
    if (!fault.empty()) {
      verdict.wrong = "on " + image.name() + ": " + fault;
      return verdict;
    }
    ++verdict.images;
  }
  return verdict;
}

}  // namespace imgpipe
