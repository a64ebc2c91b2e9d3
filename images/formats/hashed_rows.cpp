#include "images/formats/hashed_rows.h"

#include <utility>

namespace imgpipe {
namespace {

class HashedReader final : public Reader {
 public:
  HashedReader(std::unique_ptr<Reader> inner, std::shared_ptr<PixelDigest> digest)
      : inner_(std::move(inner)), digest_(std::move(digest)) {
    header_ = inner_->header();
    warnings_ = inner_->warnings();
  }

  bool use_less_memory() override { return inner_->use_less_memory(); }
  [[nodiscard]] std::string_view decoder() const noexcept override { return inner_->decoder(); }
  [[nodiscard]] std::int64_t working_bytes(bool whole) const override { return inner_->working_bytes(whole); }
  [[nodiscard]] std::int64_t library_bytes(bool whole) const override { return inner_->library_bytes(whole); }

 protected:
  void read_next_rows(HostView rows) override {
    inner_->read_rows(rows);
    warnings_ = inner_->warnings();
    digest_->add(rows);
  }

 private:
  const std::unique_ptr<Reader> inner_;
  const std::shared_ptr<PixelDigest> digest_;
};

class HashedWriter final : public Writer {
 public:
  HashedWriter(std::unique_ptr<Writer> inner, std::shared_ptr<PixelDigest> digest)
      : inner_(std::move(inner)), digest_(std::move(digest)) {}

  void write_rows(ConstHostView rows) override {
    digest_->add(rows);
    inner_->write_rows(rows);
  }
  [[nodiscard]] std::int64_t working_bytes() const override { return inner_->working_bytes(); }
  [[nodiscard]] std::int64_t working_bytes_when_taken(std::int64_t rows) const override {
    return inner_->working_bytes_when_taken(rows);
  }
  [[nodiscard]] std::int64_t library_bytes() const override { return inner_->library_bytes(); }
  EncodedFile take_finished() override { return inner_->take_finished(); }
  EncodedFile finish() override { return inner_->finish(); }

 private:
  const std::unique_ptr<Writer> inner_;
  const std::shared_ptr<PixelDigest> digest_;
};

}  // namespace

std::unique_ptr<Reader> hash_rows(std::unique_ptr<Reader> reader, std::shared_ptr<PixelDigest> digest) {
  return std::make_unique<HashedReader>(std::move(reader), std::move(digest));
}

std::unique_ptr<Writer> hash_rows(std::unique_ptr<Writer> writer, std::shared_ptr<PixelDigest> digest) {
  return std::make_unique<HashedWriter>(std::move(writer), std::move(digest));
}

}  // namespace imgpipe
