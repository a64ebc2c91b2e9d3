// A JPEG's scan with the tables that decode it: what Reader::jpeg_scan() gives.
#pragma once

#include "images/codecs/jpeg/baseline_scan.h"
#include "images/codecs/jpeg/entropy_decoder.h"

namespace imgpipe {

struct JpegScan {
  BaselineScan scan;
  EntropyTables tables;
};

}  // namespace imgpipe
