// Whether the libjpeg that is there writes the scans that we write.
#pragma once

namespace imgpipe {

// Encodes small images both ways, once for each kind of scan: grey (1 channel) or RGB (3), in 4:2:0 or 4:4:4.
// Another library than libjpeg-turbo may write other codes, or several scans. From any thread.
[[nodiscard]] bool library_encodes_alike(int channels, bool halved_colors) noexcept;

}  // namespace imgpipe
