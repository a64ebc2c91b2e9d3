#include "app/options/given_names.h"

#include <algorithm>
#include <cstddef>
#include <string_view>

#include "app/options/option_parser.h"
#include "images/names.h"
#include "images/text.h"

namespace imgpipe {
namespace {

class Arguments {
 public:
  Arguments(const std::vector<std::string>& given, const std::vector<OptionRow>& rows,
            const std::string& command)
      : given_(given), rows_(rows), command_(command) {}

  std::vector<std::string> read() {
    for (; at_ < given_.size(); ++at_) {
      const std::string& text = given_[at_];
      if (text == "--") {
        out_.insert(out_.end(), given_.begin() + static_cast<std::ptrdiff_t>(at_), given_.end());
        break;
      }
      if (text.starts_with("--")) {
        read_name(text);
      } else if (text.starts_with('-') && text.size() > 1) {
        read_letters(text);
      } else {
        out_.push_back(text);
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
    } else if (row.value == nullptr) {
      usage("--" + option_name(row) + " takes no value: '" + printable(text) + "'");
    } else {
      add_with(row, text.substr(equals + 1));
    }
  }

  // -j 4, -j4, -rn, -rj4
  void read_letters(const std::string& text) {
    for (std::size_t i = 1; i < text.size(); ++i) {
      const auto row = std::ranges::find_if(
          rows_, [&](const OptionRow& known) { return option_letter(known) == text[i]; });
      if (row == rows_.end()) refuse(text, text.substr(1));
      if (row->value != nullptr && i + 1 < text.size()) return add_with(*row, text.substr(i + 1));
      add(*row);
    }
  }

  const OptionRow& row_of(const std::string& flag) const {
    for (const std::string& wanted : {flag, usual_spelling(flag)}) {
      for (const OptionRow& row : rows_) {
        const std::vector<std::string> flags = spelled_flags(row);
        if (flag.size() > 2 && std::ranges::find(flags, wanted) != flags.end()) return row;
      }
    }
    refuse(flag, flag.substr(2));
  }

  [[noreturn]] void refuse(const std::string& flag, const std::string& name) const {
    std::vector<std::string> known;
    for (const OptionRow& row : rows_) {
      for (const std::string& spelled : spelled_flags(row)) {
        if (spelled.starts_with("--")) known.push_back(spelled.substr(2));
      }
    }
    const std::vector<std::string_view> names(known.begin(), known.end());
    const std::string_view nearest = nearest_name(name, names);
    usage("unknown option '" + printable(flag) + "'; " +
          (nearest.empty() ? "see " : "did you mean --" + std::string(nearest) + "? See ") + command_ +
          " --help");
  }

  // With the argument behind it, if it takes one and there is one.
  void add(const OptionRow& row) {
    out_.push_back("--" + option_name(row));
    if (row.value != nullptr && at_ + 1 < given_.size()) out_.push_back(given_[++at_]);
  }
  void add_with(const OptionRow& row, const std::string& value) {
    out_.push_back("--" + option_name(row));
    out_.push_back(value);
  }

  const std::vector<std::string>& given_;
  const std::vector<OptionRow>& rows_;
  const std::string& command_;
  std::size_t at_ = 0;
  std::vector<std::string> out_;
};

}  // namespace

std::vector<std::string> with_own_names(const std::vector<std::string>& arguments,
                                        const std::vector<OptionRow>& rows, const std::string& command) {
  return Arguments(arguments, rows, command).read();
}

}  // namespace imgpipe
