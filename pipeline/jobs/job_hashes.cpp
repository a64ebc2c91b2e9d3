// Hashes of the files of a job: ImageSettings::hash.
#include <memory>
#include <string>
#include <vector>

#include "images/error.h"
#include "images/pixel_digest.h"
#include "pipeline/jobs/image_job.h"
#include "pipeline/jobs/input_job.h"

namespace imgpipe {

void ImageJob::make_digests() {
  const auto make = [](std::shared_ptr<PixelDigest>& digest) {
    if (!digest) digest = std::make_shared<PixelDigest>();
  };
  make(files_.input_pixels);
  make(files_.output_pixels);
  for (AlsoFile& also : files_.also) make(also.pixels);
}

// Hashes the bytes of the input that its reader has not passed. Must be called before the input is released.
void ImageJob::hash_input() {
  if (!settings_.hash || files_.is_part) return;
  const auto span = image_.timeline.span("hash", SpanKind::host, input_bytes_);
  naming(files_.input_name, [&] { input_hash_ = input_.sha256(); });
}

FileHashes ImageJob::input_hashes() const {
  return {input_hash_, files_.input_pixels ? files_.input_pixels->hex() : ""};
}

FileHashes ImageJob::output_hashes() const {
  return {output_hash_, files_.output_pixels ? files_.output_pixels->hex() : ""};
}

void InputJob::hash_stacks() {
  stack_->file.hash_bytes();
  files_.output_pixels = std::make_shared<PixelDigest>();
  for (AlsoFile& also : files_.also) {
    also.stack->file.hash_bytes();
    also.pixels = std::make_shared<PixelDigest>();
  }
}

FileHashes InputJob::input_hashes() const {
  if (single_ && !request_) return single_->input_hashes();
  const FileHashes of_item = single_ ? single_->input_hashes() : FileHashes();
  return {input_hash_, files_.input_pixels ? files_.input_pixels->hex() : of_item.pixels};
}

FileHashes InputJob::output_hashes() const {
  if (single_) return single_->output_hashes();
  if (!stack_ || !files_.output_pixels) return {};
  return {stack_->file.sha256(), files_.output_pixels->hex()};
}

std::vector<FileHashes> InputJob::also_hashes() const {
  std::vector<FileHashes> hashes;
  if (single_)
    for (const AlsoOutput& output : single_->also()) hashes.push_back(output.hashes());
  if (stack_)
    for (const AlsoFile& also : files_.also)
      if (also.pixels) hashes.push_back({also.stack->file.sha256(), also.pixels->hex()});
  return hashes;
}

}  // namespace imgpipe
