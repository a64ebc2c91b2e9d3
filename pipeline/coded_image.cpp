#include "pipeline/coded_image.h"

#include <algorithm>
#include <span>
#include <utility>

#include "images/error.h"

namespace imgpipe {

std::optional<StagedJpeg> stage_jpeg(Reader& reader, std::pmr::memory_resource& memory) {
  const JpegScan* const jpeg = reader.jpeg_scan();
  const std::size_t most = jpeg == nullptr ? 0 : staged_capacity(jpeg->scan);
  if (most == 0) return std::nullopt;
  StagedJpeg staged;
  staged.jpeg = jpeg;
  staged.bytes = Image({static_cast<std::int64_t>(most), 1, 1}, &memory);
  std::optional<StagedScan> scan = stage_scan(jpeg->scan, {staged.bytes.untyped_view().data, most});
  if (!scan) return std::nullopt;
  try {
    reader.check_file_end(scan->after_end);
  } catch (const Error&) {
    return std::nullopt;  // reading the rows throws the same error at the end
  }
  staged.scan = std::move(*scan);
  return staged;
}

CodedImage coded_image_for(const Writer* writer) {
  CodedImage image;
  if (writer == nullptr) return image;
  image.form = writer->device_form();
  image.strip_rows = writer->strip_rows();
  return image;
}

EncodedFile file_of(const OutputRecord& made, Writer& writer, Timeline& timeline) {
  const std::span<const std::byte> bytes(made.bytes.untyped_view().data, made.bytes.size_bytes());
  const auto span = timeline.span("encode", SpanKind::host, static_cast<std::int64_t>(bytes.size()));
  if (writer.device_form().kind == DeviceForm::Kind::jpeg_scan) {
    writer.give_scan(bytes.subspan(made.parts.front().offset, made.parts.front().bytes));
    return writer.finish();
  }
  std::int64_t row = 0;
  for (const OutputRecord::Part& part : made.parts) {
    writer.give_strip(row, {bytes.subspan(part.offset, part.bytes), part.adler, part.filtered});
    row += writer.strip_rows();
  }
  return writer.finish();
}

}  // namespace imgpipe
