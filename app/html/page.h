// One page of HTML that needs nothing else: style sheet and drawings are in it, there is no JavaScript and no
// network. It follows the reader's choice of a light or a dark page.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "app/report/result_table.h"

namespace imgpipe {

class HtmlPage {
 public:
  // `title` is text.
  explicit HtmlPage(std::string title) : title_(std::move(title)) {}

  // Behind what is there already. `markup` is HTML, all else text.
  void add(std::string_view markup) { body_ += markup; }
  // A heading of level 2 to 4. Those of level 2 have an id that the page's contents lead to.
  void heading(int level, const std::string& text);
  void paragraph(const std::string& text, std::string_view css_class = "");
  // A drawing with what it shows, its legend, and below it the numbers that it is drawn from.
  struct LegendEntry {
    std::string css_class;  // of its mark
    std::string name;
  };
  void figure(const std::string& caption, const std::string& svg, const std::vector<LegendEntry>& legend);
  // `caption` as the table's own, or as what opens it and its notes where it is `folded`. Numbers are there
  // as programs get them too: data-value="0.4493", under data-key="time_ms" of its column.
  void table(const ResultTable& table, const std::string& caption, bool folded = false);
  // Terms and what they are.
  void facts(const std::vector<std::pair<std::string, std::string>>& rows);

  // The whole page.
  [[nodiscard]] std::string text() const;

 private:
  std::string title_, body_, contents_;
  int headings_ = 0;
};

}  // namespace imgpipe
