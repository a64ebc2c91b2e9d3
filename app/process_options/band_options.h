// --bands all: each band of a TIFF is processed as a grey image.
#pragma once

#include "app/process_options/process_options.h"

namespace imgpipe {

class Parser;

// Makes the bands the pages of the input, after --stages, --pages and the options for decoding were read.
// Throws Error(usage) for options and stages that need all bands of a pixel.
void read_all_bands(const Parser& parser, ProcessOptions& options);

}  // namespace imgpipe
