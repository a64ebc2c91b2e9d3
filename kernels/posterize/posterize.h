// Posterize: the highest bits of a sample stay, the others become 0, as with Pillow's ImageOps.posterize. A
// table of all results is made once, and looked up as gamma's is.
#pragma once

#include "kernels/stage_call.h"

namespace imgpipe {

[[nodiscard]] std::string_view posterize_skip_reason(const FrameType& in, const Parameters& parameters);

// For gamma's functions (kernels/gamma/gamma.h): the result of each value, in gamma_table_bytes() bytes.
void posterize_table(const StageCall<Host>& call, const Band& band);

}  // namespace imgpipe
