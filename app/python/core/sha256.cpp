// SHA-256 by Python's hashlib, so that the package needs no library for it.
#include <nanobind/nanobind.h>
#include <nanobind/stl/string.h>

#include "app/process_options/options_digest.h"

namespace imgpipe {

namespace nb = nanobind;

std::string sha256(std::string_view bytes) {
  const nb::gil_scoped_acquire locked;
  const nb::object hash =
      nb::module_::import_("hashlib").attr("sha256")(nb::bytes(bytes.data(), bytes.size()));
  return nb::cast<std::string>(hash.attr("hexdigest")());
}

}  // namespace imgpipe
