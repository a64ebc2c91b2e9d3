// Checks that the installed libjpeg writes the same scans as the built-in encoder.
#pragma once

namespace imgpipe {

// Encodes small images with both, once per process and kind of scan: grey (1 channel) or RGB (3), in 4:2:0 or
// 4:4:4. Libraries other than libjpeg-turbo may write other codes, or several scans. Thread-safe.
[[nodiscard]] bool library_encodes_identically(int channels, bool subsampled_chroma) noexcept;

}  // namespace imgpipe
