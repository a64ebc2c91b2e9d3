#include <array>

#include "lab/kernels/naive_groups.h"
#include "lab/pipeline/codec_lab.h"

namespace imgpipe {
namespace {

constexpr std::string_view kTurbo = "libjpeg-turbo";
constexpr std::string_view kOwn = "imgpipe";
constexpr std::string_view kStandard = "ITU-T T.81";
constexpr std::string_view kNvidia = "NVIDIA nvJPEG";
constexpr std::string_view kSynchronise = "Weissenberger, Schmidt, ICPP 2018, arXiv 2111.09219";

constexpr CodecConditions kGrey{.pixels = CodecPixels::grey};

std::span<const CodecVariant> entropy_ladder() {
  static constexpr std::array kVariants{
      codec_variant("sequential", "one thread, bit by bit, following the standard's flow charts", kStandard,
                    IMGPIPE_ONE_THREAD(sequential_entropy)),
      baseline_codec("turbo", "libjpeg-turbo's coefficients, one thread: a lookup of 8 bits, then bit by bit",
                     kTurbo, IMGPIPE_ONE_THREAD(turbo_entropy)),
      codec_variant("tables",
                    "our decoder, one thread: code and value in one lookup of 10 bits; zeros are not stored",
                    kOwn, IMGPIPE_ONE_THREAD(own_entropy)),
      baseline_codec("turbo-threads", "libjpeg-turbo, one image per thread", kTurbo,
                     IMGPIPE_ALL_THREADS(turbo_entropy)),
      codec_variant("images", "our decoder, one image per thread: no guesses, the last threads wait", kOwn,
                    IMGPIPE_ALL_THREADS(own_entropy)),
      product_codec("speculative",
                    "all threads on segments of 64 KiB of one image, from guesses: what --device cpu runs",
                    kSynchronise, IMGPIPE_ALL_THREADS(speculative_entropy)),
      codec_variant("naive",
                    "one thread per restart segment, bit by bit; without restarts one thread per image",
                    "first version in most courses", IMGPIPE_CUDA_CODEC(NaiveEntropyDecoding)),
      codec_variant(
          "subsequences",
          "one thread per 1,024 bits, bit by bit, from guesses; launches until all are synchronised",
          kSynchronise, IMGPIPE_CUDA_CODEC(SubsequenceEntropyDecoding)),
      product_codec("production",
                    "tables in shared memory; synchronised within a block of threads, then between blocks",
                    kSynchronise, IMGPIPE_CUDA_CODEC(EntropyDecoding)),
  };
  return kVariants;
}

std::span<const CodecVariant> reconstruction_ladder() {
  static constexpr std::array kVariants{
      codec_variant("sequential", "one thread: block by block, then pixel by pixel", kStandard,
                    IMGPIPE_ONE_THREAD(sequential_reconstruction)),
      codec_variant("simd",
                    "one thread, 8 or more values per instruction, bands of rows that stay in the cache",
                    "imgpipe; Highway", IMGPIPE_ONE_THREAD(simd_reconstruction)),
      product_codec("cpu", "the same, all threads: what --device cpu runs", "imgpipe; Highway",
                    IMGPIPE_ALL_THREADS(simd_reconstruction)),
      codec_variant(
          "naive",
          "one thread per block into planes, then one thread per pixel: 9 samples read per pixel of 4:2:0",
          "first version in most courses", IMGPIPE_CUDA_CODEC(NaiveReconstruction)),
      codec_variant("grey", "production to the grey of `gray` and its histogram: no RGB in memory", kOwn,
                    IMGPIPE_CUDA_CODEC(JpegReconstruction), kGrey),
      product_codec("production",
                    "inverse DCT, upsampling and colour in one kernel: samples stay in shared memory", kOwn,
                    IMGPIPE_CUDA_CODEC(JpegReconstruction)),
  };
  return kVariants;
}

std::span<const CodecVariant> decoding_ladder() {
  static constexpr std::array kVariants{
      baseline_codec("turbo", "libjpeg-turbo, one thread", kTurbo, IMGPIPE_ONE_THREAD(turbo_decoding)),
      baseline_codec("turbo-threads", "libjpeg-turbo, one image per thread", kTurbo,
                     IMGPIPE_ALL_THREADS(turbo_decoding)),
      codec_variant("images", "our decoder, one image per thread: what a batch on the host runs", kOwn,
                    IMGPIPE_ALL_THREADS(own_decoding)),
      product_codec("bands", "our decoder, all threads on one image: what one image on the host runs", kOwn,
                    IMGPIPE_ALL_THREADS(band_decoding)),
      codec_variant("naive", "both naive halves, from bytes on the device", "first version in most courses",
                    IMGPIPE_CUDA_HALVES(NaiveEntropyDecoding, NaiveReconstruction)),
      baseline_codec("nvjpeg-hardware",
                     "nvJPEG, the device's decoding engines, all images in one call, from host memory",
                     kNvidia, IMGPIPE_NVJPEG(hardware, HardwareDecoding), {.claim = Claim::near}),
      baseline_codec("nvjpeg-hybrid",
                     "nvJPEG, Huffman codes on the device too, one pipeline, from host memory", kNvidia,
                     IMGPIPE_NVJPEG(hybrid, HybridDecoding), {.claim = Claim::near}),
      baseline_codec("nvjpeg-threads", "the same, one pipeline per host thread", kNvidia,
                     IMGPIPE_NVJPEG(hybrid, HybridDecoding), {.claim = Claim::near, .all_threads = true}),
      codec_variant("from-host",
                    "production from the file in host memory: staged by all threads, uploaded, decoded", kOwn,
                    IMGPIPE_CUDA_HALVES(EntropyDecoding, JpegReconstruction), {.from_host = true}),
      codec_variant("grey", "production to the grey of `gray` and its histogram, from bytes on the device",
                    kOwn, IMGPIPE_CUDA_HALVES(EntropyDecoding, JpegReconstruction), kGrey),
      product_codec("production", "both production halves, from bytes on the device", kOwn,
                    IMGPIPE_CUDA_HALVES(EntropyDecoding, JpegReconstruction)),
  };
  return kVariants;
}

std::span<const CodecVariant> encoding_ladder() {
  static constexpr std::array kVariants{
      codec_variant("sequential", "one thread: block by block, bit by bit", kStandard,
                    IMGPIPE_ONE_THREAD(sequential_encoding), kGrey),
      codec_variant("turbo", "libjpeg-turbo, one thread: what the program writes", kTurbo,
                    IMGPIPE_ONE_THREAD(turbo_encoding), kGrey),
      product_codec("turbo-threads", "libjpeg-turbo, one image per thread", kTurbo,
                    IMGPIPE_ALL_THREADS(turbo_encoding), kGrey),
      codec_variant("naive", "one thread per block for the DCT, then one thread per image for all its codes",
                    "first version in most courses", IMGPIPE_CUDA_CODEC(NaiveJpegEncoding), kGrey),
      baseline_codec("nvjpeg", "nvJPEG's encoder, one stream; different files", kNvidia,
                     IMGPIPE_NVJPEG(encoder, GreyEncoding),
                     {.pixels = CodecPixels::grey, .claim = Claim::near}),
      baseline_codec("nvjpeg-threads", "the same, one stream per host thread", kNvidia,
                     IMGPIPE_NVJPEG(encoder, GreyEncoding),
                     {.pixels = CodecPixels::grey, .claim = Claim::near, .all_threads = true}),
      codec_variant("color", "production on RGB, 4:2:0", kOwn, IMGPIPE_CUDA_CODEC(JpegEncoding),
                    {.pixels = CodecPixels::rgb_420}),
      product_codec("production",
                    "libjpeg-turbo's bytes: DCT and code lengths, a scan of their sums, packing, stuffing",
                    kOwn, IMGPIPE_CUDA_CODEC(JpegEncoding), kGrey),
  };
  return kVariants;
}

std::span<const CodecVariant> png_ladder() {
  static constexpr std::array kVariants{
      codec_variant("sequential", "one thread, byte by byte: filters, one Huffman code per strip, no matches",
                    "PNG specification; RFC 1951", IMGPIPE_ONE_THREAD(sequential_packing), kGrey),
      codec_variant("simd", "one thread, rows in vectors, two literals' codes in one lookup",
                    "imgpipe; Highway", IMGPIPE_ONE_THREAD(strip_packing), kGrey),
      product_codec("cpu", "one strip per thread: what --device cpu runs", "imgpipe; Highway",
                    IMGPIPE_ALL_THREADS(strip_packing), kGrey),
      codec_variant("naive", "one thread per strip, byte by byte", "first version in most courses",
                    IMGPIPE_CUDA_CODEC(NaivePngEncoding), kGrey),
      codec_variant("color", "production on the pixels of a colour image", kOwn,
                    IMGPIPE_CUDA_CODEC(PngEncoding)),
      product_codec("production",
                    "filters and histogram in one kernel, codes by one block per strip, a scan, packing",
                    kOwn, IMGPIPE_CUDA_CODEC(PngEncoding), kGrey),
  };
  return kVariants;
}

}  // namespace

std::span<const CodecLadder> codec_ladder_table() {
  static const std::array kLadders{
      CodecLadder{kJpegLadders, CodecWork::entropy, "jpeg, entropy decoding", entropy_ladder()},
      CodecLadder{kJpegLadders, CodecWork::reconstruction, "jpeg, reconstruction", reconstruction_ladder()},
      CodecLadder{kJpegLadders, CodecWork::decoding, "jpeg, decoding", decoding_ladder()},
      CodecLadder{kJpegLadders, CodecWork::jpeg_encoding, "jpeg, encoding", encoding_ladder()},
      CodecLadder{kPngLadder, CodecWork::png_packing, "png, packing", png_ladder()},
  };
  return kLadders;
}

}  // namespace imgpipe
