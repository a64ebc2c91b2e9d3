// A variant in a codec's ladder: one method of decoding or encoding a group of images.
//
// A CUDA variant is a class with the members of the production class for its work:
//
//   work             production class     takes                             gives
//   entropy          EntropyDecoding      staged scans and their tables     coefficients
//   reconstruction   JpegReconstruction   coefficients                      pixels
//   decoding         both, in turn        staged scans and their tables     pixels
//   jpeg_encoding    JpegEncoding         pixels                            one scan per image
//   png_packing      PngEncoding          pixels                            strips
//
// The members are a constructor from a vector of that class's tasks, memory(), write_upload(), launch(), and
// is_intact(), scan() or strips() where the production class has them. The ladder's table names it by
//
//   codec_variant("naive", "...", "...", IMGPIPE_CUDA_CODEC(NaiveEntropyDecoding))
//
// The lab gives the variant copies of one image, each with its own planes and streams, and fills the output
// memory with garbage. It compares every image with the host's result. is_intact() must be true;
// coefficients, pixels and counts must be equal. A scan must equal libjpeg-turbo's. A strip must equal the
// host's or, if filtered, the host's filtered rows, with the right Adler-32. Events then time launch(), over
// several groups in turn so that none stays in the cache.
#pragma once

#include <cstddef>
#include <memory>
#include <span>
#include <string_view>
#include <type_traits>
#include <utility>
#include <vector>

#include "kernels/group_memory.h"
#include "kernels/jpeg/encoding.h"
#include "kernels/jpeg/entropy_decoding.h"
#include "kernels/jpeg/reconstruction.h"
#include "kernels/png/encoding.h"
#include "lab/kernels/stage_variant.h"

namespace imgpipe {

enum class CodecWork { entropy, reconstruction, decoding, jpeg_encoding, png_packing };

// The pixels that a variant produces or consumes.
enum class CodecPixels {
  file,     // as in the file: grey or RGB
  grey,     // the result of the stage `gray`; reconstruction also makes its histogram
  rgb_420,  // encoding: RGB, 4:2:0
};

// One image of a group on the device; a variant's constructor takes one of these members per image.
struct CodecTask {
  EntropyTask entropy;
  ReconstructionTask reconstruction;
  JpegEncodingTask jpeg;
  PngEncodingTask png;
};

// An encoder's output for one image in the group's memory; a JPEG's scan is one part.
using CodedPart = PngEncoding::Strip;

// A CUDA variant prepared for a group.
class CodecRun {
 public:
  virtual ~CodecRun() = default;
  CodecRun(const CodecRun&) = delete;
  CodecRun& operator=(const CodecRun&) = delete;

  [[nodiscard]] virtual const GroupMemory& memory() const = 0;
  virtual void write_upload(std::byte* to) const = 0;
  [[nodiscard]] virtual CudaStatus launch(std::byte* memory, const CudaLaunch& launch) const = 0;
  [[nodiscard]] virtual bool is_intact(std::size_t image, const std::byte* results) const = 0;
  [[nodiscard]] virtual std::vector<CodedPart> parts(std::size_t image, const std::byte* results) const = 0;

 protected:
  CodecRun() = default;
};

template <class Group>
class CodecRunOf final : public CodecRun {
 public:
  explicit CodecRunOf(std::span<const CodecTask> tasks) : group_(chosen(tasks)) {}

  [[nodiscard]] const GroupMemory& memory() const override { return group_.memory(); }
  void write_upload(std::byte* to) const override { group_.write_upload(to); }
  [[nodiscard]] CudaStatus launch(std::byte* memory, const CudaLaunch& launch) const override {
    return group_.launch(memory, launch);
  }
  [[nodiscard]] bool is_intact(std::size_t image, const std::byte* results) const override {
    if constexpr (requires { group_.is_intact(image, results); }) return group_.is_intact(image, results);
    return true;
  }
  [[nodiscard]] std::vector<CodedPart> parts(std::size_t image, const std::byte* results) const override {
    if constexpr (requires { group_.strips(image, results); }) {
      return group_.strips(image, results);
    } else if constexpr (requires { group_.scan(image, results); }) {
      const auto scan = group_.scan(image, results);
      return {CodedPart{.offset = scan.offset, .bytes = scan.bytes}};
    } else {
      return {};
    }
  }

