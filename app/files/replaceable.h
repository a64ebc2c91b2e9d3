// Decides which existing files a run may replace: those that imgpipe wrote, and no others.
#pragma once

#include <functional>
#include <span>
#include <string>
#include <string_view>

#include "images/codecs/codec.h"

namespace imgpipe {

enum class Replace {
  own,   // files that imgpipe wrote
  all,   // --overwrite
  none,  // --no-clobber
};

// Returns true if imgpipe wrote the report, histogram, trace, preset or plot that starts with `head`. The
// first key, column or comment identifies them; for images see images/codecs/mark.h.
[[nodiscard]] bool is_own_text(std::string_view head);

// Returns why `path` may not be written, or "". It may be written if it does not exist, is empty, is not a
// regular file (a FIFO or /dev/null loses nothing), or if `own` accepts the first kMarkBytes of the file.
[[nodiscard]] std::string refusal_reason(const std::string& path, Replace replace,
                                         const std::function<bool(std::span<const std::byte> head)>& own);

// Whether an image may be written to a path, and the result that it replaces.
struct Replacement {
  std::string cannot_replace_reason;  // empty: it may
  Mark replaced = Mark::none;         // the mark of the replaced result
};
// A result may be replaced by one from the same source: same name or same content. A plain mark records no
// source, so every result may replace it. `input` is hashed with content_hash() if names differ and `mark`
// has no hash.
[[nodiscard]] Replacement replacement_of(const std::string& path, Replace replace, Mark mark,
                                         const std::string& input = "");
// Returns false if the marks record different options.
[[nodiscard]] bool have_same_options(const Mark& a, const Mark& b);
// Returns the mark of a regular file, otherwise Mark::none.
[[nodiscard]] Mark mark_in(const std::string& path);

// Return why an image or a text file may not be written to `path`, or "" if it may.
[[nodiscard]] std::string image_refusal_reason(const std::string& path, Replace replace, const Mark& mark,
                                               const std::string& input = "");
[[nodiscard]] std::string text_refusal_reason(const std::string& path, Replace replace);
// Checks again just before writing an image: another process may have created the file. Throws Error(usage)
// with the reason.
void check_still_replaceable(const std::string& path, Replace replace, const Mark& mark);
// A list of names carries no mark. It may be replaced if every name in it has the ending of a readable image
// format, or satisfies `is_name`.
[[nodiscard]] std::string list_refusal_reason(const std::string& path, Replace replace,
                                              const std::function<bool(const std::string&)>& is_name);

// Throws Error(usage) with the path and the reason, unless the reason is empty.
void check_replaceable(const std::string& path, const std::string& reason);

// The first words of every preset that imgpipe writes.
inline constexpr std::string_view kPresetMark = "# imgpipe preset";
// The comment that identifies an SVG or HTML file written by imgpipe.
inline constexpr std::string_view kSvgMark = "<!-- imgpipe -->";

// An archive has no mark of the program that made it.
[[nodiscard]] std::string archive_refusal_reason(const std::string& path, Replace replace);

}  // namespace imgpipe
