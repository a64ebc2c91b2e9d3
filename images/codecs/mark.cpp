#include "images/codecs/mark.h"

#include <array>
#include <charconv>
#include <optional>
#include <string_view>

namespace imgpipe {
namespace {

constexpr std::string_view kResult = "imgpipe";
constexpr std::string_view kSynthetic = "imgpipe synth";
constexpr std::size_t kDigits = 16;  // per hash, after a space

std::string hash_text(std::uint64_t hash) {
  std::array<char, kDigits> digits{};
  const auto end = std::to_chars(digits.data(), digits.data() + kDigits, hash, 16).ptr;
  const std::string text(digits.data(), end);
  return " " + std::string(kDigits - text.size(), '0') + text;
}

// Removes and returns a hash at the front of `text`.
std::optional<std::uint64_t> take_hash(std::string_view& text) {
  if (text.size() <= kDigits || text.front() != ' ') return std::nullopt;
  const std::string_view digits = text.substr(1, kDigits);
  if (digits.find_first_not_of("0123456789abcdef") != std::string_view::npos) return std::nullopt;
  std::uint64_t hash = 0;
  std::from_chars(digits.data(), digits.data() + kDigits, hash, 16);
  text.remove_prefix(1 + kDigits);
  return hash;
}

}  // namespace

std::string mark_text(const Mark& mark) {
  switch (mark.kind) {
    case Mark::Kind::none:
      return {};
    case Mark::Kind::synthetic:
      return std::string(kSynthetic);
    case Mark::Kind::result:
      break;
  }
  std::string text(kResult);
  if (mark.made_of)
    text +=
        hash_text(mark.made_of->name) + hash_text(mark.made_of->content) + hash_text(mark.made_of->options);
  return text;
}

Mark mark_of(std::span<const std::byte> text) {
  std::string_view rest(reinterpret_cast<const char*>(text.data()), text.size());
  if (rest == kSynthetic) return Mark::synthetic;
  if (!rest.starts_with(kResult)) return Mark::none;
  rest.remove_prefix(kResult.size());
  if (rest.empty()) return Mark::result;
  Mark mark = Mark::result;
  mark.made_of.emplace();
  for (std::uint64_t* const hash : {&mark.made_of->name, &mark.made_of->content, &mark.made_of->options}) {
    const std::optional<std::uint64_t> taken = take_hash(rest);
    if (!taken) return Mark::none;
    *hash = *taken;
  }
  return rest.empty() ? mark : Mark::none;
}

}  // namespace imgpipe