 private:
  static auto chosen(std::span<const CodecTask> tasks) {
    const auto all = [&](auto member) {
      std::vector<std::remove_cvref_t<decltype(tasks.front().*member)>> of_member;
      of_member.reserve(tasks.size());
      for (const CodecTask& task : tasks) of_member.push_back(task.*member);
      return of_member;
    };
    if constexpr (std::is_constructible_v<Group, std::vector<EntropyTask>>) {
      return all(&CodecTask::entropy);
    } else if constexpr (std::is_constructible_v<Group, std::vector<ReconstructionTask>>) {
      return all(&CodecTask::reconstruction);
    } else if constexpr (std::is_constructible_v<Group, std::vector<JpegEncodingTask>>) {
      return all(&CodecTask::jpeg);
    } else {
      return all(&CodecTask::png);
    }
  }

  Group group_;
};

template <class Group>
std::unique_ptr<CodecRun> codec_run(std::span<const CodecTask> tasks) {
  return std::make_unique<CodecRunOf<Group>>(tasks);
}

class HostCodecRun;  // lab/pipeline/codec_host.h
struct CodecGroup;   // lab/pipeline/codec_subject.h

// The nvJPEG decoder or encoder that a baseline runs (lab/pipeline/nvjpeg_runs.h).
enum class Nvjpeg { none, hardware, hybrid, encoder };

using HostCodec = std::unique_ptr<HostCodecRun>;
using MakeHostCodec = HostCodec(const CodecGroup&);
using MakeCodecRun = std::unique_ptr<CodecRun>(std::span<const CodecTask>);

// A variant's implementation: one of `cuda`, `host` and `nvjpeg`; a CUDA variant has none in a build without
// CUDA.
struct CodecFunction {
  std::string_view functions;  // their names in the sources, separated by ", "
  VariantKind kind = VariantKind::cuda;
  MakeCodecRun* cuda = nullptr;
  MakeCodecRun* then = nullptr;  // runs after `cuda`: the second half of decoding
  MakeHostCodec* host = nullptr;
  Nvjpeg nvjpeg = Nvjpeg::none;
};

struct CodecConditions {
  CodecPixels pixels = CodecPixels::file;
  // Claim::near: a library whose pixels are not exact; the lab reports how many differ, and by how much.
  Claim claim = Claim::exact;
  bool all_threads = false;  // nvJPEG: one pipeline per host thread instead of a single one
  // Decoding: the host's clock times it from the file's bytes in host memory, including staging and upload.
  bool from_host = false;
};

struct CodecVariant : Variant, CodecFunction, CodecConditions {};

// ---- rows of a ladder's table ------------------------------------------------------------------------

constexpr CodecFunction host_codec(std::string_view name, VariantKind kind, MakeHostCodec* host) {
  return {.functions = name, .kind = kind, .host = host};
}
constexpr CodecFunction cuda_codec(std::string_view names, MakeCodecRun* first,
                                   MakeCodecRun* then = nullptr) {
  return {.functions = names, .cuda = first, .then = then};
}
constexpr CodecFunction nvjpeg_codec(std::string_view name, Nvjpeg which) {
  return {.functions = name, .nvjpeg = which};
}

#define IMGPIPE_ONE_THREAD(function) host_codec(#function, VariantKind::reference, function)
#define IMGPIPE_ALL_THREADS(function) host_codec(#function, VariantKind::cpu, function)
#define IMGPIPE_CUDA_CODEC(Group) cuda_codec(#Group "::launch", IMGPIPE_IF_CUDA(codec_run<Group>))
#define IMGPIPE_CUDA_HALVES(First, Then)                                              \
  cuda_codec(#First "::launch, " #Then "::launch", IMGPIPE_IF_CUDA(codec_run<First>), \
             IMGPIPE_IF_CUDA(codec_run<Then>))
// `Class` is defined in lab/pipeline/nvjpeg_runs_cuda.cpp.
#define IMGPIPE_NVJPEG(value, Class) nvjpeg_codec(#Class, Nvjpeg::value)

constexpr CodecVariant codec_variant(std::string_view name, std::string_view idea, std::string_view origin,
                                     const CodecFunction& function, const CodecConditions& conditions = {}) {
  return {{name, idea, origin}, function, conditions};
}
// A variant that the product runs on its device.
constexpr CodecVariant product_codec(std::string_view name, std::string_view idea, std::string_view origin,
                                     const CodecFunction& function, const CodecConditions& conditions = {}) {
  CodecVariant variant = codec_variant(name, idea, origin, function, conditions);
  variant.production = true;
  return variant;
}
// A baseline: a variant from another library.
constexpr CodecVariant baseline_codec(std::string_view name, std::string_view idea, std::string_view origin,
                                      const CodecFunction& function, const CodecConditions& conditions = {}) {
  CodecVariant variant = codec_variant(name, idea, origin, function, conditions);
  variant.foreign = true;
  return variant;
}

}  // namespace imgpipe
