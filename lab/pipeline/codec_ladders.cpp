// The tables of the codecs' ladders.
#include <array>

#include "lab/kernels/cuda_rung.h"
#include "lab/kernels/naive_encoding.h"
#include "lab/kernels/naive_groups.h"
#include "lab/pipeline/codec_lab.h"

namespace imgpipe {
namespace {

constexpr std::string_view kTurbo = "libjpeg-turbo";
constexpr std::string_view kOwn = "imgpipe";
constexpr std::string_view kStandard = "ITU-T T.81";
constexpr std::string_view kSynchronise = "Weissenberger, Schmidt, ICPP 2018, arXiv 2111.09219";

std::span<const CodecRung> entropy_ladder() {
  static constexpr std::array kLadder{
      CodecRung{.name = "sequential",
                .idea = "one thread, bit by bit, as the standard's flow charts have it",
                .origin = kStandard,
                .kind = RungKind::reference,
                .host = sequential_entropy},
      CodecRung{.name = "turbo",
                .idea = "libjpeg-turbo's coefficients, one thread: a lookup of 8 bits, then bit by bit",
                .origin = kTurbo,
                .kind = RungKind::reference,
                .foreign = true,
                .host = turbo_entropy},
      CodecRung{
          .name = "tables",
          .idea = "our decoder, one thread: code and value in one lookup of 10 bits; zeros are not stored",
          .origin = kOwn,
          .kind = RungKind::reference,
          .host = own_entropy},
      CodecRung{.name = "turbo-threads",
                .idea = "libjpeg-turbo, an image a thread",
                .origin = kTurbo,
                .kind = RungKind::cpu,
                .foreign = true,
                .host = turbo_entropy},
      CodecRung{.name = "images",
                .idea = "our decoder, an image a thread: nothing is guessed, the last threads wait",
                .origin = kOwn,
                .kind = RungKind::cpu,
                .host = own_entropy},
      CodecRung{.name = "speculative",
                .idea = "all threads at pieces of 64 KiB of one image, from guesses: what --device cpu runs",
                .origin = kSynchronise,
                .kind = RungKind::cpu,
                .production = true,
                .host = speculative_entropy},
      CodecRung{.name = "naive",
                .idea = "a thread a restart segment, bit by bit; without restarts a thread an image",
                .origin = "first attempt of every course",
                .cuda = IMGPIPE_CUDA_RUNG(codec_run<NaiveEntropyDecoding>)},
      CodecRung{.name = "subsequences",
                .idea = "a thread each 1,024 bits, bit by bit, from guesses; launches until all are in step",
                .origin = kSynchronise,
                .cuda = IMGPIPE_CUDA_RUNG(codec_run<SubsequenceEntropyDecoding>)},
      CodecRung{.name = "production",
                .idea = "tables in shared memory; in step within a block of threads, then between blocks",
                .origin = kSynchronise,
                .production = true,
                .cuda = IMGPIPE_CUDA_RUNG(codec_run<EntropyDecoding>)},
  };
  return kLadder;
}

std::span<const CodecRung> reconstruction_ladder() {
  static constexpr std::array kLadder{
      CodecRung{.name = "sequential",
                .idea = "one thread: a block after the other, then a pixel after the other",
                .origin = kStandard,
                .kind = RungKind::reference,
                .host = sequential_reconstruction},
      CodecRung{.name = "simd",
                .idea = "one thread, 8 and more values an instruction, bands of rows that stay in its cache",
                .origin = "imgpipe; Highway",
                .kind = RungKind::reference,
                .host = simd_reconstruction},
      CodecRung{.name = "cpu",
                .idea = "the same, all threads: what --device cpu runs",
                .origin = "imgpipe; Highway",
                .kind = RungKind::cpu,
                .production = true,
                .host = simd_reconstruction},
      CodecRung{
          .name = "naive",
          .idea = "a thread a block into planes, then a thread a pixel: 9 samples read for each of 4:2:0",
          .origin = "first attempt of every course",
          .cuda = IMGPIPE_CUDA_RUNG(codec_run<NaiveReconstruction>)},
      CodecRung{.name = "grey",
                .idea = "production to the grey of `gray` and its histogram: no RGB in memory",
                .origin = kOwn,
                .pixels = CodecPixels::grey,
                .cuda = IMGPIPE_CUDA_RUNG(codec_run<JpegReconstruction>)},
      CodecRung{.name = "production",
                .idea = "inverse DCT, upsampling and colour in one kernel: samples stay in shared memory",
                .origin = kOwn,
                .production = true,
                .cuda = IMGPIPE_CUDA_RUNG(codec_run<JpegReconstruction>)},
  };
  return kLadder;
}

std::span<const CodecRung> decoding_ladder() {
  static constexpr std::array kLadder{
      CodecRung{.name = "turbo",
                .idea = "libjpeg-turbo, one thread",
                .origin = kTurbo,
                .kind = RungKind::reference,
                .foreign = true,
                .host = turbo_decoding},
      CodecRung{.name = "turbo-threads",
                .idea = "libjpeg-turbo, an image a thread",
                .origin = kTurbo,
                .kind = RungKind::cpu,
                .foreign = true,
                .host = turbo_decoding},
      CodecRung{.name = "images",
                .idea = "our decoder, an image a thread: what a batch on the host runs",
                .origin = kOwn,
                .kind = RungKind::cpu,
                .host = own_decoding},
      CodecRung{.name = "bands",
                .idea = "our decoder, all threads at one image: what one image on the host runs",
                .origin = kOwn,
                .kind = RungKind::cpu,
                .production = true,
                .host = band_decoding},
      CodecRung{.name = "naive",
                .idea = "both naive halves, from bytes on the device",
                .origin = "first attempt of every course",
                .cuda = IMGPIPE_CUDA_RUNG(codec_run<NaiveEntropyDecoding>),
                .then = IMGPIPE_CUDA_RUNG(codec_run<NaiveReconstruction>)},
      CodecRung{
          .name = "nvjpeg-hardware",
          .idea = "nvJPEG, the device's decoding engines, all images in one call, from the host's memory",
          .origin = "NVIDIA nvJPEG",
          .claim = Claim::near,
          .foreign = true,
          .nvjpeg = Nvjpeg::hardware},
      CodecRung{.name = "nvjpeg-hybrid",
                .idea = "nvJPEG, Huffman codes on the device too, one pipeline, from the host's memory",
                .origin = "NVIDIA nvJPEG",
                .claim = Claim::near,
                .foreign = true,
                .nvjpeg = Nvjpeg::hybrid},
      CodecRung{.name = "nvjpeg-threads",
                .idea = "the same, a pipeline for each of the host's threads",
                .origin = "NVIDIA nvJPEG",
                .claim = Claim::near,
                .foreign = true,
                .nvjpeg = Nvjpeg::hybrid,
                .all_threads = true},
      CodecRung{
          .name = "from-host",
          .idea = "production from the file in the host's memory: staged by all threads, sent up, decoded",
          .origin = kOwn,
          .cuda = IMGPIPE_CUDA_RUNG(codec_run<EntropyDecoding>),
          .then = IMGPIPE_CUDA_RUNG(codec_run<JpegReconstruction>),
          .from_host = true},
      CodecRung{.name = "grey",
                .idea = "production to the grey of `gray` and its histogram, from bytes on the device",
                .origin = kOwn,
                .pixels = CodecPixels::grey,
                .cuda = IMGPIPE_CUDA_RUNG(codec_run<EntropyDecoding>),
                .then = IMGPIPE_CUDA_RUNG(codec_run<JpegReconstruction>)},
      CodecRung{.name = "production",
                .idea = "both production halves, from bytes on the device",
                .origin = kOwn,
                .production = true,
                .cuda = IMGPIPE_CUDA_RUNG(codec_run<EntropyDecoding>),
                .then = IMGPIPE_CUDA_RUNG(codec_run<JpegReconstruction>)},
  };
  return kLadder;
}

std::span<const CodecRung> encoding_ladder() {
  static constexpr std::array kLadder{
      CodecRung{.name = "sequential",
                .idea = "one thread: a block after the other, bit by bit",
                .origin = kStandard,
                .kind = RungKind::reference,
                .pixels = CodecPixels::grey,
                .host = sequential_encoding},
      CodecRung{.name = "turbo",
                .idea = "libjpeg-turbo, one thread: what the program writes",
                .origin = kTurbo,
                .kind = RungKind::reference,
                .pixels = CodecPixels::grey,
                .host = turbo_encoding},
      CodecRung{.name = "turbo-threads",
                .idea = "libjpeg-turbo, an image a thread",
                .origin = kTurbo,
                .kind = RungKind::cpu,
                .pixels = CodecPixels::grey,
                .production = true,
                .host = turbo_encoding},
      CodecRung{.name = "naive",
                .idea = "a thread a block for the DCT, then a thread an image for all its codes",
                .origin = "first attempt of every course",
                .pixels = CodecPixels::grey,
                .cuda = IMGPIPE_CUDA_RUNG(codec_run<NaiveJpegEncoding>)},
      CodecRung{.name = "nvjpeg",
                .idea = "nvJPEG's encoder, one stream; files of its own",
                .origin = "NVIDIA nvJPEG",
                .pixels = CodecPixels::grey,
                .claim = Claim::near,
                .foreign = true,
                .nvjpeg = Nvjpeg::encoder},
      CodecRung{.name = "nvjpeg-threads",
                .idea = "the same, a stream for each of the host's threads",
                .origin = "NVIDIA nvJPEG",
                .pixels = CodecPixels::grey,
                .claim = Claim::near,
                .foreign = true,
                .nvjpeg = Nvjpeg::encoder,
                .all_threads = true},
      CodecRung{.name = "color",
                .idea = "production on RGB, 4:2:0",
                .origin = kOwn,
                .pixels = CodecPixels::rgb_420,
                .cuda = IMGPIPE_CUDA_RUNG(codec_run<JpegEncoding>)},
      CodecRung{
          .name = "production",
          .idea = "libjpeg-turbo's bytes: DCT and code lengths, a scan of their sums, packing, stuffing",
          .origin = kOwn,
          .pixels = CodecPixels::grey,
          .production = true,
          .cuda = IMGPIPE_CUDA_RUNG(codec_run<JpegEncoding>)},
  };
  return kLadder;
}

std::span<const CodecRung> png_ladder() {
  static constexpr std::array kLadder{
      CodecRung{.name = "sequential",
                .idea = "one thread, byte by byte: filters, one Huffman code a strip, no matches",
                .origin = "PNG specification; RFC 1951",
                .kind = RungKind::reference,
                .pixels = CodecPixels::grey,
                .host = sequential_packing},
      CodecRung{.name = "simd",
                .idea = "one thread, rows in vectors, two literals' codes in one lookup",
                .origin = "imgpipe; Highway",
                .kind = RungKind::reference,
                .pixels = CodecPixels::grey,
                .host = strip_packing},
      CodecRung{.name = "cpu",
                .idea = "a strip a thread: what --device cpu runs",
                .origin = "imgpipe; Highway",
                .kind = RungKind::cpu,
                .pixels = CodecPixels::grey,
                .production = true,
                .host = strip_packing},
      CodecRung{.name = "naive",
                .idea = "a thread a strip, byte by byte",
                .origin = "first attempt of every course",
                .pixels = CodecPixels::grey,
                .cuda = IMGPIPE_CUDA_RUNG(codec_run<NaivePngEncoding>)},
      CodecRung{.name = "color",
                .idea = "production on the pixels of a colour image",
                .origin = kOwn,
                .cuda = IMGPIPE_CUDA_RUNG(codec_run<PngEncoding>)},
      CodecRung{.name = "production",
                .idea = "filters and histogram in one kernel, codes by a block a strip, a scan, packing",
                .origin = kOwn,
                .pixels = CodecPixels::grey,
                .production = true,
                .cuda = IMGPIPE_CUDA_RUNG(codec_run<PngEncoding>)},
  };
  return kLadder;
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
