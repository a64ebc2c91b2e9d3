// Continues a reader after some of its rows have been read.
#pragma once

#include <deque>
#include <memory>
#include <string>
#include <vector>

#include "images/codecs/codec.h"
#include "images/image.h"

namespace imgpipe {

// Returns a reader of all rows: those in `early`, from the top, then those of `reader`. Its destructor sets
// `warnings` to those of `reader`.
[[nodiscard]] std::unique_ptr<Reader> resume_reader(std::unique_ptr<Reader> reader, std::deque<Image> early,
                                                    std::vector<std::string>& warnings);

}  // namespace imgpipe
