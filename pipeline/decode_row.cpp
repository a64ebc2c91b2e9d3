#include "pipeline/decode_row.h"

namespace imgpipe {
namespace {

constexpr std::string_view kDecode = "decode";
constexpr std::string_view kDecodeBy = "decode (";
constexpr std::string_view kDecodeAnd = "decode+";

}  // namespace

std::string decode_row(const Reader& reader, std::string_view step) {
  std::string row(kDecode);
  if (!step.empty()) row.append("+").append(step);
  if (const std::string_view decoder = reader.decoder(); !decoder.empty())
    row.append(" (").append(decoder).append(")");
  return row;
}

bool is_decode_row(std::string_view name) {
  return name == kDecode || name.starts_with(kDecodeBy) || name.starts_with(kDecodeAnd);
}

}  // namespace imgpipe
