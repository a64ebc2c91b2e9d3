// The codecs, one row each: all that imgpipe asks of a format by its name. Nothing outside this table and a
// codec's own folder tells one format from another.
//
// A new codec is its folder, its name in Format (codec.h) and its row here.
#pragma once

#include <cstddef>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "images/codecs/codec.h"
#include "images/codecs/codec_parts.h"
#include "images/codecs/end_finder.h"
#include "images/codecs/file_details.h"
#include "images/codecs/metadata/metadata.h"
#include "images/codecs/pages.h"

namespace imgpipe {

// Which channels a file of a format can hold.
struct HeldChannels {
  bool grey = false, grey_alpha = false, rgb = false, rgba = false;

  [[nodiscard]] constexpr bool has(int channels) const {
    return channels == 1 ? grey : channels == 2 ? grey_alpha : channels == 3 ? rgb : channels == 4 && rgba;
  }
};

struct Codec {
  Format format;
  std::string_view name;                      // as --format takes it
  std::span<const std::string_view> endings;  // of file names, lower case, without the dot; the first is ours
  HeldChannels holds;
  int written_bits = 8;  // a sample: the most that its writer takes

  // Whether a file begins like one of these. Of no two rows for one file. nullptr: another row's name, whose
  // files are told as that one's.
  bool (*recognises)(Bytes beginning) = nullptr;
  // What longest_file() goes by.
  FileClaim (*claim)(Bytes beginning) = nullptr;
  std::unique_ptr<Reader> (*open)(Bytes file, const DecodeOptions& options) = nullptr;
  // Whether a file that begins like this can be read row by row from where it lies, and how; both or none.
  // Of every other codec the whole file is held.
  bool (*is_streamable)(Bytes beginning, const DecodeOptions& options) = nullptr;
  std::unique_ptr<Reader> (*open_streamed)(const InputFile& file, const DecodeOptions& options) = nullptr;

  // Whether open() follows DecodeOptions::bands. Images of other codecs are refused then.
  bool selects_bands = false;

  // The pages of a file (images/codecs/pages.h), which outlives them; nullptr: a file has one image, or what
  // it has more is no page.
  std::unique_ptr<Pages> (*open_pages)(const InputFile& file, const DecodeOptions& options) = nullptr;
  // Set: its writer makes pages of a stack (EncodeOptions::in_stack). The most bytes of one, metadata aside.
  std::int64_t (*most_page_bytes)(Shape shape, const EncodeOptions& options) = nullptr;

  // Finds where an image ends that others follow (images/codecs/end_finder.h); nullptr: its headers do not
  // say.
  std::unique_ptr<EndFinder> (*find_end)() = nullptr;

  // For a shape that it `holds`. nullptr: is read only.
  std::unique_ptr<Writer> (*make_writer)(Shape shape, const EncodeOptions& options) = nullptr;
  // The mark of a file that begins like this (images/codecs/mark.h). Every codec that writes has it.
  Mark (*find_mark)(Bytes beginning) = nullptr;
  // Puts a mark into a whole file of stb_image_write, where that writes the format.
  void (*add_mark)(std::vector<std::byte>& file, const Mark& mark) = nullptr;

  // What of a whole file's metadata is there; nullptr: none is looked for. And what its writer takes.
  FoundMetadata (*find_metadata)(Bytes file) = nullptr;
  HeldMetadata holds_metadata{};
  // As add_mark(), before it; nullptr where it holds none.
  void (*add_metadata)(std::vector<std::byte>& file, const Metadata& metadata) = nullptr;

  // How a file is stored that open() takes; and what of it is to be read for that, for open() and for
  // find_metadata, where it is not read row by row; nullptr: all of it (images/codecs/file_details.h).
  FileDetails (*describe)(Bytes file) = nullptr;
  void (*load_header)(FileFront& front) = nullptr;

  // Names and versions of the libraries behind it; nullptr: our own code.
  std::vector<std::string> (*libraries)() = nullptr;
};

// In the order of Format.
[[nodiscard]] std::span<const Codec> codec_table();
[[nodiscard]] const Codec& codec_of(Format format);
// That which recognises the bytes; nullptr where none does.
[[nodiscard]] const Codec* codec_by_content(Bytes beginning);

}  // namespace imgpipe
