#include "images/formats/pending_input.h"

#include <utility>

#include "images/error.h"
#include "images/files/file.h"
#include "images/formats/codec_table.h"

namespace imgpipe {
namespace {

const Codec* streaming_codec(std::span<const std::byte> beginning) {
  const Codec* codec = codec_by_content(beginning);
  return codec != nullptr && codec->is_streamable != nullptr ? codec : nullptr;
}

// Opens a file that can and may be read row by row; nullopt for all others.
std::optional<InputFile> open_for_streaming(const std::string& path, const DecodeOptions& options) {
  constexpr std::size_t kSignatureBytes = 32;  // more than detection of any format needs
  // Non-regular files are not opened: opening and closing a FIFO would lose its writer.
  if (options.codec == CodecChoice::stb || options.selects_bands() ||
      file_size_bytes(path) <= kSmallFileBytes)
    return std::nullopt;
  const std::optional<InputFile> signature = open_on_disk(path, kSignatureBytes);
  if (!signature || streaming_codec(signature->bytes()) == nullptr) return std::nullopt;
  std::optional<InputFile> file = open_on_disk(path, kFileBeginningBytes);
  if (!file || file->bytes().size() < kFileBeginningBytes) return std::nullopt;
  const Codec* codec = streaming_codec(file->bytes());
  if (codec == nullptr || !codec->is_streamable(file->bytes(), options) ||
      file->size_bytes() > longest_file(file->bytes(), options))
    return std::nullopt;
  return file;
}

}  // namespace

PendingInput::PendingInput(std::string path, const DecodeOptions& options, InputKind kind)
    : path_(std::move(path)), options_(options), kind_(kind) {
  if (path_ == kStandardStream) return;
  try {
    opened_ = open_for_streaming(path_, options_);
  } catch (const Error&) {
    // read() reports the error.
  }
}

std::int64_t PendingInput::held_bytes() const {
  return opened_ ? static_cast<std::int64_t>(opened_->bytes().size()) : file_size_bytes(path_);
}

InputFile PendingInput::read() {
  if (opened_) return *std::exchange(opened_, std::nullopt);
  const auto read_whole = kind_ == InputKind::any ? read_file : read_regular_file;
  return InputFile(read_whole(path_, max_file_bytes(options_), [&](std::span<const std::byte> beginning) {
    return longest_file(beginning, options_);
  }));
}

InputFile open_input(const std::string& path, const DecodeOptions& options, InputKind kind) {
  return PendingInput(path, options, kind).read();
}

std::unique_ptr<Reader> open_reader(const InputFile& file, const DecodeOptions& options) {
  if (options.with_profile)
    return open_with_profile(file.bytes(), options,
                             [&](const DecodeOptions& plain) { return open_reader(file, plain); });
  // A page is not a JPEG. open_reader() checks whole files.
  if (options.scale > 1 && (file.open_page() || !file.is_whole())) {
    if (const Codec* codec = codec_by_content(file.bytes()); codec != nullptr) check_scale(*codec, options);
  }
  if (file.open_page()) return file.open_page()(options);
  return file.is_whole() ? open_reader(file.bytes(), options)
                         : codec_by_content(file.bytes())->open_streamed(file, options);
}

}  // namespace imgpipe
