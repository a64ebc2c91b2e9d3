// The character set that libarchive uses for names. Include in archive_*.cpp only.
#pragma once

#include <locale.h>

namespace imgpipe {

// Makes UTF-8 the character set of the calling thread for the lifetime of this object: in the locale "C",
// libarchive would convert names of pax archives to ASCII. Without the locale C.UTF-8, it does nothing.
class ArchiveLocale {
 public:
  ArchiveLocale() : before_(utf8() == nullptr ? nullptr : ::uselocale(utf8())) {}
  ~ArchiveLocale() {
    if (before_ != nullptr) ::uselocale(before_);
  }
  ArchiveLocale(const ArchiveLocale&) = delete;
  ArchiveLocale& operator=(const ArchiveLocale&) = delete;

 private:
  static locale_t utf8() {
    static const locale_t made = ::newlocale(LC_CTYPE_MASK, "C.UTF-8", nullptr);
    return made;
  }

  locale_t before_;
};

}  // namespace imgpipe
