// Posterize: keeps the highest bits of a sample and clears the others, as Pillow's ImageOps.posterize does. A
// table of all results is made once and used like gamma's.
#pragma once

#include "kernels/stage_call.h"

namespace imgpipe {

[[nodiscard]] std::string_view posterize_skip_reason(const FrameType& in, const Parameters& parameters);

// For gamma's functions (kernels/gamma/gamma.h): the result of each value; gamma_table_bytes() bytes.
void posterize_table(const StageCall<Host>& call, const Band& band);

}  // namespace imgpipe
