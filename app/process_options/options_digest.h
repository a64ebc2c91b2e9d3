// What tells two runs apart that make other bytes of the same images.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>

#include "app/process_options/process_options.h"
#include "images/codecs/codec.h"

namespace imgpipe {

// The options that shape the bytes of outputs, a line each, "key=value": the steps with every parameter, as
// presets, files (range=FILE) and spelling have made it, what is taken of the input, and how the output is
// written, its format too; none: each output's own, by its name. Where, how fast and what is told of it
// (device, threads, fuse, reports) is not among them. The order of the lines is fixed.
[[nodiscard]] std::string shaping_options(const ProcessOptions& options, const std::optional<Format>& format);

// As --pages takes it.
[[nodiscard]] std::string pages_text(const PageSelection& pages);
// As --bands takes it; empty: it was not given.
[[nodiscard]] std::string bands_text(const DecodeOptions& decode);

// SHA-256 (FIPS 180-4), 64 hexadecimal digits, in lower case.
[[nodiscard]] std::string sha256(std::string_view bytes);

// The first 64 bits of a digest as sha256() gives it.
[[nodiscard]] std::uint64_t first_64_bits(const std::string& digest);

// The hash of an input's name relative to INPUT, for Provenance.
[[nodiscard]] inline std::uint64_t name_hash(const std::string& name) {
  return first_64_bits(sha256(name));
}

// The digest of a run, or of its outputs of one format: SHA-256 of shaping_options().
[[nodiscard]] std::string options_digest(const ProcessOptions& options, const std::optional<Format>& format);

// The same as 64 bits for Provenance. --codec turbo makes the same bytes as auto, and has the same hash.
[[nodiscard]] std::uint64_t options_hash(ProcessOptions options, Format format);

// Enough of a digest for people to compare.
[[nodiscard]] inline std::string short_digest(const std::string& digest) {
  return digest.substr(0, 12);
}

// That of each format, made once.
class OptionsDigests {
 public:
  // `options` stay where they are.
  explicit OptionsDigests(const ProcessOptions& options) : options_(options) {}
  [[nodiscard]] const std::string& of(Format format);

 private:
  const ProcessOptions& options_;
  std::map<Format, std::string> made_;
};

}  // namespace imgpipe
