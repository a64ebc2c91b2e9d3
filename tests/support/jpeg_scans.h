// Baseline scans without a file, and coefficients for them, for tests of the reconstruction of pixels.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <ostream>
#include <random>
#include <span>
#include <string>
#include <vector>

#include "images/codecs/jpeg/baseline_scan.h"

namespace imgpipe::test {

inline constexpr std::array<Sampling, 5> kSamplings{Sampling::grey, Sampling::s444, Sampling::s422,
                                                    Sampling::s420, Sampling::s440};
[[nodiscard]] std::string name_of(Sampling sampling);

// Makes quantiser steps of 1 to `max_step`, different ones for Cb and Cr.
[[nodiscard]] BaselineScan make_scan(Sampling sampling, std::int64_t width, std::int64_t height, int max_step,
                                     std::mt19937_64& random);

[[nodiscard]] std::size_t coefficients_of(const BaselineScan& scan);

enum class CoefficientPattern {
  photograph,  // fewer and smaller coefficients at higher frequencies
  noise,       // all coefficients small
  extreme,     // any 16 bits, mostly the largest
  flat,        // only the first row of a block
  upper,       // the first four rows
  constant,    // DC only
  mixed        // blocks and runs of blocks of all kinds
};
inline constexpr std::array<CoefficientPattern, 7> kCoefficients{
    CoefficientPattern::photograph, CoefficientPattern::noise, CoefficientPattern::extreme,
    CoefficientPattern::flat,       CoefficientPattern::upper, CoefficientPattern::constant,
    CoefficientPattern::mixed};
[[nodiscard]] std::string name_of(CoefficientPattern kind);

[[nodiscard]] std::vector<std::int16_t> make_coefficients(const BaselineScan& scan, CoefficientPattern kind,
                                                          std::mt19937_64& random);

inline void PrintTo(CoefficientPattern kind, std::ostream* out) {
  *out << name_of(kind);
}

}  // namespace imgpipe::test

namespace imgpipe {
inline void PrintTo(Sampling sampling, std::ostream* out) {
  *out << test::name_of(sampling);
}
}  // namespace imgpipe
