// Writes raw PGM and PPM with maximum value 255 or 65535 (netpbm.sourceforge.net/doc).
#include <string>

#include "images/codecs/mark.h"
#include "images/codecs/netpbm/netpbm_codec.h"
#include "images/codecs/raw_writer.h"

namespace imgpipe {

std::unique_ptr<Writer> make_netpbm_writer(Shape shape, const EncodeOptions& options) {
  const std::string mark = mark_text(options.mark);
  return make_raw_writer(std::string(shape.channels == 1 ? "P5\n" : "P6\n") +
                             (mark.empty() ? "" : "# " + mark + "\n") + std::to_string(shape.width) + " " +
                             std::to_string(shape.height) + "\n" + std::to_string(max_sample(shape.sample)) +
                             "\n",
                         shape, true);
}

}  // namespace imgpipe
