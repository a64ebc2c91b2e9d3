// A JPEG's scan with the tables that decode it, as Reader::jpeg_scan() returns it.
#pragma once

#include "images/codecs/jpeg/baseline_scan.h"
#include "images/codecs/jpeg/entropy_decoder.h"

namespace imgpipe {

struct JpegScan {
  BaselineScan scan;
  EntropyTables tables;
};

}  // namespace imgpipe
