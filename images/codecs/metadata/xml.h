// Parses the elements of an XML text: their positions and attributes.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace imgpipe {

inline constexpr std::string_view kXmlSpaces = " \t\r\n";

// Offsets into the text. An empty element ends with its start tag.
struct XmlElement {
  std::uint32_t begin = 0;  // of the start tag
  std::uint32_t name_end = 0;
  std::uint32_t tag_end = 0;  // after the start tag
  std::uint32_t content_end = 0;
  std::uint32_t end = 0;     // after the end tag
  std::uint32_t parent = 0;  // index; a root is its own parent

  [[nodiscard]] std::string_view name(std::string_view text) const;
  // The name without its namespace prefix.
  [[nodiscard]] std::string_view local_name(std::string_view text) const;
  [[nodiscard]] std::string_view content(std::string_view text) const;
};

// Returns all elements in the order of their start tags. Throws Error(input) "damaged: ..." for elements that
// are not nested correctly, do not end or are over 256 levels deep, and for declarations (DOCTYPE).
[[nodiscard]] std::vector<XmlElement> xml_elements(std::string_view text);

// Views of the text.
struct XmlAttribute {
  std::string_view name, value;  // without quotes; entities are not expanded
  std::string_view whole;        // including preceding white space
};
// Throws Error(input) unless each attribute is a name and a quoted value.
[[nodiscard]] std::vector<XmlAttribute> xml_attributes(std::string_view text, const XmlElement& element);

// Edits to a text. They may overlap: edits inside a removed part have no effect.
class XmlEdits {
 public:
  explicit XmlEdits(std::string_view text) : text_(text) {}

  // `part` must be a view of the text.
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
