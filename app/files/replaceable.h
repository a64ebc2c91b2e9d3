// Which existing files a run may replace: what imgpipe wrote, and nothing that somebody else did.
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

// Whether imgpipe wrote the file of which `head` is the start, as a report, a histogram, a trace or a plot:
// they are told by their first key, column or comment. Images are told by images/codecs/mark.h.
[[nodiscard]] bool own_text(std::string_view head);

// Why `path` may not be written, or "". It may where there is no file, an empty one, or what is no regular
// file (a FIFO, /dev/null: nothing is lost there), and where it is a file that `own` says is imgpipe's. `own`
// is asked with the first kMarkBytes of the file.
[[nodiscard]] std::string why_not_replaceable(
    const std::string& path, Replace replace,
    const std::function<bool(std::span<const std::byte> head)>& own);

// Whether an image may be written to a path, and the result that it replaces there.
struct Replacement {
  std::string why_not;         // empty: it may
  Mark replaced = Mark::none;  // where it may
};
// A result is replaced by one with this mark if both have the same source: its name or its content is the
// same. A plain mark says nothing of a source: such a file is replaced by every result. `input`: the file
// whose content_hash() is taken where the mark has none and names differ.
[[nodiscard]] Replacement replacement_of(const std::string& path, Replace replace, Mark mark,
                                         const std::string& input = "");
// Of the same image, as far as marks say it.
[[nodiscard]] bool were_made_alike(const Mark& a, const Mark& b);
// The mark of a regular file; Mark::none for all else.
[[nodiscard]] Mark mark_in(const std::string& path);

// The reason alone, for each kind of file that imgpipe writes.
[[nodiscard]] std::string why_no_image(const std::string& path, Replace replace, const Mark& mark,
                                       const std::string& input = "");
[[nodiscard]] std::string why_no_text(const std::string& path, Replace replace);
// Just before an image is written: another process may have made the file meanwhile. Throws Error(usage) with
// the reason.
void check_still_replaceable(const std::string& path, Replace replace, const Mark& mark);
// A list of names carries no mark: it may be replaced where every name that it holds is that of an image by
// its ending, or `is_name`.
[[nodiscard]] std::string why_no_list(const std::string& path, Replace replace,
                                      const std::function<bool(const std::string&)>& is_name);

// Throws Error(usage) with the path and the reason, unless that is empty.
void check_replaceable(const std::string& path, const std::string& reason);

// The first words of every preset that imgpipe has written.
inline constexpr std::string_view kPresetMark = "# imgpipe preset";
// The comment by which an SVG of imgpipe's is told.
inline constexpr std::string_view kSvgMark = "<!-- imgpipe -->";

}  // namespace imgpipe
