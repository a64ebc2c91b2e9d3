// The names of outputs in a directory: templates with fields (--name).
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "images/codecs/codec.h"
#include "pipeline/jobs/name_segments.h"

namespace imgpipe {

struct NamedInput {
  std::string path;           // to open; "-" is stdin, which has no name
  std::string tree;           // path below OUTPUT if OUTPUT mirrors the directories of the inputs
  std::int64_t number = 1;    // position in the sorted list, from 1
  std::string also = "main";  // the value of {also}
};

struct PlacedOutput {
  std::string path;
  Format format = Format::png;
};

class NameTemplate {
 public:
  // Throws Error(usage) if no name can be made: unknown fields, wrong widths, an ending of a format that
  // cannot be written, or a name that is empty, absolute or leads out of the directory.
  explicit NameTemplate(const std::string& text);

  // Returns the default template: "{stem}.{ext}", or "{dir}/{stem}.{ext}" with `in_tree`.
  [[nodiscard]] static const NameTemplate& preset(bool in_tree);

  [[nodiscard]] bool has(std::string_view field) const;
  // Returns a pattern (app/jobs/glob.h) that matches the names made from the template, for people. Empty if
  // it would match every name, or if literal text contains a pattern character.
  [[nodiscard]] std::string pattern() const;
  // Throws Error(usage) if --format contradicts the ending, or if neither determines the format.
  void check_format(const std::optional<Format>& format) const;

  // Returns the path and format of an input's output in `directory`. The format is `format` if given,
  // otherwise that of the template's ending, otherwise the input's if it can be written, otherwise PNG.
  // `page` is the value of {page}; without it {page} stays and all other braces are doubled
  // (pipeline/jobs/name_segments.h). Throws Error(usage) if the name is empty, leads out of the directory,
  // has another format's ending, or needs the name of an input that is stdin.
  [[nodiscard]] PlacedOutput place(const std::string& directory, const NamedInput& input,
                                   const std::optional<Format>& format,
                                   std::optional<std::int64_t> page = std::nullopt) const;

 private:
  [[nodiscard]] std::string value_of(const NameSegment& field, const NamedInput& input, Format format,
                                     std::optional<std::int64_t> page) const;

  std::vector<NameSegment> segments_;
  std::optional<Format> format_;  // from the literal ending
  bool keeps_page_ = false;       // contains {page}
};

// Returns the path of a result of --also next to the output: DIR/a.NAME.png for DIR/a.png.
[[nodiscard]] std::string also_path(const std::string& output, const std::string& name);

// Returns the fields and their meanings, for people: "{dir}: directory below INPUT (...); ...".
[[nodiscard]] std::string name_fields_help();

// Returns true if a file of `format` may have the ending of format `ending`. PGM and PPM files may also use
// the ending of PNM.
[[nodiscard]] bool is_ending_of(Format ending, Format format);

}  // namespace imgpipe
