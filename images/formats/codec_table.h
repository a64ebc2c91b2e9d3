// The codec table: one row per format. A new codec is a directory, a name in Format (codec.h) and a row here.
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

// The channel layouts that files of a format can hold.
struct SupportedChannels {
  bool grey = false, grey_alpha = false, rgb = false, rgba = false;

  [[nodiscard]] constexpr bool has(int channels) const {
    return channels == 1 ? grey : channels == 2 ? grey_alpha : channels == 3 ? rgb : channels == 4 && rgba;
  }
  [[nodiscard]] constexpr bool any() const { return grey || grey_alpha || rgb || rgba; }
};

struct Codec {
  Format format;
  std::string_view name;                      // the value of --format
  std::span<const std::string_view> endings;  // extensions, lower case, no dot; the first is the default
  SupportedChannels holds;
  int written_bits = 8;        // the maximum bits of the integer samples that its writer accepts; 0: none
  bool holds_floats = false;   // its writer accepts f32
  bool holds_tensors = false;  // its writer takes tensors; images too if it `holds` any

  // Whether a file is of this format; no two rows recognise the same file. nullptr: left to other rows.
  bool (*recognises)(Bytes beginning) = nullptr;
  // Input of longest_file().
  FileClaim (*claim)(Bytes beginning) = nullptr;
  std::unique_ptr<Reader> (*open)(Bytes file, const DecodeOptions& options) = nullptr;
  // is_streamable() returns whether a file that begins like this can be read row by row from disk;
  // open_streamed() opens its reader. Both are set or neither; the files of other codecs are read into memory
  // whole.
  bool (*is_streamable)(Bytes beginning, const DecodeOptions& options) = nullptr;
  std::unique_ptr<Reader> (*open_streamed)(const InputFile& file, const DecodeOptions& options) = nullptr;

  // Whether open() supports DecodeOptions::bands; images of other codecs are rejected if bands are selected.
  bool selects_bands = false;

  // Opens the pages of `file`, which must outlive them (images/codecs/pages.h); returns nullptr for a file
  // with one image. nullptr: all files have one image, or their further images are not pages.
  std::unique_ptr<Pages> (*open_pages)(const InputFile& file, const DecodeOptions& options) = nullptr;
  // Returns the most bytes of a stack's page (EncodeOptions::in_stack), without metadata; nullptr: no stacks.
  std::int64_t (*max_page_bytes)(Shape shape, const EncodeOptions& options) = nullptr;

  // Finds the end of an image in a stream (images/codecs/end_finder.h); nullptr: the headers do not give it.
  std::unique_ptr<EndFinder> (*find_end)() = nullptr;

  // Makes a writer for a shape that the format `holds`. nullptr: read only.
  std::unique_ptr<Writer> (*make_writer)(Shape shape, const EncodeOptions& options) = nullptr;
  // Returns the mark of a file that begins like this (images/codecs/mark.h). Set if there is a writer.
  Mark (*find_mark)(Bytes beginning) = nullptr;
  // Inserts a mark into a complete file from stb_image_write, if that writes the format.
  void (*add_mark)(std::vector<std::byte>& file, const Mark& mark) = nullptr;

  // Finds the metadata of a complete file; nullptr: none. `supported_metadata`: what the writer takes.
  FoundMetadata (*find_metadata)(Bytes file) = nullptr;
  SupportedMetadata supported_metadata{};
  // Inserts metadata into a file from stb_image_write, before add_mark(); nullptr if the format holds none.
  void (*add_metadata)(std::vector<std::byte>& file, const Metadata& metadata) = nullptr;

  // `describe` returns how a file that open() accepts is stored (images/codecs/file_details.h). `load_header`
  // loads the parts that describe(), open() and find_metadata() need; nullptr: the whole file, unless it is
  // read row by row.
  FileDetails (*describe)(Bytes file) = nullptr;
  void (*load_header)(PartialFile& front) = nullptr;

  // Returns names and versions of the libraries used; nullptr: our own code.
  std::vector<std::string> (*libraries)() = nullptr;
};

// The rows in the order of Format.
[[nodiscard]] std::span<const Codec> codec_table();
[[nodiscard]] const Codec& codec_of(Format format);
// Returns the codec that recognises the bytes, or nullptr.
[[nodiscard]] const Codec* codec_by_content(Bytes beginning);

// Throws Error(input) if bands are selected and this is the codec of a format without them.
void check_bands(const Codec& codec, const DecodeOptions& options);
// Throws Error(input) if DecodeOptions::scale needs a JPEG and this is the codec of another format.
void check_scale(const Codec& codec, const DecodeOptions& options);

}  // namespace imgpipe
