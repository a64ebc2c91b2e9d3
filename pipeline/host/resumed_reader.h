// A reader of which some rows were read before.
#pragma once

#include <deque>
#include <memory>
#include <string>
#include <vector>

#include "images/codecs/codec.h"
#include "images/image.h"

namespace imgpipe {

// Gives the rows of `reader` from the top, of which `early` are there. `warnings` gets the reader's at the
// end.
[[nodiscard]] std::unique_ptr<Reader> resume_reader(std::unique_ptr<Reader> reader, std::deque<Image> early,
                                                    std::vector<std::string>& warnings);

}  // namespace imgpipe
