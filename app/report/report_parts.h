// Objects and values that several reports share.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "app/process_options/process_options.h"
#include "app/report/fields.h"
#include "images/error.h"
#include "images/tensor.h"
#include "pipeline/contrast_ranges.h"
#include "pipeline/jobs/file_hashes.h"

namespace imgpipe {

// Returns the name of an error kind, such as "input".
[[nodiscard]] std::string_view kind_of_error(ErrorKind kind);
inline constexpr Rule kErrorKinds = one_of("input|memory|usage|device|output");

struct ReportFailure {
  std::string input;  // printable
  ErrorKind kind = ErrorKind::input;
  std::string reason;  // without the path
};
void add_failure(Fields& fields, const ReportFailure& failure);

void add_range(Fields& fields, const ContrastRange& range);
void add_outside(Fields& fields, const OutsideCounts& counts);

inline constexpr Rule kChannels{.least = 1, .most = 4};
inline constexpr Rule kOrientations{.least = 1, .most = 8};  // of EXIF
inline constexpr Rule kSampleBits = one_of(8, 16, 32);
inline constexpr Rule kOutputBits = one_of(8, 16, 32);  // tensors have 16 or 32
inline constexpr Rule kHistogramBins = one_of(256, 65536);
inline constexpr Rule kComparisons = one_of("identical|different");
inline constexpr Rule kSpanKinds = one_of("host|transfer|kernel|codec");

inline constexpr std::string_view kCommandAbout = "the command line, as a shell takes it";
inline constexpr std::string_view kDigestAbout =
    "SHA-256 of the options that shape the bytes of outputs (docs/presets.md)";

// Adds the shape, element type, layout and formula of a tensor; with `rows`, of a file of that many tensors.
void add_tensor(Fields& fields, const TensorType& type, std::optional<std::int64_t> rows = std::nullopt);
// "3x224x224 float32 tensor, nchw, formula transformers".
[[nodiscard]] std::string tensor_text(const TensorType& type,
                                      std::optional<std::int64_t> rows = std::nullopt);

// Adds the scale of a decoded JPEG, and its size before scaling.
void add_scale(Fields& fields, const std::optional<ImageHeader>& header);

// Adds the hashes of a file, as "sha256" and "pixels_sha256" after `prefix`; null if they are not known.
void add_hashes(Fields& fields, const FileHashes& hashes, const std::string& prefix = "");

// Adds the options of a run, including those that options_digest() covers.
void add_options(Fields& fields, const ProcessOptions& options);

}  // namespace imgpipe
