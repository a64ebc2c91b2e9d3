#include "app/options/parsed_arguments.h"

#include <algorithm>
#include <cstddef>
#include <iterator>
#include <string_view>

#include "app/options/option_values.h"
#include "images/files/file.h"
#include "images/names.h"
#include "images/text.h"
#include "kernels/stage.h"
#include "kernels/table/stage_texts.h"
#include "pipeline/stage_list.h"

namespace imgpipe {
namespace {

constexpr const char* kOn = "true";
constexpr const char* kOff = "false";
// Options that accept - for stdout.
constexpr std::string_view kToStdout[] = {"report",    "write-preset", "trace", "histogram",
                                          "per-image", "plot",         "html",  "failed-out"};

std::string switch_value(const std::string& option, const std::string& text) {
  if (text == kOn || text == "yes") return kOn;
  if (text == kOff || text == "no") return kOff;
  usage("--" + option + ": expected true or false, got '" + printable(text) + "'");
}

// Whether an argument is the value of an option that may have none.
bool is_optional_value(const OptionRow& row, const std::string& argument) {
  return argument.empty() || argument == kStandardStream ||
         (!argument.starts_with('-') && argument.ends_with(row.ending));
}

class Arguments {
 public:
  Arguments(const std::vector<std::string>& given, const std::vector<OptionRow>& rows,
            const std::string& command)
      : given_(given), rows_(rows), command_(command) {}

  std::vector<ParsedArgument> read() {
    for (bool options_end = false; at_ < given_.size(); ++at_) {
      const std::string& text = given_[at_];
      if (options_end || text == "--") {
        options_end = true;
        out_.push_back({nullptr, text});
        continue;
      }
      if (text.starts_with("--")) {
        read_name(text);
      } else if (text.starts_with('-') && text.size() > 1) {
        read_letters(text);
      } else {
        out_.push_back({nullptr, text});
      }
    }
    return std::move(out_);
  }

 private:
  // --jobs 4, --jobs=4
  void read_name(const std::string& text) {
    const std::size_t equals = text.find('=');
    const OptionRow& row = row_of(text.substr(0, equals));
    if (equals == std::string::npos) {
      add(row);
    } else {
      const std::string value = text.substr(equals + 1);
      add_with(row, row.value != nullptr ? value : switch_value(option_name(row), value));
    }
  }

  // -j 4, -j4, -rn, -rj4
  void read_letters(const std::string& text) {
    refuse_name(text);
    for (std::size_t i = 1; i < text.size(); ++i) {
      const auto row = std::ranges::find_if(
          rows_, [&](const OptionRow& known) { return option_letter(known) == text[i]; });
      if (row == rows_.end()) refuse(text, text.substr(1));
      if (row->value != nullptr && i + 1 < text.size()) {
        if (text[i + 1] == '=') refuse_equals(text, *row, text.substr(i + 2));
        return add_with(*row, text.substr(i + 1));
      }
      add(*row);
    }
  }

  const OptionRow& row_of(const std::string& flag) const {
    const OptionRow* row = find_option(flag.substr(2), rows_);
    if (row == nullptr) refuse(flag, flag.substr(2));
    return *row;
  }

  // Rejects a long name after one dash (-output, -jobs=4), or its start: -out.png hardly means -o ut.png.
  void refuse_name(const std::string& text) const {
    constexpr std::size_t kMinLetters = 3;
    const std::string name = canonical_spelling(text.substr(1, text.find('=') - 1));
    const std::string begin = name.substr(0, name.find_first_not_of("abcdefghijklmnopqrstuvwxyz"));
    for (const std::string& known : option_names(rows_)) {
      const bool begun = begin.size() >= kMinLetters && known.starts_with(begin);
      if (name != known && !begun) continue;
      usage("unknown option '" + printable(text) + "'; did you mean --" + known + "? See " + command_ +
            " --help");
    }
  }

  // -o=x.png
  [[noreturn]] static void refuse_equals(const std::string& text, const OptionRow& row,
                                         const std::string& value) {
    const std::string shown = value.empty() ? row.value : printable(value);
    usage("'" + printable(text) + "': unexpected '='; use -" + option_letter(row) + " " + shown + " or --" +
          option_name(row) + "=" + shown);
  }

  [[noreturn]] void refuse(const std::string& flag, const std::string& name) const {
    const std::vector<std::string> known = option_names(rows_);
    const std::vector<std::string_view> names(known.begin(), known.end());
    const std::string_view nearest = nearest_name(name, names);
    if (const Stage* const stage = stage_meant(name); stage != nullptr && find_option("stages", rows_))
      usage("unknown option '" + printable(flag) + "'; " + stage_hint(*stage));
    usage("unknown option '" + printable(flag) + "'; " +
          (nearest.empty() ? "see " : "did you mean --" + std::string(nearest) + "? See ") + command_ +
          " --help");
  }

  // Adds the option with the next argument as its value, if it takes one and there is one.
  void add(const OptionRow& row) {
    if (row.value == nullptr) return add_with(row, kOn);
    const bool there = at_ + 1 < given_.size();
    if (row.implied != nullptr && !(there && is_optional_value(row, given_[at_ + 1])))
      return add_with(row, row.implied);
    out_.push_back({&row, there ? given_[++at_] : "", there});
  }
  void add_with(const OptionRow& row, const std::string& value) { out_.push_back({&row, value}); }

  const std::vector<std::string>& given_;
  const std::vector<OptionRow>& rows_;
  const std::string& command_;
  std::size_t at_ = 0;
  std::vector<ParsedArgument> out_;
};

}  // namespace

std::string stage_hint(const Stage& stage) {
  return std::string(stage.name) + " is a stage: --stages " + std::string(stage_text(stage)->example);
}

const OptionRow* find_option(const std::string& name, const std::vector<OptionRow>& rows) {
  for (const std::string& wanted : {name, canonical_spelling(name)}) {
    const auto row = std::ranges::find_if(rows, [&](const OptionRow& one) { return has_name(one, wanted); });
    if (row != rows.end()) return &*row;
  }
  return nullptr;
}

std::vector<std::string> option_names(const std::vector<OptionRow>& rows) {
  std::vector<std::string> names;
  for (const OptionRow& row : rows) {
    for (const std::string& spelled : spelled_flags(row)) {
      if (spelled.starts_with("--")) names.push_back(spelled.substr(2));
    }
  }
  return names;
}

std::vector<ParsedArgument> parse_arguments(const std::vector<std::string>& arguments,
                                            const std::vector<OptionRow>& rows, const std::string& command) {
  return Arguments(arguments, rows, command).read();
}

void check_values(const std::vector<ParsedArgument>& given) {
  for (const auto& [row, text, has_value] : given) {
    if (row == nullptr || row->value == nullptr || has_value) continue;
    const std::string name = option_name(*row);
    const bool takes_stdout = std::ranges::find(kToStdout, name) != std::end(kToStdout);
    usage("--" + name + ": missing value; expected " + row->value +
          (takes_stdout ? ", or - for stdout" : ""));
  }
}

std::vector<std::string> argument_texts(const std::vector<ParsedArgument>& given) {
  std::vector<std::string> texts;
  for (const auto& [row, text, has_value] : given) {
    if (row == nullptr) {
      texts.push_back(text);
      continue;
    }
    const bool is_switch = row->value == nullptr;
    texts.push_back("--" + option_name(*row) + (is_switch && text != kOn ? "=" + text : ""));
    if (!is_switch && has_value) texts.push_back(text);
  }
  return texts;
}

}  // namespace imgpipe
