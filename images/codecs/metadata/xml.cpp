#include "images/codecs/metadata/xml.h"

#include <algorithm>
#include <utility>

#include "images/codecs/metadata/metadata.h"
#include "images/error.h"

namespace imgpipe {
namespace {

using namespace std::string_view_literals;

constexpr std::size_t kMaxDepth = 256;
constexpr std::string_view kNameEnds = "/> \t\r\n<\"'="sv;

class Scanner {
 public:
  explicit Scanner(std::string_view text) : text_(text) {}

  std::vector<XmlElement> run() {
    while ((at_ = text_.find('<', at_)) != std::string_view::npos) {
      if (skip("<?"sv, "?>"sv) || skip("<!--"sv, "-->"sv) || skip("<![CDATA["sv, "]]>"sv)) continue;
      if (stands("<!"sv)) fail_damaged("unexpected declaration");
      if (stands("</"sv)) {
        close();
      } else {
        open();
      }
    }
    if (!open_.empty()) fail_damaged("unclosed element");
    return std::move(elements_);
  }

 private:
  [[nodiscard]] bool stands(std::string_view what) const { return text_.substr(at_).starts_with(what); }

  bool skip(std::string_view begin, std::string_view end) {
    if (!stands(begin)) return false;
    const std::size_t found = text_.find(end, at_ + begin.size());
    if (found == std::string_view::npos) fail_damaged("unclosed element");
    at_ = found + end.size();
    return true;
  }

  std::string_view name() {
    const std::size_t end = std::min(text_.find_first_of(kNameEnds, at_), text_.size());
    const std::string_view found = text_.substr(at_, end - at_);
    if (found.empty()) fail_damaged("element without a name");
    at_ = end;
    return found;
  }

  void close() {
    const std::size_t begin = at_;
    at_ += 2;
    const std::string_view found = name();
    at_ = std::min(text_.find_first_not_of(kXmlSpaces, at_), text_.size());
    if (!stands(">"sv) || open_.empty() || elements_[open_.back()].name(text_) != found)
      fail_damaged("elements are not properly nested");
    ++at_;
    XmlElement& element = elements_[open_.back()];
    element.content_end = static_cast<std::uint32_t>(begin);
    element.end = static_cast<std::uint32_t>(at_);
    open_.pop_back();
  }

  // Attribute values may contain '>'.
  void open() {
    const auto index = static_cast<std::uint32_t>(elements_.size());
    XmlElement element{.begin = static_cast<std::uint32_t>(at_),
                       .parent = open_.empty() ? index : open_.back()};
    ++at_;
    (void)name();
    element.name_end = static_cast<std::uint32_t>(at_);
    char quote = 0;
    for (; at_ < text_.size() && (quote != 0 || text_[at_] != '>'); ++at_) {
      const char c = text_[at_];
      if (c == '<') fail_damaged("elements are not properly nested");
      if (quote == 0 && (c == '"' || c == '\'')) {
        quote = c;
      } else if (c == quote) {
        quote = 0;
      }
    }
    if (at_ == text_.size()) fail_damaged("unclosed element");
    const bool has_content = text_[at_ - 1] != '/';
    ++at_;
    element.tag_end = element.content_end = element.end = static_cast<std::uint32_t>(at_);
    if (has_content) open_.push_back(index);
    if (open_.size() > kMaxDepth) fail_damaged("elements are nested too deeply");
    elements_.push_back(element);
  }

  std::string_view text_;
  std::size_t at_ = 0;
  std::vector<XmlElement> elements_;
  std::vector<std::uint32_t> open_;
};

}  // namespace

std::string_view XmlElement::name(std::string_view text) const {
  return text.substr(begin + 1, name_end - begin - 1);
}

std::string_view XmlElement::local_name(std::string_view text) const {
  const std::string_view whole = name(text);
  return whole.substr(whole.find(':') + 1);  // npos + 1 is 0
}

std::string_view XmlElement::content(std::string_view text) const {
  return text.substr(tag_end, content_end - tag_end);
}

std::vector<XmlElement> xml_elements(std::string_view text) {
  return Scanner(text).run();
}

std::vector<XmlAttribute> xml_attributes(std::string_view text, const XmlElement& element) {
  std::string_view left = text.substr(element.name_end, element.tag_end - 1 - element.name_end);
  if (left.ends_with('/')) left.remove_suffix(1);
  std::vector<XmlAttribute> attributes;
  while (true) {
    const std::size_t begin = left.find_first_not_of(kXmlSpaces);
    if (begin == std::string_view::npos) return attributes;
    const std::size_t name_end = std::min(left.find_first_of(kNameEnds, begin), left.size());
    const std::size_t equals = std::min(left.find_first_not_of(kXmlSpaces, name_end), left.size());
    const std::size_t open = left.find_first_not_of(kXmlSpaces, std::min(equals + 1, left.size()));
    const bool is_quoted = begin > 0 && name_end > begin && equals < left.size() && left[equals] == '=' &&
                           open != std::string_view::npos && (left[open] == '"' || left[open] == '\'');
    const std::size_t close = is_quoted ? left.find(left[open], open + 1) : std::string_view::npos;
    if (close == std::string_view::npos) fail_damaged("attribute without a value");
    attributes.push_back({.name = left.substr(begin, name_end - begin),
                          .value = left.substr(open + 1, close - open - 1),
                          .whole = left.substr(0, close + 1)});
    left.remove_prefix(close + 1);
  }
}

void XmlEdits::replace(std::string_view part, std::string with) {
  const auto begin = static_cast<std::size_t>(part.data() - text_.data());
  edits_.push_back({begin, begin + part.size(), std::move(with)});
}

void XmlEdits::remove(const XmlElement& element) {
  remove(text_.substr(element.begin, element.end - element.begin));
}

std::string XmlEdits::apply() {
  std::ranges::sort(edits_, [](const Edit& a, const Edit& b) {
    return a.begin != b.begin ? a.begin < b.begin : a.end > b.end;
  });
  std::string result;
  std::size_t at = 0;
  for (const Edit& edit : edits_) {
    if (edit.begin < at) continue;
    result.append(text_, at, edit.begin - at).append(edit.with);
    at = edit.end;
  }
  return result.append(text_, at, text_.size() - at);
}

}  // namespace imgpipe
