// Words that the forms of a report for people have in common: the table and the page.
#pragma once

#include <string>

#include "app/report/image_report.h"

namespace imgpipe {

// "12 pages (4-15), 512x512 grey 16-bit tiff", or without pages "512x512 grey 16-bit tiff".
[[nodiscard]] std::string contents_text(const RunFacts& facts, bool output);
// "contrast: lo 19, hi 231".
[[nodiscard]] std::string range_text(const ContrastRange& range);
// Times range from microseconds to minutes: three significant figures at least.
[[nodiscard]] std::string milliseconds_text(double ms);
// What --repeat makes of the times.
[[nodiscard]] std::string repeat_text(int repeat, bool compared);

}  // namespace imgpipe
