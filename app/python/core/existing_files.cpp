#include "app/python/core/existing_files.h"

#include <cerrno>

#include <nanobind/nanobind.h>

#include "app/python/core/errors.h"
#include "images/files/output_file.h"

namespace imgpipe::python {

void check_new(const std::string& path) {
  OutputFile file(path);
  if (file.is_replaced() && file.exists()) throw FileExists();
}

void raise_file_exists(const std::string& path) {
  raise(nb::handle(PyExc_FileExistsError)(EEXIST, "the file exists; pass overwrite=True to replace it",
                                          path_object(path)));
}

}  // namespace imgpipe::python
