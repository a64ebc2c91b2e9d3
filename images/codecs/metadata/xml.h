// The elements of an XML text, as far as metadata needs them: where they begin and end, and their attributes.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace imgpipe {

inline constexpr std::string_view kXmlSpaces = " \t\r\n";

// Offsets into the text. An element without content ends where its start tag ends.
struct XmlElement {
  std::uint32_t begin = 0;  // of the start tag
  std::uint32_t name_end = 0;
  std::uint32_t tag_end = 0;  // after the start tag
  std::uint32_t content_end = 0;
  std::uint32_t end = 0;     // after the end tag
  std::uint32_t parent = 0;  // index; of a root its own

  [[nodiscard]] std::string_view name(std::string_view text) const;
  // The name without its namespace prefix.
  [[nodiscard]] std::string_view local_name(std::string_view text) const;
  [[nodiscard]] std::string_view content(std::string_view text) const;
};

// In the order of their start tags. Throws Error(input) where elements do not nest, nest deeper than 256
// levels or do not end, and for declarations (DOCTYPE); its text is short: "damaged: ...".
[[nodiscard]] std::vector<XmlElement> xml_elements(std::string_view text);

// Views of the text.
struct XmlAttribute {
  std::string_view name, value;  // without quotes; entities are not expanded
  std::string_view whole;        // with the white space before it
};
// Throws Error(input) unless each attribute is a name and a quoted value.
[[nodiscard]] std::vector<XmlAttribute> xml_attributes(std::string_view text, const XmlElement& element);

// Changes to a text. They may overlap: what one removes, others within it have no effect on.
class XmlEdits {
 public:
  explicit XmlEdits(std::string_view text) : text_(text) {}

  // `part` is a view of the text.
  void replace(std::string_view part, std::string with);
  void remove(std::string_view part) { replace(part, ""); }
  void remove(const XmlElement& element);
  [[nodiscard]] bool empty() const { return edits_.empty(); }
  [[nodiscard]] std::string apply();

 private:
  struct Edit {
    std::size_t begin, end;
    std::string with;
  };
  std::string_view text_;
  std::vector<Edit> edits_;
};

}  // namespace imgpipe
