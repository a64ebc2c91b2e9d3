// The implementations that a stage may have.
#pragma once

#include <cstdint>

namespace imgpipe {

enum class Backend : std::uint8_t { reference, cpu, cuda };

}  // namespace imgpipe
