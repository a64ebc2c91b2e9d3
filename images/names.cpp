#include "images/names.h"

#include <algorithm>
#include <array>
#include <utility>
#include <vector>

#include "images/text.h"

namespace imgpipe {
namespace {

constexpr std::array<std::pair<std::string_view, std::string_view>, 4> kSpellings{
    {{"grey", "gray"}, {"colour", "color"}, {"centre", "center"}, {"equalise", "equalize"}}};

constexpr std::size_t kMaxLetters = 40;
constexpr std::size_t kShortName = 3;

char lower(char c) {
  return c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c;
}

bool is_number(std::string_view text) {
  return text.find_first_not_of("0123456789.") == std::string_view::npos;
}

// Returns whether the names have the same length but not the same letters.
bool replaces_letter(std::string a, std::string b) {
  std::ranges::sort(a);
  std::ranges::sort(b);
  return a.size() == b.size() && a != b;
}

void replace_all(std::string& text, std::string_view from, std::string_view to) {
  for (std::size_t at = text.find(from); at != std::string::npos; at = text.find(from, at + to.size()))
    text.replace(at, from.size(), to);
}

// Returns the smaller of the distances to the two spellings of a name.
std::size_t distance_to(std::string_view text, const std::string& name) {
  std::string other(name);
  for (const auto& [there, here] : kSpellings) replace_all(other, here, there);
  const std::size_t distance = edit_distance(text, name);
  return other == name ? distance : std::min(distance, edit_distance(text, other));
}

}  // namespace

std::string canonical_spelling(std::string_view text) {
  std::string usual(text);
  for (const auto& [other, here] : kSpellings) replace_all(usual, other, here);
  return usual;
}

std::size_t edit_distance(std::string_view a, std::string_view b) {
  // The last three rows of the table of distances between the first i letters of a and the first j of b.
  std::vector<std::size_t> before(b.size() + 1);
  std::vector<std::size_t> last(b.size() + 1);
  std::vector<std::size_t> row(b.size() + 1);
  for (std::size_t j = 0; j <= b.size(); ++j) row[j] = j;
  for (std::size_t i = 1; i <= a.size(); ++i) {
    before.swap(last);
    last.swap(row);
    row[0] = i;
    for (std::size_t j = 1; j <= b.size(); ++j) {
      const std::size_t other = a[i - 1] == b[j - 1] ? 0 : 1;
      row[j] = std::min({last[j] + 1, row[j - 1] + 1, last[j - 1] + other});
      if (i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1])
        row[j] = std::min(row[j], before[j - 2] + 1);
    }
  }
  return row[b.size()];
}

std::string_view nearest_name(std::string_view given, std::span<const std::string_view> names) {
  if (given.empty() || given.size() > kMaxLetters || is_number(given)) return {};
  std::string text(given);
  std::ranges::transform(text, text.begin(), lower);
  std::string_view nearest;
  std::size_t least = kMaxLetters;
  for (const std::string_view name : names) {
    if (name.empty() || is_number(name)) continue;
    std::string known(name);
    std::ranges::transform(known, known.begin(), lower);
    const std::size_t distance = distance_to(text, known);
    if (distance >= least || distance > std::max(text.size(), known.size()) / 3) continue;
    if (known.size() <= kShortName && replaces_letter(text, known)) continue;
    nearest = name;
    least = distance;
  }
  return nearest;
}

std::string did_you_mean(std::string_view given, std::span<const std::string_view> names) {
  const std::string_view nearest = nearest_name(given, names);
  return nearest.empty() ? "" : "; did you mean " + std::string(nearest) + "?";
}

std::string unknown_name(const std::string& problem, std::string_view given,
                         std::span<const std::string_view> names, const std::string& rest) {
  const std::string meant = did_you_mean(given, names);
  if (meant.empty()) return problem + "; " + rest;
  std::string sentence = rest;
  if (sentence.front() >= 'a' && sentence.front() <= 'z')
    sentence.front() = static_cast<char>(sentence.front() - 'a' + 'A');
  return problem + meant + " " + sentence;
}

std::string joined(std::span<const std::string_view> names) {
  std::string text;
  for (const std::string_view name : names) text += (text.empty() ? "" : ", ") + std::string(name);
  return text;
}

std::string none_of(std::string_view given, std::span<const std::string_view> names) {
  return "must be one of " + joined(names) + "; got '" + printable(given) + "'" + did_you_mean(given, names);
}

}  // namespace imgpipe
