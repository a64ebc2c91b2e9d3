// Digests of the options that affect the bytes of outputs.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "app/process_options/process_options.h"
#include "images/codecs/codec.h"
#include "images/sha256.h"

namespace imgpipe {

// Returns the options that affect the bytes of outputs as lines "key=value" in a fixed order: the resolved
// steps with every parameter, the input options, and the output's format and encoding. Without `format`, each
// output's name selects its format. Options for execution and reports (device, threads, fuse) are left out.
[[nodiscard]] std::string options_affecting_output(const ProcessOptions& options,
                                                   const std::optional<Format>& format);

// Returns the value of --pages.
[[nodiscard]] std::string pages_text(const PageSelection& pages);
// Returns the value of --bands; empty if not given.
[[nodiscard]] std::string bands_text(const DecodeOptions& decode);
// --integers; empty: not given.
[[nodiscard]] std::string integers_text(const DecodeOptions& decode);

// --decode-scale, with the rule of auto.
[[nodiscard]] std::string decode_scale_text(const DecodeOptions& decode);

[[nodiscard]] std::uint64_t first_64_bits(const std::string& digest);

// Hashes an input's name relative to INPUT, for Provenance.
[[nodiscard]] inline std::uint64_t name_hash(const std::string& name) {
  return first_64_bits(sha256(name));
}

// Returns the SHA-256 of options_affecting_output() for a run, or for its outputs of one format.
[[nodiscard]] std::string options_digest(const ProcessOptions& options, const std::optional<Format>& format);

// Returns the first 64 bits of the digest, for Provenance. --codec turbo has the hash of auto, because both
// produce the same bytes. The result of --stages does not depend on --also.
[[nodiscard]] std::uint64_t options_hash(ProcessOptions options, Format format);
// Returns the same for the results of --also: each is the file of a run with its stages as --stages.
[[nodiscard]] std::vector<std::uint64_t> also_option_hashes(const ProcessOptions& options, Format format);

[[nodiscard]] inline std::string short_digest(const std::string& digest) {
  return digest.substr(0, 12);
}

// Computes the digest of each format once.
class OptionsDigests {
 public:
  // `options` must outlive this object.
  explicit OptionsDigests(const ProcessOptions& options) : options_(options) {}
  [[nodiscard]] const std::string& of(Format format);

 private:
  const ProcessOptions& options_;
  std::map<Format, std::string> made_;
};

}  // namespace imgpipe
