#include "lab/bench/rung_source.h"

#include <algorithm>
#include <array>
#include <optional>
#include <set>
#include <utility>
#include <vector>

#include "lab/bench/lab_sources.h"
#include "lab/bench/own_template.h"
#include "lab/bench/source_text.h"

namespace imgpipe {
namespace {

constexpr auto kNone = std::string_view::npos;

struct Table {
  std::string_view file, body;  // all of it, and the function that returns the ladder
};

// The function `name` that returns rungs; empty where there is none.
Table table_of(std::string_view name) {
  const std::string end = "> " + std::string(name) + "() {";
  for (const SourceFile& file : lab_sources()) {
    const std::size_t at = file.text.find(end);
    if (at == kNone) continue;
    const std::size_t open = at + end.size() - 1;
    return {file.text, file.text.substr(open, behind_closing(file.text, open) - open)};
  }
  return {};
}

// A ladder's own, or the one of which it takes rungs: median5 has those of median.
Table table_of_ladder(std::string_view ladder) {
  // Codecs' ladders have names for people; the table of them says which function is whose.
  const std::string entry = "\"" + std::string(ladder) + "\", ";
  for (const SourceFile& file : lab_sources()) {
    const std::size_t at = file.path.starts_with("lab/pipeline/") ? file.text.find(entry) : kNone;
    if (at != kNone) return table_of(words_of(file.text.substr(at + entry.size(), 80)).front());
  }
  const Table own = table_of(std::string(ladder) + "_ladder");
  if (!own.body.empty()) return own;
  return table_of(std::string(ladder.substr(0, ladder.find_last_not_of("0123456789") + 1)) + "_ladder");
}

// The row of that name in a text, from its opening brace to its closing one.
std::string_view row_named(std::string_view text, std::string_view variant) {
  const std::string name = "Rung{.name = \"" + std::string(variant) + "\"";
  const std::string broken = "Rung{\n          .name = \"" + std::string(variant) + "\"";
  const std::size_t at = std::min(text.find(name), text.find(broken));
  if (at == kNone) return {};
  const std::size_t brace = text.find('{', at);
  return text.substr(brace, behind_closing(text, brace) - brace);
}

// The function that a ladder of 16 bits puts in the place of that of 8: with_cpu(same_rung(narrow, "cpu"),
// NAME).
std::string_view replaced_by(const Table& table, std::string_view variant) {
  const std::string call = "(same_rung(narrow, \"" + std::string(variant) + "\"), ";
  const std::size_t at = table.body.find(call);
  return at == kNone ? std::string_view() : words_of(table.body.substr(at + call.size(), 80)).front();
}

// Those that a row names, by its fields.
std::vector<std::string> functions_of(std::string_view row) {
  constexpr std::array<std::string_view, 7> kFields{
      ".reference = ", ".cpu = ", ".share = ", ".launch = ", ".cuda = ", ".then = ", ".host = "};
  std::vector<std::string> names;
  for (const std::string_view field : kFields) {
    const std::size_t at = row.find(field);
    if (at == kNone) continue;
    const std::size_t value = at + field.size();
    for (const std::string_view word : words_of(row.substr(value, row.find_first_of(",}", value) - value))) {
      // A class: what it launches.
      if (row.substr(value).starts_with("IMGPIPE_CUDA_RUNG(codec_run<") && word != "IMGPIPE_CUDA_RUNG" &&
          word != "codec_run") {
        names.push_back(std::string(word) + "::launch");
        break;
      }
      if (word == "IMGPIPE_CUDA_RUNG" || word == "codec_run") continue;
      names.emplace_back(word);
      break;
    }
  }
  return names;
}

// nvJPEG's rows name no function but what runs it.
std::vector<std::string> functions_by_value(std::string_view row) {
  constexpr std::array<std::pair<std::string_view, const char*>, 3> kRuns{
      {{"Nvjpeg::hardware", "HardwareDecoding"},
       {"Nvjpeg::hybrid", "HybridDecoding"},
       {"Nvjpeg::encoder", "GreyEncoding"}}};
  for (const auto& [value, function] : kRuns) {
    if (row.find(value) != kNone) return {function};
  }
  return {};
}

// A member function of the class that does the transfers, by the value that a row names: what its case calls.
RungSource transfer_source(std::string_view row) {
  constexpr std::string_view kFile = "lab/pipeline/lab_transfer_cuda.cpp";
  const std::size_t value = row.find("Transfer::");
  const auto file = std::ranges::find(lab_sources(), kFile, &SourceFile::path);
  if (value == kNone || file == lab_sources().end()) return {};
  const std::string label = "case Transfer::" + std::string(words_of(row.substr(value + 10)).front()) + ":\n";
  std::size_t called = file->text.find(label);
  called = called == kNone ? file->text.find("default:\n") : called;
  called = file->text.find("return ", called) + 7;
  const std::string name(words_of(file->text.substr(called, file->text.find('(', called) - called)).front());
  std::string text =
      "// " + std::string(file->text.substr(called, file->text.find('\n', called) - called)) + "\n";
  const std::size_t at = file->text.find("\n  void " + name + "(");
  if (at != kNone) {
    const std::string_view member =
        file->text.substr(at + 1, behind_closing(file->text, file->text.find(") {\n", at) + 2) - at - 1);
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
    Place place{&file, definitions_of(file.text), 0};
    const auto found = std::ranges::find(place.definitions, function, &Definition::name);
    if (found == place.definitions.end()) continue;
    place.at = static_cast<std::size_t>(found - place.definitions.begin());
    return place;
  }
  return std::nullopt;
}

// Adds a definition and what of its file it uses.
void add_used(const Place& place, std::size_t at, std::set<std::size_t>& wanted) {
  if (!wanted.insert(at).second) return;
  for (const std::string_view word : words_of(place.definitions[at].body)) {
    for (std::size_t i = 0; i < place.definitions.size(); ++i) {
      if (place.definitions[i].name == word) add_used(place, i, wanted);
    }
  }
}

// What is too long ends with a note.
std::string shortened_text(std::string text) {
  std::size_t end = 0;
  for (int lines = 0; lines < kMostSourceLines && end != kNone; ++lines) end = text.find('\n', end + 1);
  if (end == kNone) return text;
  const auto more = std::count(text.begin() + static_cast<std::ptrdiff_t>(end) + 1, text.end(), '\n') + 1;
  return text.substr(0, end) + "\n// ... and " + std::to_string(more) + " lines more";
}

// In the order of the file.
std::string text_of(const Place& place, const std::set<std::size_t>& wanted) {
  std::string text;
  for (const std::size_t i : wanted)
    text += (text.empty() ? "" : "\n\n") + std::string(place.definitions[i].text);
  return shortened_text(std::move(text));
}

// IMGPIPE_HIST(NAME, ...) {...} and IMGPIPE_SCRATCH(hist, NAME) {...}: whether it is of this variant.
bool is_own(const Definition& definition, std::string_view stage, std::string_view variant) {
  const std::vector<std::string_view> words =
      words_of(definition.text.substr(definition.name.data() - definition.text.data()));
  if (words.size() < 3 || !words[0].starts_with("IMGPIPE_")) return false;
  return words[0] == "IMGPIPE_SCRATCH" ? words[1] == stage && words[2] == variant
                                       : words[0] == own_macro(stage) && words[1] == variant;
}

}  // namespace

RungSource rung_source(std::string_view ladder, std::string_view variant) {
  const Table table = table_of_ladder(ladder);
  std::string_view row = row_named(table.body, variant);
  if (row.empty()) row = row_named(table.file, variant);  // one of 8 bits
  std::vector<std::string> functions = functions_of(row);
  if (const std::string_view other = replaced_by(table, variant); !other.empty())
    functions = {std::string(other)};
  if (functions.empty()) functions = functions_by_value(row);
  if (functions.empty()) return transfer_source(row);
  RungSource source;
  for (const std::string& function : functions) {
    std::optional<Place> place = place_of(function);
    // What is made for every instruction set (kernels/dispatch.h) is written as NAME_rows.
    if (!place && function.ends_with("_cpu"))
      place = place_of(function.substr(0, function.size() - 4) + "_rows");
    if (!place) continue;
    std::set<std::size_t> wanted;
    add_used(*place, place->at, wanted);
    if (source.path != place->file->path)
      source.path += (source.path.empty() ? "" : ", ") + std::string(place->file->path);
    source.functions += (source.functions.empty() ? "" : ", ") + function;
    source.text += (source.text.empty() ? "" : "\n\n") + text_of(*place, wanted);
  }
  return source;
}

RungSource own_source(std::string_view file, std::string_view text, std::string_view stage,
                      std::string_view variant) {
  const SourceFile whole{file, text};
  const Place place{&whole, definitions_of(text), 0};
  std::set<std::size_t> wanted;
  for (std::size_t i = 0; i < place.definitions.size(); ++i) {
    if (is_own(place.definitions[i], stage, variant)) add_used(place, i, wanted);
  }
  RungSource source{.path = std::string(file), .functions = std::string(variant), .text = {}};
  source.text = wanted.empty() ? shortened_text(std::string(text)) : text_of(place, wanted);
  return source;
}

}  // namespace imgpipe
