// Makes the HTML report and the drawing of a histogram with texts and numbers from any bytes. Both are
// well-formed, and have no element and no attribute that harmless texts do not have.
#include <algorithm>
#include <array>
#include <cstdint>
#include <set>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "app/html/image_report_html.h"
#include "images/text.h"
#include "tests/fuzz/fuzz_target.h"

namespace imgpipe {
namespace {

using Text = std::string_view;

void demand(bool condition) {
  if (!condition) __builtin_trap();
}

void check_text(Text text) {
  std::string shown(text);
  std::erase_if(shown, [](char c) { return c == '\n' || c == '\t'; });
  demand(printable(shown) == shown);
  for (std::size_t at = text.find('&'); at != text.npos; at = text.find('&', at + 1)) {
    constexpr std::array<Text, 4> kEntities{"&amp;", "&lt;", "&gt;", "&quot;"};
    demand(std::ranges::any_of(kEntities, [&](Text one) { return text.substr(at).starts_with(one); }));
  }
}

// Returns the elements, and their attributes as "ELEMENT ATTRIBUTE". Ends the process if an element is not
// closed, an attribute is not quoted, or a text is not escaped.
std::set<std::string> parts_of(Text page) {
  std::set<std::string> parts;
  std::vector<std::string> open;
  for (std::size_t at = 0; at < page.size();) {
    if (page[at] != '<') {
      const std::size_t end = std::min(page.find('<', at), page.size());
      check_text(page.substr(at, end - at));
      at = end;
      continue;
    }
    const bool is_comment = page.substr(at).starts_with("<!--");
    const std::size_t end = page.find(is_comment ? "-->" : ">", at);
    demand(end != page.npos);
    Text tag = page.substr(at + 1, end - at - 1);
    at = end + (is_comment ? 3 : 1);
    if (tag.starts_with('!')) continue;
    if (tag.starts_with('/')) {
      demand(!open.empty() && open.back() == tag.substr(1));
      open.pop_back();
      continue;
    }
    const bool is_closed = tag.ends_with('/');
    if (is_closed) tag.remove_suffix(1);
    const std::string name(tag.substr(0, tag.find_first_of(" \n")));
    parts.insert(name);
    for (tag.remove_prefix(name.size()); !tag.empty();) {
      if (tag.front() == ' ' || tag.front() == '\n') {
        tag.remove_prefix(1);
        continue;
      }
      const std::size_t equals = tag.find("=\"");
      demand(equals != tag.npos);
      const std::size_t quote = tag.find('"', equals + 2);
      demand(quote != tag.npos);
      parts.insert(name + " " + std::string(tag.substr(0, equals)));
      check_text(tag.substr(equals + 2, quote - equals - 2));
      tag.remove_prefix(quote + 1);
    }
    if (!is_closed && name != "meta" && name != "img") open.push_back(name);
  }
  demand(open.empty());
  return parts;
}

// Returns the lines one after the other, and the bytes as numbers; again from the start after the last.
class Source {
 public:
  explicit Source(Text bytes) : bytes_(bytes), rest_(bytes) {}
  std::string text() {
    if (rest_.empty()) rest_ = bytes_;
    const std::size_t end = std::min(rest_.find('\n'), rest_.size());
    const std::string line(rest_.substr(0, end));
    rest_.remove_prefix(std::min(end + 1, rest_.size()));
    return line;
  }
  std::int64_t number() {
    at_ = (at_ + 1) % bytes_.size();
    return static_cast<unsigned char>(bytes_[at_]);
  }

 private:
  Text bytes_, rest_;
  std::size_t at_ = 0;
};

std::set<std::string> parts_from(Text bytes) {
  Source source(bytes);
  ProcessOptions options;
  options.input.path = source.text();
  options.output.path = source.text();
  ImageReport report;
  report.implementation = source.text();
  report.device_why = source.text();
  report.processor = source.text();
  report.compared = true;
  report.copy_bandwidth_gb_s = 1;
  for (int i = 0; i < 3; ++i) {
    const auto time = static_cast<double>(source.number());
    ReportRow row{.name = source.text(), .kind = SpanKind::kernel, .time_ms = time, .bytes = source.number()};
    row.gb_per_s = time / 7;
    row.copy_share = time / 300;
    if (i == 1) row.reference_ms = 2 * time;
    row.comparison = source.text();
    report.rows.push_back(row);
    report.totals.push_back(row);
    const std::int64_t start = source.number() * 1000;
    report.spans.push_back({.name = source.text(),
                            .track = source.text(),
                            .kind = i == 0 ? SpanKind::host : SpanKind::kernel,
                            .start_ns = start,
                            .end_ns = start + source.number(),
                            .pass = i == 2 ? kWarmUpPass : 0});
  }
  report.ranges.push_back({.label = source.text(), .plane = 1, .lo = 3, .hi = 200, .of_one_plane = true});
  RunFacts facts{.options = &options, .command = source.text(), .output = {3, 2, 3}};
  facts.input.shape = {3, 2, 3};
  facts.input.profile = source.text();
  facts.also.push_back({.name = source.text(), .path = source.text()});
  ReportPage page{.context = {.date = source.text(), .host = source.text()},
                  .warnings = {source.text(), source.text()}};
  page.input.missing_reason = source.text();
  page.output.missing_reason = source.text();
  HistogramPair pair;
  pair.title = source.text();
  pair.before_label = source.text();
  pair.after_label = source.text();
  pair.ranges = report.ranges;
  for (int i = 0; i < 3 * 256; ++i) pair.before.values.push_back(static_cast<std::uint64_t>(source.number()));
  pair.after = pair.before;
  page.histogram = pair;
  std::set<std::string> parts = parts_of(image_report_html(report, facts, page));
  parts.merge(parts_of(histogram_svg(pair)));
  return parts;
}

}  // namespace
}  // namespace imgpipe

IMGPIPE_FUZZ_TARGET(fuzz_html) {
  using namespace imgpipe;
  if (size == 0) return 0;
  static const std::set<std::string> known = parts_from("one\ntwo\nthree\nfour\nfive\nsix\nseven");
  const std::set<std::string> parts = parts_from({reinterpret_cast<const char*>(data), size});
  if (!std::ranges::includes(known, parts)) __builtin_trap();
  return 0;
}
