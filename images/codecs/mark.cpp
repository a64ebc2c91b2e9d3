#include "images/codecs/mark.h"

#include "images/codecs/codec_table.h"
#include "images/codecs/sniff.h"

namespace imgpipe {

using namespace std::string_view_literals;

std::string_view mark_text(Mark mark) {
  switch (mark) {
    case Mark::result:
      return "imgpipe"sv;
    case Mark::synthetic:
      return "imgpipe synth"sv;
    default:
      return ""sv;
  }
}

Mark mark_of(std::span<const std::byte> text) {
  for (const Mark mark : {Mark::result, Mark::synthetic})
    if (text.size() == mark_text(mark).size() && stands_at(text, 0, mark_text(mark))) return mark;
  return Mark::none;
}

Mark find_mark(std::span<const std::byte> head) {
  const Codec* codec = codec_by_content(head);
  return codec == nullptr || codec->find_mark == nullptr ? Mark::none : codec->find_mark(head);
}

}  // namespace imgpipe
