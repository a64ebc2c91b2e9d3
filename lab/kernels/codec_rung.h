// A rung of a codec's ladder: one way to decode or encode a group of images, from the naive one to what the
// product runs, kept so that the lab can prove it right and show what it costs.
//
// A CUDA rung is a class with the members of the production class of its work:
//
//   work             production class     takes                             gives
//   entropy          EntropyDecoding      staged scans and their tables     coefficients
//   reconstruction   JpegReconstruction   coefficients                      pixels
//   decoding         both, in turn        staged scans and their tables     pixels
//   jpeg_encoding    JpegEncoding         pixels                            a scan an image
//   png_packing      PngEncoding          pixels                            strips
//
// that is, a constructor from a vector of that class's tasks, memory(), write_upload(), launch(), and where
// the production class has one: in_order(), scan() or strips(). The ladder's table names it by
//
//   CodecRung{.name = "naive", .idea = "...", .origin = "...", .cuda = codec_run<NaiveEntropyDecoding>}
//
// The lab gives it a group of the same image, each with planes and streams of its own, fills what it writes
// with rubbish, and compares every image with what the host makes of it: in_order() must be true,
// coefficients, pixels and counts equal; a scan equal to libjpeg-turbo's; a strip equal to the host's, or,
// where it is filtered, to the host's filtered rows, and its Adler-32 right. Then launch() is timed by
// events, over several groups in turn so that nothing lies in the cache.
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
#include "lab/kernels/rung.h"

namespace imgpipe {

enum class CodecWork { entropy, reconstruction, decoding, jpeg_encoding, png_packing };

// The pixels that a rung makes or takes.
enum class CodecPixels {
  file,     // those that the file holds: grey or RGB
  grey,     // what the stage `gray` makes of them; reconstruction counts them too
  rgb_420,  // encoding: RGB, 4:2:0
};

// One image of a group on the device; a rung's class gets the one of these that its constructor takes.
struct CodecTask {
  EntropyTask entropy;
  ReconstructionTask reconstruction;
  JpegEncodingTask jpeg;
  PngEncodingTask png;
};

// What an encoder left of an image in the group's memory: a JPEG's scan is one part.
using CodedPart = PngEncoding::Strip;

// A CUDA rung made ready for a group.
class CodecRun {
 public:
  virtual ~CodecRun() = default;
  CodecRun(const CodecRun&) = delete;
  CodecRun& operator=(const CodecRun&) = delete;

  [[nodiscard]] virtual const GroupMemory& memory() const = 0;
  virtual void write_upload(std::byte* to) const = 0;
  [[nodiscard]] virtual CudaStatus launch(std::byte* memory, const CudaLaunch& launch) const = 0;
  [[nodiscard]] virtual bool in_order(std::size_t image, const std::byte* results) const = 0;
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
  [[nodiscard]] bool in_order(std::size_t image, const std::byte* results) const override {
    if constexpr (requires { group_.in_order(image, results); }) return group_.in_order(image, results);
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

// What of nvJPEG a yardstick runs (lab/pipeline/nvjpeg_runs.h).
enum class Nvjpeg { none, hardware, hybrid, encoder };

struct CodecRung {
  std::string_view name;    // unique in its ladder
  std::string_view idea;    // one line: what it does, or what it mends in the one before
  std::string_view origin;  // who published or shipped it
  RungKind kind = RungKind::cuda;
  CodecPixels pixels = CodecPixels::file;
  // Near: a library whose pixels are not exact; how many differ, and by how much, is counted and said.
  Claim claim = Claim::exact;
  bool production = false;  // what the product runs on its device
  bool foreign = false;     // another library's, as a yardstick

  // What it runs is one of these; of a CUDA rung none in a build without CUDA.
  std::unique_ptr<CodecRun> (*cuda)(std::span<const CodecTask>) = nullptr;
  // Runs behind it: the second half of decoding.
  std::unique_ptr<CodecRun> (*then)(std::span<const CodecTask>) = nullptr;
  std::unique_ptr<HostCodecRun> (*host)(const CodecGroup&) = nullptr;
  Nvjpeg nvjpeg = Nvjpeg::none;
  bool all_threads = false;  // nvJPEG: a pipeline for each thread of the host, in place of one

  // Decoding: timed by the host's clock from the file's bytes in host memory on: staging and upload too.
  bool from_host = false;
};

}  // namespace imgpipe
