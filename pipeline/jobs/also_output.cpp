#include "pipeline/jobs/also_output.h"

#include <span>
#include <utility>
#include <vector>

#include "images/error.h"
#include "images/formats/codec_table.h"
#include "images/text.h"
#include "pipeline/file_encoding.h"

namespace imgpipe {

AlsoOutput::AlsoOutput(AlsoFile file, Mark mark) : file_(std::move(file)), mark_(mark) {
  if (mark_.made_of) mark_.made_of->options = file_.options;
}

template <class Action>
void AlsoOutput::named(const Action& action) const {
  naming(printable(file_.output), action);
}

void AlsoOutput::make(Format format, const Shape& image, EncodeOptions encode, OutputSync* sync,
                      bool stays_in_memory) {
  named([&] {
    shape_ = storable_shape(format, image, false);
    drops_alpha_ = image.has_alpha() && !shape_.has_alpha();
    encode.mark = mark_;
    if (file_.stack != nullptr) encode.in_stack = std::make_shared<const StackPosition>(file_.stack->next);
    encode.digest = file_.pixels;
    writer_ = make_writer(format, image, encode);
    if (file_.stack == nullptr && !stays_in_memory)
      output_ = std::make_unique<OutputFile>(file_.output, sync);
    if (output_ && file_.pixels) output_->hash_bytes();
  });
}

void AlsoOutput::encode(ConstHostView pixels, HostThreads& threads, Timeline& timeline) {
  named([&] { encoded_ = encode_image(pixels, *writer_, threads, timeline); });
  writer_.reset();
  bytes_ = static_cast<std::int64_t>(encoded_.size_bytes());
}

void AlsoOutput::write(const std::function<void(const std::string&)>& before_first_byte,
                       const std::function<void(const std::string&, const Mark&)>& before_write,
                       Timeline& timeline) {
  const auto span = timeline.span("write", SpanKind::host, bytes_);
  named([&] {
    before_first_byte(file_.output);
    if (output_ && output_->exists()) before_write(file_.output, mark_);
    OutputFile& output = file_.stack != nullptr ? file_.stack->file : *output_;
    output.append(std::span<const std::vector<std::byte>>(encoded_.parts));
    const auto begin = static_cast<std::uint64_t>(file_.stack == nullptr ? 0 : file_.stack->next.at);
    for (const EncodedFile::Patch& patch : encoded_.patches) output.overwrite(begin + patch.at, patch.bytes);
    if (file_.stack != nullptr) return;
    output.put_in_place();
    if (file_.pixels) hashes_ = {output.sha256(), file_.pixels->hex()};
  });
  if (file_.stack != nullptr) file_.stack->next.advance(bytes_);
  encoded_ = {};
}

}  // namespace imgpipe
