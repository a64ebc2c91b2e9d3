// A log line as JSON: docs/schemas/log.schema.json.
#pragma once

#include <array>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

namespace imgpipe {

// The printable names of the files that a message is about, and the message without their paths. Empty: none.
struct LogSubject {
  std::string input, output, reason;
};

// Progress of a run over many images, or of one pass over the pages of an image.
struct RunCounts {
  std::size_t total = 0;                          // all images; 0: unknown
  std::size_t done = 0, failed = 0, skipped = 0;  // skipped: their outputs existed
  std::int64_t pixels = 0;                        // of the images done
  double seconds = 0;
  std::string_view unit = "images";
  std::string pass{};  // "pass 1 of 2"; empty: the only one

  [[nodiscard]] std::size_t ended() const { return done + failed + skipped; }
  [[nodiscard]] double images_per_s() const { return per_s(static_cast<double>(done)); }
  [[nodiscard]] double megapixels_per_s() const { return per_s(static_cast<double>(pixels) / 1e6); }

 private:
  [[nodiscard]] double per_s(double count) const { return seconds > 0 ? count / seconds : 0; }
};

struct LogLine {
  std::string_view level;  // error, warning, info, debug
  std::string_view event;  // message, progress, summary
  std::string_view message;
  const LogSubject* subject = nullptr;
  const RunCounts* counts = nullptr;
};
// Returns one line without its newline. It is valid JSON whatever bytes the texts contain.
[[nodiscard]] std::string json_line(const LogLine& line, std::chrono::system_clock::time_point time);
[[nodiscard]] std::string log_schema();

// "2026-11-23T02:35:09.123Z" (RFC 3339), terminated by a NUL. Allocates nothing.
using TimeText = std::array<char, 40>;
[[nodiscard]] TimeText time_text(std::chrono::system_clock::time_point time) noexcept;

inline constexpr std::string_view kLogSchema = "log";
inline constexpr std::string_view kLogSchemaId = "imgpipe/log/1";

}  // namespace imgpipe
