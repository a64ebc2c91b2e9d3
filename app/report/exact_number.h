// Numbers as programs get them.
#pragma once

#include <string>

namespace imgpipe {

// The shortest text that reads back as the same number.
[[nodiscard]] std::string exact_number(double value);

}  // namespace imgpipe
