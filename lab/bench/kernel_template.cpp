#include "lab/bench/kernel_template.h"

#include <algorithm>
#include <array>
#include <stdexcept>
#include <utility>

#include "lab/bench/lab_sources.h"
#include "lab/kernels/ladders.h"

namespace imgpipe {
namespace {

std::string_view source(const std::string& path) {
  const auto found = std::ranges::find(lab_sources(), path, &SourceFile::path);
  if (found == lab_sources().end()) throw std::logic_error(path + " was not built in");
  return found->text;
}

bool has_template(std::string_view stage) {
  const std::string path = "lab/bench/templates/" + std::string(stage) + ".cu";
  return std::ranges::find(lab_sources(), path, &SourceFile::path) != lab_sources().end();
}

void replace_all(std::string& text, const std::string& from, const std::string& to) {
  for (std::size_t at = text.find(from); at != std::string::npos; at = text.find(from, at + to.size()))
    text.replace(at, from.size(), to);
}

}  // namespace

std::vector<std::string> template_names() {
  std::vector<std::string> names;
  for (const Ladder& ladder : ladder_table()) {
    if (has_template(ladder.stage)) names.emplace_back(ladder.name);
  }
  names.emplace_back("header");
  return names;
}

std::string kernel_template(std::string_view name) {
  if (name == "header") return std::string(kernel_header());
  const Ladder& ladder = *find_ladder(name);
  const std::string stage(ladder.stage);
  const std::string own(ladder.name);
  std::string text(source("lab/bench/templates/" + stage + ".cu"));
  if (own == stage) return text;
  // Adapts the stage's template to 16-bit samples or to another window.
  replace_all(text, kernel_macro(stage) + "(", kernel_macro(own) + "(");
  replace_all(text, "IMGPIPE_SCRATCH(" + stage + ",", "IMGPIPE_SCRATCH(" + own + ",");
  replace_all(text, "--stage " + stage + " ", "--stage " + own + " ");
  replace_all(text, "A " + stage + " of your own", "A " + own + " of your own");
  if (is_wide(ladder.sample)) {
    replace_all(text, "using Sample = uint8_t;", "using Sample = uint16_t;");
    replace_all(text, "kBins = 256;", "kBins = 65536;");
    replace_all(text, "three loads of a byte", "three loads of 16 bits");
  }
  if (own == "median5") replace_all(text, "kRadius = 1;", "kRadius = 2;");
  return text;
}

std::string kernel_macro(std::string_view ladder) {
  std::string name = "IMGPIPE_";
  for (const char c : ladder) name += c >= 'a' && c <= 'z' ? static_cast<char>(c - 'a' + 'A') : c;
  return name;
}

std::string_view kernel_header() {
  return source("lab/pipeline/imgpipe_kernel.h");
}

}  // namespace imgpipe
