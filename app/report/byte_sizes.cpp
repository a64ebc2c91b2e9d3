#include "app/report/byte_sizes.h"

#include "app/report/text_columns.h"

namespace imgpipe {

std::string bytes_text(std::int64_t bytes) {
  if (bytes < 1000) return std::to_string(bytes) + (bytes == 1 ? " byte" : " bytes");
  // 999,950 and more would be rounded to 1000.0 kB.
  return bytes < 999'950 ? number(static_cast<double>(bytes) / 1e3, 1) + " kB"
                         : number(static_cast<double>(bytes) / 1e6, 1) + " MB";
}

}  // namespace imgpipe
