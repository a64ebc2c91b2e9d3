#include "images/formats/page_list.h"

#include <utility>
#include <vector>

#include "images/files/file.h"
#include "images/formats/codec_table.h"
#include "images/memory/available_memory.h"

namespace imgpipe {
namespace {

const Codec* codec_with_pages(std::span<const std::byte> beginning) {
  const Codec* const codec = codec_by_content(beginning);
  return codec != nullptr && codec->open_pages != nullptr ? codec : nullptr;
}

}  // namespace

PageList::PageList(std::string path, const DecodeOptions& options, InputKind kind)
    : path_(std::move(path)), options_(options), kind_(kind) {
  constexpr std::size_t kSignatureBytes = 64;
  size_bytes_ = file_size_bytes(path_);
  const bool is_stream = path_ == kStandardStream || size_bytes_ == 0;
  if (is_stream && kind_ == InputKind::any) {
    stream_ = std::make_unique<ImageStream>(open_source(path_), options_);
    if (stream_->begins_with_image() && !stream_->at_end()) return;
    file_ = std::make_unique<InputFile>(stream_->rest());
    stream_.reset();
    size_bytes_ = file_->size_bytes();
  } else if (is_stream) {
    file_ = std::make_unique<InputFile>(open_input(path_, options_, kind_));
    size_bytes_ = file_->size_bytes();
  } else if (std::optional<InputFile> lying = open_on_disk(path_, kSignatureBytes);
             lying && codec_with_pages(lying->bytes()) != nullptr) {
    file_ = std::make_unique<InputFile>(std::move(*lying));
  }
  if (!file_) return;
  if (const Codec* const codec = codec_with_pages(file_->bytes())) {
    check_bands(*codec, options_);
    pages_ = codec->open_pages(*file_, options_);
  }
  if (!pages_ && !file_->is_whole()) file_.reset();  // one image, which page() reads
}

InputFile PageList::page(std::int64_t index, Pages::Part part) const {
  if (pages_) return pages_->page(index, part);
  if (!file_) return open_input(path_, options_, kind_);
  check_available(file_->size_bytes());
  return InputFile(std::vector<std::byte>(file_->bytes().begin(), file_->bytes().end()));
}

std::uint64_t PageList::content_hash() const {
  if (stream_) return 0;
  if (file_) return imgpipe::content_hash(*file_);
  const std::optional<InputFile> file = open_on_disk(path_, 0);
  return file ? imgpipe::content_hash(*file) : 0;
}

void PageList::hash_passing_bytes() {
  if (file_) file_->hash_passing_bytes();
}

std::string PageList::sha256() const {
  if (stream_) return "";
  if (file_) return file_->sha256();
  const std::optional<InputFile> file = open_on_disk(path_, 0);
  return file ? file->sha256() : "";
}

std::string PageList::warning() const {
  if (!pages_) return "";
  std::string text = pages_->warning();
  if (!text.empty()) text += "; the pages before that are used";
  if (pages_->masks() > 0)
    text += (text.empty() ? "skipped transparency masks: " : "; skipped transparency masks: ") +
            std::to_string(pages_->masks());
  return text;
}

}  // namespace imgpipe
