#include "lab/bench/variant_source.h"

#include <algorithm>
#include <optional>
#include <set>
#include <utility>
#include <vector>

#include "lab/bench/kernel_template.h"
#include "lab/bench/lab_sources.h"
#include "lab/bench/source_text.h"
#include "lab/kernels/ladders.h"
#include "lab/pipeline/codec_lab.h"
#include "lab/pipeline/lab_transfer.h"

namespace imgpipe {
namespace {

constexpr auto kNone = std::string_view::npos;

// Returns the names in a variant's row: "NaiveEntropyDecoding::launch, NaiveReconstruction::launch".
std::string_view functions_of(std::string_view ladder, std::string_view variant) {
  const auto of_variant = [&](const auto& variants) {
    const auto stage_variant = std::ranges::find(variants, variant, &Variant::name);
    return stage_variant == variants.end() ? std::string_view() : stage_variant->functions;
  };
  if (const Ladder* stage = find_ladder(ladder); stage != nullptr) return of_variant(stage->variants);
  const auto codec = std::ranges::find(codec_ladder_table(), ladder, &CodecLadder::name);
  return codec == codec_ladder_table().end() ? std::string_view() : of_variant(codec->variants);
}

// Returns the member function that the case of a transfer calls.
VariantSource transfer_source(std::string_view variant) {
  constexpr std::string_view kFile = "lab/pipeline/lab_transfer_cuda.cpp";
  const auto stage_variant = std::ranges::find(transfer_ladder(), variant, &Variant::name);
  const auto file = std::ranges::find(lab_sources(), kFile, &SourceFile::path);
  if (stage_variant == transfer_ladder().end() || file == lab_sources().end()) return {};
  const std::string label = "case Transfer::" + std::string(stage_variant->label) + ":\n";
  std::size_t called = file->text.find(label);
  called = called == kNone ? file->text.find("default:\n") : called;
  called = file->text.find("return ", called) + 7;
  const std::string name(words_of(file->text.substr(called, file->text.find('(', called) - called)).front());
  std::string text =
      "// " + std::string(file->text.substr(called, file->text.find('\n', called) - called)) + "\n";
  const std::size_t at = file->text.find("\n  void " + name + "(");
  if (at != kNone) {
    const std::string_view member =
        file->text.substr(at + 1, after_closing(file->text, file->text.find(") {\n", at) + 2) - at - 1);
    for (std::size_t line = 0; line < member.size();) {
      const std::size_t feed = std::min(member.find('\n', line), member.size() - 1);
      const std::string_view whole = member.substr(line, feed + 1 - line);
      text += whole.starts_with("  ") ? whole.substr(2) : whole;
      line = feed + 1;
    }
  }
  return {.path = std::string(kFile), .functions = name, .text = text};
}

struct Place {
  const SourceFile* file = nullptr;
  std::vector<Definition> definitions;
  std::size_t at = 0;
};

std::optional<Place> place_of(std::string_view function) {
  for (const SourceFile& file : lab_sources()) {
    if (file.text.find(function) == kNone) continue;
    Place position{&file, definitions_of(file.text), 0};
    const auto found = std::ranges::find(position.definitions, function, &Definition::name);
    if (found == position.definitions.end()) continue;
    position.at = static_cast<std::size_t>(found - position.definitions.begin());
    return position;
  }
  return std::nullopt;
}

// Adds a definition and the definitions of its file that it uses.
void add_used(const Place& position, std::size_t at, std::set<std::size_t>& wanted) {
  if (!wanted.insert(at).second) return;
  for (const std::string_view word : words_of(position.definitions[at].body)) {
    for (std::size_t i = 0; i < position.definitions.size(); ++i) {
      if (position.definitions[i].name == word) add_used(position, i, wanted);
    }
  }
}

// Cuts a long text and appends a note.
std::string shortened_text(std::string text) {
  std::size_t end = 0;
  for (int lines = 0; lines < kMaxSourceLines && end != kNone; ++lines) end = text.find('\n', end + 1);
  if (end == kNone) return text;
  const auto more = std::count(text.begin() + static_cast<std::ptrdiff_t>(end) + 1, text.end(), '\n') + 1;
  return text.substr(0, end) + "\n// ... and " + std::to_string(more) + " lines more";
}

std::string text_of(const Place& position, const std::set<std::size_t>& wanted) {
  std::string text;
  for (const std::size_t i : wanted)
    text += (text.empty() ? "" : "\n\n") + std::string(position.definitions[i].text);
  return shortened_text(std::move(text));
}

// Whether IMGPIPE_HIST(NAME, ...) {...} or IMGPIPE_SCRATCH(hist, NAME) {...} belongs to this variant.
bool belongs_to_variant(const Definition& definition, std::string_view stage, std::string_view variant) {
  const std::vector<std::string_view> words =
      words_of(definition.text.substr(definition.name.data() - definition.text.data()));
  if (words.size() < 3 || !words[0].starts_with("IMGPIPE_")) return false;
  return words[0] == "IMGPIPE_SCRATCH" ? words[1] == stage && words[2] == variant
                                       : words[0] == kernel_macro(stage) && words[1] == variant;
}

}  // namespace

VariantSource variant_source(std::string_view ladder, std::string_view variant) {
  if (ladder == kTransferLadder) return transfer_source(variant);
  VariantSource source;
  std::string_view names = functions_of(ladder, variant);
  while (!names.empty()) {
    const std::size_t comma = std::min(names.find(", "), names.size());
    const std::string_view name = names.substr(0, comma);
    names.remove_prefix(std::min(comma + 2, names.size()));
    const std::string function(name.substr(0, name.find('<')));  // without template arguments
    std::optional<Place> position = place_of(function);
    // Functions compiled for every instruction set (kernels/shared/dispatch.h) are defined as NAME_rows.
    if (!position && function.ends_with("_cpu"))
      position = place_of(function.substr(0, function.size() - 4) + "_rows");
    if (!position) continue;
    std::set<std::size_t> wanted;
    add_used(*position, position->at, wanted);
    if (source.path != position->file->path)
      source.path += (source.path.empty() ? "" : ", ") + std::string(position->file->path);
    source.functions += (source.functions.empty() ? "" : ", ") + function;
    source.text += (source.text.empty() ? "" : "\n\n") + text_of(*position, wanted);
  }
  return source;
}

VariantSource user_source(std::string_view file, std::string_view text, std::string_view stage,
                          std::string_view variant) {
  const SourceFile whole{file, text};
  const Place position{&whole, definitions_of(text), 0};
  std::set<std::size_t> wanted;
  for (std::size_t i = 0; i < position.definitions.size(); ++i) {
    if (belongs_to_variant(position.definitions[i], stage, variant)) add_used(position, i, wanted);
  }
  VariantSource source{.path = std::string(file), .functions = std::string(variant), .text = {}};
  source.text = wanted.empty() ? shortened_text(std::string(text)) : text_of(position, wanted);
  return source;
}

}  // namespace imgpipe
