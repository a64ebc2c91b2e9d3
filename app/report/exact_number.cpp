#include "app/report/exact_number.h"

#include <array>
#include <charconv>

namespace imgpipe {

std::string exact_number(double value) {
  std::array<char, 64> text{};
  const auto [end, error] = std::to_chars(text.data(), text.data() + text.size(), value);
  return {text.data(), end};
}

}  // namespace imgpipe
