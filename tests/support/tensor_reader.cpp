#include "tests/support/tensor_reader.h"

#include <regex>
#include <sstream>
#include <stdexcept>
#include <string_view>

#include <nlohmann/json.hpp>

namespace imgpipe::test {
namespace {

void check_rule(bool holds, const char* rule) {
  if (!holds) throw std::runtime_error(std::string("not true: ") + rule);
}

std::uint64_t number_at(std::string_view text, std::size_t at, std::size_t bytes) {
  std::uint64_t value = 0;
  for (std::size_t i = bytes; i-- > 0;) value = value << 8 | static_cast<unsigned char>(text.at(at + i));
  return value;
}

std::string_view text_of(std::span<const std::byte> file) {
  return {reinterpret_cast<const char*>(file.data()), file.size()};
}

}  // namespace

// numpy.lib.format, version 1.0.
StoredTensor read_npy(std::span<const std::byte> file) {
  const std::string_view text = text_of(file);
  check_rule(text.substr(0, 8) == std::string_view("\x93NUMPY\x01\x00", 8), "magic and version");
  StoredTensor tensor;
  tensor.header_bytes = 10 + number_at(text, 8, 2);
  check_rule(tensor.header_bytes % 64 == 0, "the data is aligned to 64 bytes");
  const std::string header(text.substr(10, tensor.header_bytes - 10));
  check_rule(header.back() == '\n', "the header ends with a newline");
  std::smatch parts;
  const std::regex dictionary(
      R"(\{'descr': '([^']*)', 'fortran_order': False, 'shape': \(([0-9, ]*)\), \}[ \t]*\n)");
  check_rule(std::regex_match(header, parts, dictionary), "the header is a dictionary of the three keys");
  tensor.type = parts[1];
  std::istringstream numbers(parts[2]);
  for (std::string number; std::getline(numbers, number, ',');) tensor.shape.push_back(std::stoll(number));
  tensor.data.assign(file.begin() + static_cast<std::ptrdiff_t>(tensor.header_bytes), file.end());
  return tensor;
}

// github.com/huggingface/safetensors, "Format".
StoredTensor read_safetensors(std::span<const std::byte> file) {
  const std::string_view text = text_of(file);
  StoredTensor tensor;
  tensor.header_bytes = 8 + number_at(text, 0, 8);
  check_rule(tensor.header_bytes % 8 == 0, "the data is aligned to 8 bytes");
  check_rule(tensor.header_bytes <= text.size() && text[8] == '{', "the header is in the file");
  const auto json = nlohmann::json::parse(text.substr(8, tensor.header_bytes - 8));
  const auto& values = json.at("pixel_values");
  tensor.shape = values.at("shape").get<std::vector<std::int64_t>>();
  tensor.type = values.at("dtype");
  tensor.data.assign(file.begin() + static_cast<std::ptrdiff_t>(tensor.header_bytes), file.end());
  check_rule(values.at("data_offsets") == nlohmann::json({0, tensor.data.size()}), "the data ends the file");
  if (json.contains("__metadata__") && json["__metadata__"].contains("names")) {
    std::istringstream names(json["__metadata__"]["names"].get<std::string>());
    for (std::string name; std::getline(names, name);) tensor.names.push_back(name);
  }
  return tensor;
}

}  // namespace imgpipe::test
