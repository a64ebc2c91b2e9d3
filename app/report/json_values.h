// Values of JSON that several reports write alike.
#pragma once

#include <string>

#include <nlohmann/json.hpp>

namespace imgpipe {

// null for an empty text.
[[nodiscard]] inline nlohmann::ordered_json text_or_null(const std::string& text) {
  return text.empty() ? nlohmann::ordered_json(nullptr) : nlohmann::ordered_json(text);
}

}  // namespace imgpipe
