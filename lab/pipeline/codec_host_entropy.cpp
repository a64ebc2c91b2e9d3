#include <algorithm>
#include <atomic>
#include <csetjmp>
#include <cstdio>
#include <deque>
#include <mutex>
#include <optional>
#include <utility>

#include <jpeglib.h>

#include "images/codecs/jpeg/scan_chunks.h"
#include "images/error.h"
#include "lab/kernels/jpeg_naive.h"
#include "lab/pipeline/codec_host.h"
#include "lab/pipeline/codec_subject.h"
#include "lab/pipeline/staged_copy.h"

namespace imgpipe {
namespace {

class SequentialEntropy final : public GroupRun {
 public:
  explicit SequentialEntropy(const CodecGroup& group)
      : GroupRun(group),
        scan_(naive_scan(subject().jpeg.scan)),
        staged_(subject().jpeg.scan),
        coefficients_(images()),
        in_order_(images()) {
    for (auto& one : coefficients_) one.resize(static_cast<std::size_t>(scan_.blocks() * kBlockSamples));
  }

  CodecOutput answer(std::size_t image) override {
    CodecOutput answer;
    answer.is_intact = in_order_[image] != 0;
    answer.coefficients = coefficients_[image];
    return answer;
  }

 protected:
  void make(std::size_t image) override {
    in_order_[image] = 1;
    for (std::size_t i = 0; i < staged_.scan().segments.size(); ++i) {
      if (!decode_segment_naively(scan_, staged_.bytes(), staged_.scan().segments[i],
                                  static_cast<std::int64_t>(i), coefficients_[image].data()))
        in_order_[image] = 0;
    }
  }

 private:
  NaiveScan scan_;
  StagedCopy staged_;
  std::vector<std::vector<std::int16_t>> coefficients_;
  std::vector<char> in_order_;
};

// As in jpeg_reader.cpp, functions that libjpeg jumps back into hold no object with a destructor.
class TurboCoefficients {
 public:
  TurboCoefficients() {
    decoder_.err = jpeg_std_error(&errors_.base);
    errors_.base.error_exit = [](j_common_ptr info) {
      std::longjmp(reinterpret_cast<Errors*>(info->err)->jump, 1);
    };
    errors_.base.emit_message = [](j_common_ptr, int) {};
    if (!create()) throw Error(ErrorKind::memory, "not enough memory for libjpeg-turbo");
  }
  ~TurboCoefficients() { jpeg_destroy_decompress(&decoder_); }
  TurboCoefficients(const TurboCoefficients&) = delete;
  TurboCoefficients& operator=(const TurboCoefficients&) = delete;

  // The coefficient arrays stay valid until the next call.
  bool read(std::span<const std::byte> file) {
    if (setjmp(errors_.jump) != 0) return false;
    jpeg_abort_decompress(&decoder_);
    jpeg_mem_src(&decoder_, reinterpret_cast<const unsigned char*>(file.data()),
                 static_cast<unsigned long>(file.size()));
    (void)jpeg_read_header(&decoder_, TRUE);
    arrays_ = jpeg_read_coefficients(&decoder_);
    return arrays_ != nullptr;
  }
  bool copy(const NaiveScan& scan, std::int16_t* coefficients) {
    if (setjmp(errors_.jump) != 0) return false;
    for (std::int64_t number = 0; number < scan.blocks(); ++number) {
      const std::int64_t mcu = number / scan.blocks_in_mcu;
      const auto in_mcu = static_cast<int>(number % scan.blocks_in_mcu);
      const int c = scan.component_of_block[in_mcu];
      const NaiveScan::Component& component = scan.component[c];
      const int at = in_mcu - component.first_block;
      const std::int64_t x = mcu % scan.mcus_across * component.across + at % component.across;
      const std::int64_t y = mcu / scan.mcus_across * component.down + at / component.across;
      JBLOCKARRAY rows = decoder_.mem->access_virt_barray(reinterpret_cast<j_common_ptr>(&decoder_),
                                                          arrays_[c], static_cast<JDIMENSION>(y), 1, FALSE);
      const JCOEF* block = rows[0][x];
      for (int i = 0; i < kBlockSamples; ++i) coefficients[number * kBlockSamples + i] = block[i];
    }
    return true;
  }

 private:
  struct Errors {
    jpeg_error_mgr base;  // first: libjpeg passes a pointer to it
    std::jmp_buf jump;
  };
  bool create() {
    if (setjmp(errors_.jump) != 0) return false;
    jpeg_create_decompress(&decoder_);
    return true;
  }

