#include "app/html/page.h"

#include <utility>

#include "app/files/replaceable.h"
#include "app/html/html_text.h"
#include "app/html/page_style.h"
#include "app/report/text_columns.h"

namespace imgpipe {
namespace {

std::string cell(const TableCell& cell, const TableColumn& column, bool is_name) {
  std::string attributes = column.left ? " class=\"left\"" : "";
  if (is_name) return element("th", html(cell.text), " scope=\"row\" class=\"left\"");
  if (cell.value) attributes += " data-value=\"" + exact_number(*cell.value) + "\"";
  return element("td", html(cell.text), attributes);
}

}  // namespace

void HtmlPage::heading(int level, const std::string& text) {
  const std::string tag = "h" + std::to_string(level);
  if (level > 2) {
    body_ += element(tag, html(text));
    return;
  }
  const std::string id = "part-" + std::to_string(++headings_);
  body_ += element(tag, html(text), " id=\"" + id + "\"");
  contents_ += element("li", "<a href=\"#" + id + "\">" + html(text) + "</a>");
}

void HtmlPage::paragraph(const std::string& text, std::string_view css_class) {
  body_ += element("p", html(text),
                   css_class.empty() ? std::string() : " class=\"" + std::string(css_class) + "\"");
}

void HtmlPage::figure(const std::string& caption, const std::string& svg,
                      const std::vector<LegendEntry>& legend) {
  std::string names;
  for (const LegendEntry& entry : legend)
    names += element("li", "<span class=\"mark " + entry.css_class + "\"></span>" + html(entry.name));
  body_ += "<figure>\n" + element("figcaption", html(caption));
  if (!names.empty()) body_ += element("ul", names, " class=\"legend\"");
  body_ += element("div", svg,
                   " class=\"scroll\" tabindex=\"0\" role=\"group\" aria-label=\"" + html(caption) + "\"");
  body_ += "</figure>\n";
}

void HtmlPage::table(const ResultTable& table, const std::string& caption, bool folded) {
  std::string head;
  for (const TableColumn& column : table.columns) {
    if (column.title.empty()) continue;
    head += element("th", html(column.title),
                    std::string(" scope=\"col\" data-key=\"") + html(column.key) + "\"" +
                        (column.left ? " class=\"left\"" : ""));
  }
  std::string rows;
  for (const auto& row : table.rows) {
    std::string cells;
    for (std::size_t i = 0; i < row.size(); ++i) {
      if (!table.columns[i].title.empty()) cells += cell(row[i], table.columns[i], cells.empty());
    }
    rows += element("tr", cells);
  }
  std::string text = (folded ? std::string() : element("caption", html(caption))) +
                     element("thead", element("tr", head)) + element("tbody", rows);
  text = element("div", element("table", text),
                 " class=\"scroll\" tabindex=\"0\" role=\"group\" aria-label=\"" + html(caption) + "\"");
  for (const std::string& note : table.notes) text += element("p", html(note));
  body_ += folded ? element("details", element("summary", html(caption)) + text) : text;
}

void HtmlPage::facts(const std::vector<std::pair<std::string, std::string>>& rows) {
  std::string list;
  for (const auto& [term, what] : rows) list += element("dt", html(term)) + element("dd", html(what));
  body_ += element("dl", list);
}

std::string HtmlPage::text() const {
  std::string out = "<!DOCTYPE html>\n<html lang=\"en\">\n<head>\n" + std::string(kSvgMark) +
                    "\n<meta charset=\"utf-8\">\n"
                    "<meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n"
                    "<meta name=\"color-scheme\" content=\"light dark\">\n"
                    "<meta http-equiv=\"Content-Security-Policy\" content=\"default-src 'none'; "
                    "style-src 'unsafe-inline'; img-src data:\">\n";
  out += element("title", html(title_)) + element("style", kPageStyle);
  out += "</head>\n<body>\n" + element("h1", html(title_));
  if (headings_ > 2) out += element("nav", element("ul", contents_), " aria-label=\"Contents\"");
  return out + element("main", body_) + "</body>\n</html>\n";
}

}  // namespace imgpipe
