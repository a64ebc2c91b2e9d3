// A self-contained HTML page: style sheet and drawings are inline, without JavaScript or network access. It
// follows the reader's light or dark setting.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "app/report/result_table.h"

namespace imgpipe {

class HtmlPage {
 public:
  explicit HtmlPage(std::string title) : title_(std::move(title)) {}

  // Appends to the page. `markup` and `svg` are inserted unescaped; all other arguments are plain text.
  void add(std::string_view markup) { body_ += markup; }
  // Adds a heading of level 2 to 4. Those of level 2 are listed in the table of contents.
  void heading(int level, const std::string& text);
  void paragraph(const std::string& text, std::string_view css_class = "");
  // A drawing with its caption and legend.
  struct LegendEntry {
    std::string css_class;  // of the colour mark
    std::string name;
  };
  void figure(const std::string& caption, const std::string& svg, const std::vector<LegendEntry>& legend);
  // Adds a table with `caption` above it. If `folded`, the caption opens the table and its notes. Cells also
  // carry their numbers for programs: data-value="0.4493", under the column's data-key="time_ms".
  void table(const ResultTable& table, const std::string& caption, bool folded = false);
  // Adds a list of terms and their values.
  void facts(const std::vector<std::pair<std::string, std::string>>& rows);

  [[nodiscard]] std::string text() const;

 private:
  std::string title_, body_, contents_;
  int headings_ = 0;
};

}  // namespace imgpipe