  Errors errors_{};
  jpeg_decompress_struct decoder_{};
  jvirt_barray_ptr* arrays_ = nullptr;
};

class TurboEntropy final : public GroupRun {
 public:
  explicit TurboEntropy(const CodecGroup& group) : GroupRun(group), decoders_(images()), done_(images()) {}

  CodecOutput answer(std::size_t image) override {
    const NaiveScan scan = naive_scan(subject().jpeg.scan);
    CodecOutput answer;
    answer.coefficients.resize(static_cast<std::size_t>(scan.blocks() * kBlockSamples));
    answer.is_intact = done_[image] != 0 && decoders_[image].copy(scan, answer.coefficients.data());
    return answer;
  }

 protected:
  void make(std::size_t image) override { done_[image] = decoders_[image].read(subject().file) ? 1 : 0; }

 private:
  std::vector<TurboCoefficients> decoders_;
  std::vector<char> done_;
};

CodecOutput output_of_blocks(const CodecSubject& subject, const std::vector<ConfirmedBlocks>& blocks,
                             bool complete) {
  CodecOutput answer;
  answer.is_intact = complete;
  answer.coefficients.resize(subject.coefficients.size());
  for (const ConfirmedBlocks& some : blocks)
    expand_blocks(subject.jpeg.scan, some, answer.coefficients.data());
  return answer;
}

// The chunks of one image, shared by all threads.
class SharedChunks {
 public:
  explicit SharedChunks(const CodecSubject& subject)
      : chunks_(subject.jpeg.scan, subject.jpeg.tables, kScanChunkBytes) {}

  // Decodes chunks until none is left to start.
  void help() {
    std::unique_lock lock(mutex_);
    while (!failed_) {
      std::optional<ScanChunkRange> range = chunks_.next();
      if (!range) return;
      const bool is_true = claimed_.empty() && !joining_;
      if (is_true && range->start == ScanChunkStart::guess) range->start = ScanChunkStart::truth;
      const ConfirmedState truth = is_true ? chunks_.truth() : ConfirmedState();
      std::shared_ptr<ScanChunk>& mine = claimed_.emplace_back();
      lock.unlock();
      std::shared_ptr<ScanChunk> chunk = chunks_.decode(*range, truth);
      lock.lock();
      mine = std::move(chunk);
      join(lock);
    }
  }
  [[nodiscard]] const std::vector<ConfirmedBlocks>& blocks() const { return blocks_; }
  [[nodiscard]] bool is_complete() const { return !failed_ && chunks_.is_complete(); }

 private:
  void join(std::unique_lock<std::mutex>& lock) {
    if (joining_) return;
    joining_ = true;
    while (!failed_ && !claimed_.empty() && claimed_.front()) {
      const std::shared_ptr<ScanChunk> chunk = std::move(claimed_.front());
      lock.unlock();
      std::vector<ConfirmedBlocks> more;
      const bool is_intact = chunks_.join(chunk, more);
      lock.lock();
      claimed_.pop_front();
      failed_ = failed_ || !is_intact;
      std::ranges::move(more, std::back_inserter(blocks_));
    }
    joining_ = false;
  }

  ScanChunks chunks_;
  std::mutex mutex_;
  std::deque<std::shared_ptr<ScanChunk>> claimed_;  // in order; null while being decoded
  bool joining_ = false, failed_ = false;
  std::vector<ConfirmedBlocks> blocks_;
};

class OwnEntropy final : public GroupRun {
 public:
  OwnEntropy(const CodecGroup& group, bool together)
      : GroupRun(group), together_(together), chunks_(images()) {}

  void begin() override {
    for (auto& image : chunks_) image = std::make_unique<SharedChunks>(subject());
  }
  void run(const Share& share) override { GroupRun::run(together_ ? Share{} : share); }
  CodecOutput answer(std::size_t image) override {
    return output_of_blocks(subject(), chunks_[image]->blocks(), chunks_[image]->is_complete());
  }

 protected:
  void make(std::size_t image) override { chunks_[image]->help(); }

 private:
  bool together_;
  std::vector<std::unique_ptr<SharedChunks>> chunks_;
};

}  // namespace

HostCodec sequential_entropy(const CodecGroup& group) {
  return std::make_unique<SequentialEntropy>(group);
}
HostCodec turbo_entropy(const CodecGroup& group) {
  return std::make_unique<TurboEntropy>(group);
}
HostCodec own_entropy(const CodecGroup& group) {
  return std::make_unique<OwnEntropy>(group, false);
}
HostCodec speculative_entropy(const CodecGroup& group) {
  return std::make_unique<OwnEntropy>(group, true);
}

}  // namespace imgpipe
