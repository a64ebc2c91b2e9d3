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

// The same for each kind of file that imgpipe writes.
[[nodiscard]] std::string why_no_image(const std::string& path, Replace replace, Mark mark = Mark::result);
[[nodiscard]] std::string why_no_text(const std::string& path, Replace replace);
// For a moment before writing: somebody may have made the file meanwhile. Throws Error(usage) with the
// reason.
void check_still_replaceable(const std::string& path, Replace replace);
// A list of names carries no mark: it may be replaced where every name that it holds is that of an image by
// its ending, or `is_name`.
[[nodiscard]] std::string why_no_list(const std::string& path, Replace replace,
                                      const std::function<bool(const std::string&)>& is_name);

// Throws Error(usage) with the path and the reason, unless that is empty.
void check_replaceable(const std::string& path, const std::string& reason);

// The comment by which an SVG of imgpipe's is told.
inline constexpr std::string_view kSvgMark = "<!-- imgpipe -->";

}  // namespace imgpipe
