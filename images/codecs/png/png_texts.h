// The texts of a PNG: tEXt, zTXt, iTXt (PNG specification, 3rd edition, clause 11.3.3), among them XMP (XMP
// Specification Part 3) and IPTC as ImageMagick and ExifTool write it, in hexadecimal digits.
#pragma once

#include <cstddef>
#include <optional>
#include <span>
#include <string_view>
#include <vector>

#include "images/codecs/metadata/metadata.h"

namespace imgpipe {

[[nodiscard]] bool is_png_text(std::string_view type);
// Takes the data of a text chunk; `right`: its CRC is correct.
void read_png_text(std::span<const std::byte> data, std::string_view type, bool right, FoundMetadata& found);
// Returns the orientation in a chunk with XMP; upright if it is damaged or absent.
[[nodiscard]] Orientation png_xmp_orientation(std::span<const std::byte> data);
// Appends XMP, IPTC and texts.
void append_png_texts(std::vector<std::byte>& out, const Metadata& metadata);

// Returns the offset just past the zero at or after `from`, or the data's end.
[[nodiscard]] std::size_t after_png_string(std::span<const std::byte> data, std::size_t from);
// Decompresses a whole zlib stream of at most `most` bytes; nullopt if it is damaged, truncated or longer.
[[nodiscard]] std::optional<std::vector<std::byte>> inflated_png_data(std::span<const std::byte> stream,
                                                                      std::size_t most);
void append_png_chunk(std::vector<std::byte>& out, std::string_view type, std::span<const std::byte> data);
// The data is `head`, then `bytes` as a zlib stream.
void append_compressed_png_chunk(std::vector<std::byte>& out, std::string_view type, std::string_view head,
                                 std::span<const std::byte> bytes);

}  // namespace imgpipe
