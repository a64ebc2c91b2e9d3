#include "images/formats/codec_table.h"

#include <algorithm>
#include <array>
#include <cctype>

#include "images/codecs/avif/avif_codec.h"
#include "images/codecs/bmp/bmp_codec.h"
#include "images/codecs/gif/gif_codec.h"
#include "images/codecs/heic/heic_codec.h"
#include "images/codecs/heif/heif_codec.h"
#include "images/codecs/jpeg/jpeg_codec.h"
#include "images/codecs/jxl/jxl_codec.h"
#include "images/codecs/netpbm/netpbm_codec.h"
#include "images/codecs/pfm/pfm_codec.h"
#include "images/codecs/png/png_codec.h"
#include "images/codecs/psd/psd_codec.h"
#include "images/codecs/tensor/npy_reader.h"
#include "images/codecs/tensor/tensor_codec.h"
#include "images/codecs/tga/tga_codec.h"
#include "images/codecs/tiff/tiff_codec.h"
#include "images/codecs/tiff/tiff_pages.h"
#include "images/codecs/webp/webp_codec.h"

namespace imgpipe {
namespace {

using namespace std::string_view_literals;

constexpr std::array kJpegEndings{"jpg"sv, "jpeg"sv, "jpe"sv, "jfif"sv};
constexpr std::array kPngEndings{"png"sv};
constexpr std::array kBmpEndings{"bmp"sv, "dib"sv};
constexpr std::array kGifEndings{"gif"sv};
constexpr std::array kTgaEndings{"tga"sv};
constexpr std::array kPsdEndings{"psd"sv};
constexpr std::array kWebpEndings{"webp"sv};
constexpr std::array kAvifEndings{"avif"sv, "avifs"sv};
constexpr std::array kHeicEndings{"heic"sv, "heif"sv, "hif"sv};
constexpr std::array kJxlEndings{"jxl"sv};
constexpr std::array kTiffEndings{"tif"sv, "tiff"sv};
constexpr std::array kPbmEndings{"pbm"sv};
constexpr std::array kPgmEndings{"pgm"sv};
constexpr std::array kPpmEndings{"ppm"sv};
constexpr std::array kPnmEndings{"pnm"sv};
constexpr std::array kPfmEndings{"pfm"sv};
constexpr std::array kNpyEndings{"npy"sv};
constexpr std::array kSafetensorsEndings{"safetensors"sv};

constexpr std::array kCodecs{
    Codec{.format = Format::jpeg,
          .name = "jpeg",
          .endings = kJpegEndings,
          .holds = {.grey = true, .rgb = true},
          .recognises = is_jpeg,
          .claim = jpeg_claim,
          .open = open_jpeg,
          .find_end = find_jpeg_end,
          .make_writer = make_jpeg_writer,
          .find_mark = find_jpeg_mark,
          .add_mark = add_jpeg_mark,
          .find_metadata = find_jpeg_metadata,
          .supported_metadata =
              {.icc = true, .exif = true, .xmp = true, .iptc = true, .resolution = true, .comments = true},
          .add_metadata = add_jpeg_metadata,
          .describe = describe_jpeg,
          .load_header = load_jpeg_header,
          .libraries = jpeg_libraries},
    Codec{.format = Format::png,
          .name = "png",
          .endings = kPngEndings,
          .holds = {.grey = true, .grey_alpha = true, .rgb = true, .rgba = true},
          .written_bits = 16,
          .recognises = is_png,
          .claim = png_claim,
          .open = open_png,
          .open_pages = open_png_pages,
          .find_end = find_png_end,
          .make_writer = make_png_writer,
          .find_mark = find_png_mark,
          .add_mark = add_png_mark,
          .find_metadata = find_png_metadata,
          .supported_metadata = {.icc = true,
                                 .exif = true,
                                 .xmp = true,
                                 .iptc = true,
                                 .resolution = true,
                                 .comments = true,
                                 .texts = true},
          .add_metadata = add_png_metadata,
          .describe = describe_png,
          .load_header = load_png_chunks,
          .libraries = png_libraries},
    Codec{.format = Format::bmp,
          .name = "bmp",
          .endings = kBmpEndings,
          .holds = {.grey = true, .rgb = true, .rgba = true},
          .recognises = is_bmp,
          .claim = bmp_claim,
          .open = open_bmp,
          .find_end = find_bmp_end,
          .make_writer = make_bmp_writer,
          .find_mark = find_bmp_mark,
          .add_mark = add_bmp_mark,
          .find_metadata = find_bmp_metadata,
          .supported_metadata = {.resolution = true},
          .add_metadata = add_bmp_metadata,
          .describe = describe_bmp,
          .load_header = load_bmp_header},
    Codec{.format = Format::gif,
          .name = "gif",
          .endings = kGifEndings,
          .holds = {.rgb = true, .rgba = true},
          .recognises = is_gif,
          .claim = gif_claim,
          .open = open_gif,
          .open_pages = open_gif_pages,
          .find_metadata = find_gif_metadata,
          .describe = describe_gif},
    Codec{.format = Format::tga,
          .name = "tga",
          .endings = kTgaEndings,
          .holds = {.grey = true, .grey_alpha = true, .rgb = true, .rgba = true},
          .recognises = is_tga,
          .claim = tga_claim,
          .open = open_tga,
          .make_writer = make_tga_writer,
          .find_mark = find_tga_mark,
          .add_mark = add_tga_mark,
          .find_metadata = find_tga_metadata,
          .describe = describe_tga,
          .load_header = load_tga_header},
    Codec{.format = Format::psd,
          .name = "psd",
          .endings = kPsdEndings,
          .holds = {.grey = true, .grey_alpha = true, .rgb = true, .rgba = true},
          .recognises = is_psd,
          .claim = psd_claim,
          .open = open_psd,
          .find_metadata = find_psd_metadata,
          .describe = describe_psd,
          .load_header = load_psd_sections},
    Codec{.format = Format::webp,
          .name = "webp",
          .endings = kWebpEndings,
          .holds = {.rgb = true, .rgba = true},
          .recognises = is_webp,
          .claim = webp_claim,
          .open = open_webp,
          .open_pages = open_webp_pages,
          .find_end = find_webp_end,
          .make_writer = make_webp_writer,
          .find_mark = find_webp_mark,
          .find_metadata = find_webp_metadata,
          .supported_metadata = {.icc = true, .exif = true, .xmp = true},
          .describe = describe_webp,
          .libraries = webp_libraries},
    Codec{.format = Format::avif,
          .name = "avif",
          .endings = kAvifEndings,
          .holds = {.grey = true, .grey_alpha = true, .rgb = true, .rgba = true},
#ifdef IMGPIPE_WITH_AVIF
          .recognises = is_avif,
          .claim = heif_claim,
          .open = open_avif,
          .find_metadata = find_avif_metadata,
          .describe = describe_avif,
          .libraries = avif_libraries
#endif
    },
    Codec{.format = Format::heic,
          .name = "heic",
          .endings = kHeicEndings,
          .holds = {.grey = true, .grey_alpha = true, .rgb = true, .rgba = true},
#ifdef IMGPIPE_WITH_HEIC
          .recognises = is_heic,
          .claim = heif_claim,
          .open = open_heic,
          .find_metadata = find_heic_metadata,
          .describe = describe_heic,
          .libraries = heic_libraries
#endif
    },
    Codec{.format = Format::jxl,
          .name = "jxl",
          .endings = kJxlEndings,
          .holds = {.grey = true, .grey_alpha = true, .rgb = true, .rgba = true},
#ifdef IMGPIPE_WITH_JXL
          .recognises = is_jxl,
          .claim = jxl_claim,
          .open = open_jxl,
          .find_metadata = find_jxl_metadata,
          .describe = describe_jxl,
          .libraries = jxl_libraries
#endif
    },
    Codec{.format = Format::tiff,
          .name = "tiff",
          .endings = kTiffEndings,
          .holds = {.grey = true, .grey_alpha = true, .rgb = true, .rgba = true},
          .written_bits = 16,
          .holds_floats = true,
          .recognises = is_tiff,
          .claim = tiff_claim,
          .open = open_tiff,
          .selects_bands = true,
          .open_pages = open_tiff_pages,
          .max_page_bytes = max_tiff_page_bytes,
          .make_writer = make_tiff_writer,
          .find_mark = find_tiff_mark,
          .find_metadata = find_tiff_metadata,
          .supported_metadata =
              {.icc = true, .exif = true, .xmp = true, .iptc = true, .resolution = true, .fields = true},
          .describe = describe_tiff,
          .load_header = load_tiff_directory,
          .libraries = tiff_libraries},
    Codec{.format = Format::pbm,
          .name = "pbm",
          .endings = kPbmEndings,
          .holds = {.grey = true},
          .recognises = is_pbm,
          .claim = netpbm_claim,
          .open = open_netpbm,
          .is_streamable = is_raw_netpbm,
          .open_streamed = open_netpbm_rows,
          .find_end = find_netpbm_end,
          .find_metadata = find_netpbm_metadata,
          .describe = describe_netpbm},
    Codec{.format = Format::pgm,
          .name = "pgm",
          .endings = kPgmEndings,
          .holds = {.grey = true},
          .written_bits = 16,
          .recognises = is_pgm,
          .claim = netpbm_claim,
          .open = open_netpbm,
          .is_streamable = is_raw_netpbm,
          .open_streamed = open_netpbm_rows,
          .find_end = find_netpbm_end,
          .make_writer = make_netpbm_writer,
          .find_mark = find_netpbm_mark,
          .find_metadata = find_netpbm_metadata,
          .describe = describe_netpbm},
    Codec{.format = Format::ppm,
          .name = "ppm",
          .endings = kPpmEndings,
          .holds = {.rgb = true},
          .written_bits = 16,
          .recognises = is_ppm,
          .claim = netpbm_claim,
          .open = open_netpbm,
          .is_streamable = is_raw_netpbm,
          .open_streamed = open_netpbm_rows,
          .find_end = find_netpbm_end,
          .make_writer = make_netpbm_writer,
          .find_mark = find_netpbm_mark,
          .find_metadata = find_netpbm_metadata,
          .describe = describe_netpbm},
    // The name pnm stands for all three Netpbm formats; written as PGM or PPM. The three rows above recognise
    // the files.
    Codec{.format = Format::pnm,
          .name = "pnm",
          .endings = kPnmEndings,
          .holds = {.grey = true, .rgb = true},
          .written_bits = 16,
          .claim = netpbm_claim,
          .open = open_netpbm,
          .is_streamable = is_raw_netpbm,
          .open_streamed = open_netpbm_rows,
          .find_end = find_netpbm_end,
          .make_writer = make_netpbm_writer,
          .find_mark = find_netpbm_mark,
          .find_metadata = find_netpbm_metadata,
          .describe = describe_netpbm},
    Codec{.format = Format::pfm,
          .name = "pfm",
          .endings = kPfmEndings,
          .holds = {.grey = true, .rgb = true},
          .written_bits = 0,
          .holds_floats = true,
          .recognises = is_pfm,
          .claim = pfm_claim,
          .open = open_pfm,
          .is_streamable = is_readable_pfm,
          .open_streamed = open_pfm_rows,
          .make_writer = make_pfm_writer,
          .find_mark = find_pfm_mark,
          .describe = describe_pfm},
    Codec{.format = Format::npy,
          .name = "npy",
          .endings = kNpyEndings,
          .holds = {.grey = true, .grey_alpha = true, .rgb = true, .rgba = true},
          .written_bits = 16,
          .holds_floats = true,
          .holds_tensors = true,
          .recognises = is_npy,
          .claim = npy_claim,
          .open = open_npy,
          .is_streamable = is_readable_npy,
          .open_streamed = open_npy_rows,
          .make_writer = make_npy_writer,
          .find_mark = find_npy_mark,
          .describe = describe_npy},
    Codec{.format = Format::safetensors,
          .name = "safetensors",
          .endings = kSafetensorsEndings,
          .holds = {},
          .written_bits = 16,
          .holds_tensors = true,
          .make_writer = make_safetensors_writer,
          .find_mark = find_safetensors_mark},
};

FormatInfo info_of(const Codec& codec) {
  return {.format = codec.format,
          .name = codec.name,
          .endings = codec.endings,
          .readable = codec.open != nullptr,
          .writable = codec.make_writer != nullptr && codec.holds.any(),
          .holds_tensors = codec.holds_tensors,
          .holds_alpha = codec.holds.grey_alpha || codec.holds.rgba,
          .holds_color = codec.holds.rgb || codec.holds.rgba,
          .written_bits = codec.written_bits,
          .holds_floats = codec.holds_floats};
}

// Not constexpr: under -fsanitize=undefined, GCC rejects function addresses in constants (GCC bug 71962).
const std::array<FormatInfo, kCodecs.size()>& infos() {
  static const auto all = [] {
    std::array<FormatInfo, kCodecs.size()> made{};
    std::ranges::transform(kCodecs, made.begin(), info_of);
    return made;
  }();
  return all;
}

constexpr bool in_the_order_of_format() {
  for (std::size_t i = 0; i < kCodecs.size(); ++i)
    if (kCodecs[i].format != static_cast<Format>(i)) return false;
  return true;
}
static_assert(in_the_order_of_format());

std::string lower(std::string_view text) {
  std::string out(text);
  std::ranges::transform(out, out.begin(),
                         [](unsigned char c) { return static_cast<char>(std::tolower(c)); });
  return out;
}

}  // namespace

std::span<const Codec> codec_table() {
  return kCodecs;
}

const Codec& codec_of(Format format) {
  return kCodecs[static_cast<std::size_t>(format)];
}

const Codec* codec_by_content(Bytes beginning) {
  const auto* codec = std::ranges::find_if(
      kCodecs, [&](const Codec& one) { return one.recognises != nullptr && one.recognises(beginning); });
  return codec == kCodecs.end() ? nullptr : codec;
}

std::span<const FormatInfo> format_table() {
  return infos();
}

const FormatInfo& format_info(Format format) {
  return infos()[static_cast<std::size_t>(format)];
}

std::optional<Format> format_by_name(std::string_view name) {
  const std::string wanted = lower(name);
  for (const FormatInfo& info : infos()) {
    if (std::ranges::find(info.endings, wanted) != info.endings.end() || info.name == wanted) {
      return info.format;
    }
  }
  return std::nullopt;
}

std::optional<Format> format_by_ending(std::string_view file_name) {
  const std::size_t slash = file_name.find_last_of('/');
  if (slash != std::string_view::npos) file_name.remove_prefix(slash + 1);
  const std::size_t dot = file_name.find_last_of('.');
  if (dot == std::string_view::npos) return std::nullopt;
  return format_by_name(file_name.substr(dot + 1));
}

std::optional<Format> format_by_content(std::span<const std::byte> bytes) {
  const Codec* codec = codec_by_content(bytes);
  return codec == nullptr ? std::nullopt : std::optional(codec->format);
}

}  // namespace imgpipe
