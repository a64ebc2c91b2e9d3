// The implementations of every stage.
#pragma once

#include <cstdint>

namespace imgpipe {

enum class Backend : std::uint8_t { reference, cpu, cuda };

}  // namespace imgpipe
