#include <algorithm>
#include <atomic>
#include <utility>

#include "images/codecs/jpeg/scan_reference.h"
#include "lab/kernels/png_naive.h"
#include "lab/pipeline/codec_host.h"
#include "lab/pipeline/codec_strip.h"
#include "lab/pipeline/codec_subject.h"

namespace imgpipe {
namespace {

class SequentialEncoding final : public GroupRun {
 public:
  explicit SequentialEncoding(const CodecGroup& group) : GroupRun(group), scans_(images()) {}

  CodecOutput answer(std::size_t image) override {
    CodecOutput answer;
    answer.parts.push_back({.bytes = scans_[image]});
    return answer;
  }

 protected:
  void make(std::size_t image) override {
    scans_[image] = encode_scan_reference(subject().picture(CodecPixels::grey).view(), kLabQuality, false);
  }

 private:
  std::vector<std::vector<std::byte>> scans_;
};

class SequentialPacking final : public GroupRun {
 public:
  explicit SequentialPacking(const CodecGroup& group) : GroupRun(group), strips_(images()) {}

  CodecOutput answer(std::size_t image) override {
    CodecOutput answer;
    answer.parts = strips_[image];
    return answer;
  }

 protected:
  void make(std::size_t number) override {
    strips_[number].clear();
    const ConstHostPlane image = subject().picture(CodecPixels::grey).view();
    for (std::int64_t y = 0; y < image.height; y += subject().grey_strip_rows)
      pack(image.rows(y, std::min(subject().grey_strip_rows, image.height - y)), strips_[number]);
  }

 private:
  void pack(const ConstHostPlane& rows, std::vector<CodecOutput::Part>& strips) {
    const ConstHostPlane image = subject().picture(CodecPixels::grey).view();
    const auto bytes = static_cast<std::size_t>(rows.height * (rows.row_samples() + 1));
    filtered_.resize(bytes);
    seen_.resize(repeat_cells(bytes));
    CodecOutput::Part& part = strips.emplace_back();
    part.bytes.resize(stored_bytes(bytes) + 64);
    const bool last = rows.row(rows.height - 1) == image.row(image.height - 1);
    const naive_png::Packed packed =
        naive_png::pack_strip(rows, last, filtered_.data(), *workspace_, seen_.data(),
                              reinterpret_cast<std::uint8_t*>(part.bytes.data()));
    part.bytes.resize(packed.bytes);
    part.adler = packed.adler;
    part.filtered = packed.filtered != 0;
  }

  std::vector<std::vector<CodecOutput::Part>> strips_;
  std::vector<std::uint8_t> filtered_;
  std::vector<std::uint64_t> seen_;
  std::unique_ptr<naive_png::Workspace> workspace_ = std::make_unique<naive_png::Workspace>();
};

class TurboEncoding final : public GroupRun {
 public:
  explicit TurboEncoding(const CodecGroup& group) : GroupRun(group), files_(images()) {}

  CodecOutput answer(std::size_t image) override {
    CodecOutput answer;
    const std::span<const std::byte> data = coded_data(files_[image]);
    answer.parts.push_back({.bytes = {data.begin(), data.end()}});
    return answer;
  }

 protected:
  void make(std::size_t image) override { files_[image] = jpeg_of(subject().picture(CodecPixels::grey)); }

 private:
  std::vector<std::vector<std::byte>> files_;
};

class StripPacking final : public GroupRun {
 public:
  explicit StripPacking(const CodecGroup& group)
      : GroupRun(group), strips_(images(), std::vector<ExpectedStrip>(subject().grey_strips.size())) {}

  void begin() override { next_ = 0; }
  void run(const Share&) override {
    const ConstHostPlane image = subject().picture(CodecPixels::grey).view();
    const std::size_t in_image = subject().grey_strips.size();
    StripPacker packer;
    for (;;) {
      const std::size_t item = next_++;
      if (item >= in_image * strips_.size()) return;
      const auto first = static_cast<std::int64_t>(item % in_image) * subject().grey_strip_rows;
      const std::int64_t rows = std::min(subject().grey_strip_rows, image.height - first);
      packer.pack(image.rows(first, rows), item % in_image + 1 == in_image,
                  strips_[item / in_image][item % in_image]);
    }
  }
  CodecOutput answer(std::size_t image) override {
    CodecOutput answer;
    for (const ExpectedStrip& strip : strips_[image])
      answer.parts.push_back({.bytes = strip.bytes, .adler = strip.adler});
    return answer;
  }

 private:
  std::vector<std::vector<ExpectedStrip>> strips_;
  std::atomic<std::size_t> next_{0};
};

}  // namespace

HostCodec sequential_encoding(const CodecGroup& group) {
  return std::make_unique<SequentialEncoding>(group);
}
HostCodec sequential_packing(const CodecGroup& group) {
  return std::make_unique<SequentialPacking>(group);
}
HostCodec turbo_encoding(const CodecGroup& group) {
  return std::make_unique<TurboEncoding>(group);
}
HostCodec strip_packing(const CodecGroup& group) {
  return std::make_unique<StripPacking>(group);
}

}  // namespace imgpipe
