// Reads and writes image files.
#include <algorithm>
#include <cerrno>
#include <cstdint>
#include <cstring>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include <nanobind/nanobind.h>
#include <nanobind/stl/optional.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>

#include "app/python/core/arrays.h"
#include "app/python/core/bindings.h"
#include "app/python/core/decoding.h"
#include "app/python/core/encoding.h"
#include "app/python/core/errors.h"
#include "app/python/core/existing_files.h"
#include "app/python/core/item_threads.h"
#include "app/python/core/without_gil.h"
#include "images/files/output_file.h"
#include "images/formats/codec_table.h"
#include "images/formats/image_inspection.h"
#include "images/text.h"
#include "pipeline/error_of.h"

namespace imgpipe::python {
namespace {

// The largest limit on pixels that the program accepts.
constexpr std::int64_t kMostPixels = std::int64_t{1} << 34;

// ---- lists ---------------------------------------------------------------------------------------------

// Runs an action for each item of a list. The exception names the failed item.
template <class Action>
void each_without_gil(std::size_t count, int threads, const std::function<std::string(std::size_t)>& name_of,
                      const Action& action) {
  const std::optional<ItemFailure> failure = without_gil([&] { return run_items(count, threads, action); });
  if (!failure) return;
  try {
    std::rethrow_exception(failure->error);
  } catch (const Error& error) {
    const std::string name = name_of(failure->index);
    const std::string number = name.empty() ? "item " + std::to_string(failure->index) + ": " : "";
    raise(exception_of(Error(error.kind(), number + error.what()), name));
  }
}

// Returns the threads for each of `count` items that share those of a call.
int threads_per_item(int threads, std::size_t count) {
  return static_cast<int>(
      std::max<std::size_t>(1, static_cast<std::size_t>(threads) / std::max<std::size_t>(count, 1)));
}

// ---- decode -------------------------------------------------------------------------------------------

void init_decoding(Decoding* self, int channels, std::int64_t page, bool orient, const std::string& accept,
                   std::int64_t max_pixels, std::vector<int> bands, bool colors_only) {
  DecodeOptions options = decode_options(accept);
  options.orient = orient;
  options.max_pixels = max_pixels;
  options.bands = std::move(bands);
  options.colors_only = colors_only;
  new (self) Decoding{.options = std::move(options), .channels = channels, .page = page};
}

// (array, warnings)
using DecodedTuple = nb::typed<nb::tuple, nb::any, std::vector<std::string>>;

DecodedTuple tuple_of(Decoded decoded) {
  return nb::make_tuple(array_of(std::move(decoded.image)), std::move(decoded.warnings));
}

DecodedTuple decode_one(nb::handle object, const Decoding& decoding, int threads) {
  const Source source = Source::from(object);
  return tuple_of(without_gil(source.name, [&] { return decode(source, decoding, threads); }));
}

nb::typed<nb::list, DecodedTuple> decode_list(const nb::typed<nb::sequence, nb::any>& objects,
                                              const Decoding& decoding, int requested_threads) {
  std::vector<Source> sources;
  for (const nb::handle object : objects)
    sources.push_back(Source::from(object, "data[" + std::to_string(sources.size()) + "]"));
  const int threads = call_threads(requested_threads);
  const int per_item = threads_per_item(threads, sources.size());
  std::vector<Decoded> decoded(sources.size());
  each_without_gil(
      sources.size(), threads, [&](std::size_t i) { return sources[i].name; },
      [&](std::size_t i) {
        decoded[i] = decode(sources[i], decoding, per_item);
        sources[i].close();
      });
  nb::list results;
  for (Decoded& one : decoded) results.append(tuple_of(std::move(one)));
  return results;
}

// ---- pages --------------------------------------------------------------------------------------------

class PageReader {
 public:
  PageReader(nb::handle object, const Decoding& decoding)
      : source_(Source::from(object)),
        pages_(without_gil(source_.name, [&] { return SourcePages(source_, decoding); })) {}

  [[nodiscard]] std::int64_t size() const { return pages_.size(); }
  [[nodiscard]] std::string warning() const { return pages_.warning(); }
  [[nodiscard]] DecodedTuple read(std::int64_t index) const {
    return tuple_of(without_gil(source_.name, [&] {
      return naming("page " + std::to_string(index), [&] { return pages_.decode(index, 0); });
    }));
  }

