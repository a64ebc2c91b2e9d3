// What outputs in a folder are called: names with fields (--name).
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "images/codecs/codec.h"
#include "pipeline/jobs/name_pieces.h"

namespace imgpipe {

// What an output's name is made of.
struct NamedInput {
  std::string path;         // as it is opened; "-" is stdin, which has no name
  std::string tree;         // below the folder of outputs, where that gets the tree of the inputs
  std::int64_t number = 1;  // among all of them, sorted; from 1
};

struct PlacedOutput {
  std::string path;
  Format format = Format::png;
};

class NameTemplate {
 public:
  // Throws Error(usage) for what no name can be made of: unknown fields, wrong widths, an ending that names a
  // format which cannot be written, a name that is empty, absolute or leads out of the folder.
  explicit NameTemplate(const std::string& text);

  // What outputs are called unless something else was said: "{stem}.{ext}", or "{dir}/{stem}.{ext}".
  [[nodiscard]] static const NameTemplate& preset(bool in_tree);

  [[nodiscard]] bool has(std::string_view field) const;
  // A pattern (app/jobs/glob.h) of its names, for people; empty where it would match every name, or where
  // text in it has a character that patterns use.
  [[nodiscard]] std::string pattern() const;
  // Throws Error(usage) where --format contradicts the ending, or neither says which format it is to be.
  void check_format(const std::optional<Format>& format) const;

  // Where an input goes in a folder. The format is that of the ending, else `format`, else the input's own
  // where that can be written, else PNG. `page`: what {page} stands for; none: {page} stays, all other braces
  // being doubled (pipeline/jobs/name_pieces.h). Throws Error(usage) where the name comes to nothing, leads
  // out of the folder, ends as another format does, or needs a name that stdin has not.
  [[nodiscard]] PlacedOutput place(const std::string& folder, const NamedInput& input,
                                   const std::optional<Format>& format,
                                   std::optional<std::int64_t> page = std::nullopt) const;

 private:
  [[nodiscard]] std::string value_of(const NamePiece& field, const NamedInput& input, Format format,
                                     std::optional<std::int64_t> page) const;

  std::vector<NamePiece> pieces_;
  std::optional<Format> format_;  // by its ending
  bool keeps_page_ = false;       // there is a {page}
};

// Every field and what it stands for, for people: "{dir} the folder below INPUT, ...".
[[nodiscard]] std::string name_fields_help();

// Whether files of `format` may have an ending that names `ending`: PGM and PPM may have that of PNM too.
[[nodiscard]] bool is_ending_of(Format ending, Format format);

}  // namespace imgpipe
