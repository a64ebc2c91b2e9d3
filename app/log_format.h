// How messages are written on stderr.
#pragma once

namespace imgpipe {

enum class LogFormat { text, json };

}  // namespace imgpipe