 private:
  const Source source_;
  const SourcePages pages_;
};

// ---- info ---------------------------------------------------------------------------------------------

// Returns the fields of ImageInfo.
nb::typed<nb::dict, nb::str, nb::any> inspect(nb::handle object, const std::string& accept) {
  const Source source = Source::from(object);
  const ImageInspection image = without_gil(source.name, [&] {
    DecodeOptions options = decode_options(accept);
    options.max_pixels = kMostPixels;  // describes images that read() rejects
    return inspect_image(source.is_in_memory() ? InputFile::borrowed(source.bytes())
                                               : open_for_inspection(source.path, options, InputKind::any),
                         options);
  });
  const Shape& shape = image.header.shape;
  nb::dict fields;
  fields["format"] = std::string(format_info(image.header.format).name);
  fields["width"] = shape.width;
  fields["height"] = shape.height;
  fields["channels"] = shape.channels;
  fields["dtype"] = is_wide(shape.sample) ? "uint16" : "uint8";
  fields["bits_per_sample"] = image.header.bits_per_sample;
  fields["pages"] = image.has_pages ? image.images : 1;
  fields["images"] = image.images;
  nb::list durations;
  for (const AnimationFrame& frame : image.details.frames) durations.append(frame.duration_ms);
  fields["durations_ms"] = nb::tuple(durations);
  fields["orientation"] = static_cast<int>(image.header.orientation);
  fields["profile"] = image.profile.empty() ? nb::object(nb::none()) : nb::cast(image.profile);
  fields["progressive"] = image.header.progressive;
  return fields;
}

// Returns (height, width) of each image, as read() returns it; None if its header cannot be read.
nb::list image_sizes(const nb::list& objects, const std::string& accept) {
  std::vector<Source> sources;
  for (const nb::handle object : objects) sources.push_back(Source::from(object));
  std::vector<std::optional<Shape>> shapes(sources.size());
  without_gil([&] {
    DecodeOptions options = decode_options(accept);
    options.max_pixels = kMostPixels;
    for (std::size_t i = 0; i < sources.size(); ++i) {
      (void)error_of([&] {
        const Source& source = sources[i];
        shapes[i] = source.is_in_memory()
                        ? source.open(options)->header().shape
                        : inspect_image(open_for_inspection(source.path, options, InputKind::any), options)
                              .header.shape;
      });
    }
  });
  nb::list sizes;
  for (const std::optional<Shape>& shape : shapes)
    sizes.append(shape ? nb::object(nb::make_tuple(shape->height, shape->width)) : nb::none());
  return sizes;
}

// ---- encode -------------------------------------------------------------------------------------------

nb::bytes bytes_of(const EncodedFile& file) {
  auto bytes =
      nb::steal<nb::bytes>(PyBytes_FromStringAndSize(nullptr, static_cast<Py_ssize_t>(file.size_bytes())));
  if (!bytes.is_valid()) throw nb::python_error();
  char* to = PyBytes_AsString(bytes.ptr());
  for (const std::vector<std::byte>& part : file.parts) {
    std::memcpy(to, part.data(), part.size());
    to += part.size();
  }
  return bytes;
}

using TensorArray = nb::ndarray<nb::ro, nb::device::cpu, nb::c_contig>;

// The pixels of an array, and the options of its file.
struct EncodingJob {
  std::optional<ImageArray> image;
  TensorArray tensor;  // replaces `image`
  ConstHostView pixels;
  Encoding encoding;
  std::vector<std::string> lost;
};

// Formats of tensors take floats of any 3 dimensions, which keep their order.
void take_tensor(nb::handle array, const std::string& argument, EncodingJob& job) {
  TensorArray& tensor = job.tensor;
  const auto is = [&](Sample sample) { return tensor.dtype() == dtype_of(sample); };
  if (!nb::try_cast(array, tensor) || tensor.ndim() != 3 || !(is(Sample::f32) || is(Sample::f16)))
    throw nb::type_error((argument + ": " + std::string(format_info(job.encoding.format).name) +
                          " stores tensors; expected 3 dimensions of float32 or float16")
                             .c_str());
  const TensorType type{.channels = static_cast<int>(tensor.shape(0)),
                        .height = static_cast<std::int64_t>(tensor.shape(1)),
                        .width = static_cast<std::int64_t>(tensor.shape(2)),
                        .layout = TensorLayout::nchw,
                        .sample = is(Sample::f32) ? Sample::f32 : Sample::f16};
  job.encoding.options.tensor = type;
  job.pixels = {static_cast<const std::byte*>(tensor.data()), type.frame(), type.frame().row_bytes()};
}

void take_image(nb::handle array, const std::string& argument, const Source* metadata, EncodingJob& job) {
  ImageArray& image = job.image.emplace(array, argument);
  check_lossless(job.encoding.format, image.shape());
  if (metadata != nullptr)
    job.lost = without_gil(metadata->name,
                           [&] { return preserve_metadata(*metadata, image.shape(), job.encoding); });
  job.pixels = image.view();
}

EncodingJob make_job(nb::handle array, const std::string& argument, const Encoding& encoding,
                     const std::optional<Source>& metadata) {
  EncodingJob job{.image = {}, .tensor = {}, .pixels = {}, .encoding = encoding, .lost = {}};
  if (format_info(encoding.format).holds_tensors) {
    take_tensor(array, argument, job);
    if (metadata) job.lost.emplace_back("dropped metadata: a file of tensors holds none");
  } else {
    take_image(array, argument, metadata ? &*metadata : nullptr, job);
  }
  return job;
}

std::optional<Source> metadata_source(nb::handle object) {
  if (object.is_none()) return std::nullopt;
  return Source::from(object, "metadata");
}

// (bytes, losses)
using EncodedTuple = nb::typed<nb::tuple, nb::bytes, std::vector<std::string>>;

EncodedTuple encode_one(nb::handle array, const std::string& format, std::optional<int> quality,
                        std::optional<int> level, nb::handle metadata, int threads) {
  const std::optional<Source> source = metadata_source(metadata);
  const EncodingJob job =
      make_job(array, "image", make_encoding(format_to_write(format, ""), quality, level), source);
  const EncodedFile file = without_gil([&] { return encode(job.pixels, job.encoding, threads); });
  return nb::make_tuple(bytes_of(file), job.lost);
}

nb::typed<nb::tuple, nb::typed<nb::list, nb::bytes>, std::vector<std::string>> encode_list(
    const nb::typed<nb::sequence, nb::any>& arrays, const std::string& format, std::optional<int> quality,
    std::optional<int> level, nb::handle metadata, int requested_threads) {
  const std::optional<Source> source = metadata_source(metadata);
  const Encoding encoding = make_encoding(format_to_write(format, ""), quality, level);
  std::vector<EncodingJob> jobs;
  for (const nb::handle array : arrays)
    jobs.push_back(make_job(array, "image[" + std::to_string(jobs.size()) + "]", encoding, source));
  const int threads = call_threads(requested_threads);
  const int per_item = threads_per_item(threads, jobs.size());
  std::vector<EncodedFile> files(jobs.size());
  each_without_gil(
      jobs.size(), threads, [](std::size_t) { return std::string(); },
      [&](std::size_t i) { files[i] = encode(jobs[i].pixels, jobs[i].encoding, per_item); });
  nb::list results;
  for (EncodedFile& file : files) results.append(bytes_of(std::exchange(file, {})));
  std::vector<std::string> lost;
  for (const EncodingJob& job : jobs) lost.insert(lost.end(), job.lost.begin(), job.lost.end());
  return nb::make_tuple(results, lost);
}

// ---- write --------------------------------------------------------------------------------------------

// Returns the losses.
std::vector<std::string> write(const nb::bytes& encoded_path, nb::handle array, const std::string& format,
                               std::optional<int> quality, std::optional<int> level, bool overwrite,
                               nb::handle metadata) {
  const std::string path = file_path(path_of(encoded_path));
  const std::optional<Source> source = metadata_source(metadata);
  const EncodingJob job =
      make_job(array, "image", make_encoding(format_to_write(format, path), quality, level), source);
  try {
    without_gil(path, [&] {
      naming(printable(path), [&] {
        if (!overwrite) check_new(path);
        const EncodedFile file = encode(job.pixels, job.encoding, 0);
        if (!overwrite) check_new(path);  // again, since encoding takes time
        OutputSync no_sync(false);
        write_file(path, file.parts, &no_sync);
      });
    });
  } catch (const FileExists&) {
    raise_file_exists(path);
  }
  return job.lost;
}

}  // namespace

void bind_codecs(nb::module_& module) {
  using namespace nb::literals;
  nb::class_<Decoding>(module, "Decoding")
      .def("__init__", &init_decoding, "channels"_a, "page"_a, "orient"_a, "accept"_a, "max_pixels"_a,
           "bands"_a, "colors_only"_a);
  module.def("call_threads", &call_threads, "requested"_a);
  module.def("decode", &decode_one, "source"_a.none(), "decoding"_a, "threads"_a);
  module.def("decode_list", &decode_list, "sources"_a, "decoding"_a, "threads"_a);
  nb::class_<PageReader>(module, "PageReader")
      .def(nb::init<nb::handle, const Decoding&>(), "source"_a.none(), "decoding"_a)
      .def("__len__", &PageReader::size)
      .def("read", &PageReader::read, "index"_a)
      .def_prop_ro("warning", &PageReader::warning);
  module.def("inspect", &inspect, "source"_a.none(), "accept"_a);
  module.def(
      "image_sizes", &image_sizes, "sources"_a, "accept"_a,
      nb::sig("def image_sizes(sources: list[typing.Any], accept: str) -> list[tuple[int, int] | None]"));
  module.def("encode", &encode_one, "image"_a, "format"_a, "quality"_a.none(), "level"_a.none(),
             "metadata"_a.none(), "threads"_a);
  module.def("encode_list", &encode_list, "images"_a, "format"_a, "quality"_a.none(), "level"_a.none(),
             "metadata"_a.none(), "threads"_a);
  module.def("write", &write, "path"_a, "image"_a, "format"_a, "quality"_a.none(), "level"_a.none(),
             "overwrite"_a, "metadata"_a.none());
}

}  // namespace imgpipe::python
