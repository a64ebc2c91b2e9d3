#include "pipeline/jobs/tensor_file.h"

#include <algorithm>
#include <limits>
#include <memory>
#include <span>
#include <utility>

#include "images/codecs/strip_writer.h"
#include "images/codecs/tensor/tensor_codec.h"
#include "images/error.h"
#include "images/text.h"

namespace imgpipe {
namespace {

constexpr std::int64_t kChunkBytes = std::int64_t{1} << 20;  // written or moved at once

// Writes the rows of an image directly to their offset in the file.
class RowWriter final : public StripWriter {
 public:
  RowWriter(const Shape& shape, OutputFile& file, std::uint64_t at)
      : StripWriter(shape, std::clamp<std::int64_t>(kChunkBytes / shape.row_bytes(), 1, shape.height)),
        file_(file),
        at_(at) {}

  [[nodiscard]] std::int64_t working_bytes() const override { return 2 * gathered_bytes(); }
  [[nodiscard]] std::int64_t strip_bytes() const override { return gathered_bytes(); }
  EncodedFile finish() override {
    drop_gathered();
    return {};
  }

 protected:
  void encode_strip(std::int64_t first, ConstHostView rows) override {
    const std::uint64_t at = at_ + static_cast<std::uint64_t>(first * rows.row_bytes());
    Image copy;
    if (rows.stride_bytes != rows.row_bytes()) {
      copy = Image(rows.shape());
      copy_pixels(rows, copy.untyped_view());
      rows = std::as_const(copy).untyped_view();
    }
    file_.overwrite(at, {rows.data, static_cast<std::size_t>(rows.bytes())});
  }

 private:
  OutputFile& file_;
  const std::uint64_t at_;
};

std::string shape_text(const TensorType& type) {
  return joined_numbers(type.dimensions(), "x");
}

}  // namespace

TensorFile::TensorFile(TensorFileSettings settings)
    : settings_(std::move(settings)), file_(settings_.path, settings_.sync) {}

RowConsumer TensorFile::consume_image(const ImageFiles& files, const Plan& plan) {
  const std::lock_guard lock(mutex_);
  check_type(files, plan);
  const Row row{.input = files.number, .slot = static_cast<std::int64_t>(files.number)};
  return consumer(plan, row.slot, [this, row] {
    const std::lock_guard accepting(mutex_);
    rows_.push_back(row);
  });
}

// The number of pages before this input is not known, so rows are in the order in which pages begin.
PageConsumer TensorFile::consume_pages(std::size_t input) {
  auto pages = std::make_shared<std::vector<Row>>();
  PageConsumer use;
  use.make_row_consumer = [this, pages, input](const ImageFiles& files, const Plan& plan) {
    const std::lock_guard lock(mutex_);
    check_type(files, plan);
    const Row row{.input = input, .slot = next_slot_++};
    return consumer(plan, row.slot, [pages, row] { pages->push_back(row); });
  };
  use.page_done = [pages](const FinishedItem& page) { pages->back().page = page.number; };
  use.accept = [this, pages] {
    const std::lock_guard lock(mutex_);
    rows_.insert(rows_.end(), pages->begin(), pages->end());
  };
  return use;
}

bool TensorFile::has_mixed_shapes() const {
  const std::lock_guard lock(mutex_);
  return has_mixed_shapes_;
}

void TensorFile::check_type(const ImageFiles& files, const Plan& plan) {
  if (!plan.tensor) throw not_a_tensor(settings_.format);
  (void)storable_shape(settings_.format, plan.output, true);
  if (!type_) begin(files, *plan.tensor);
  if (*type_ == *plan.tensor) return;
  has_mixed_shapes_ = true;
  throw Error(ErrorKind::usage, "makes a tensor of shape " + shape_text(*plan.tensor) + ", but " +
                                    first_name_ + " makes " + shape_text(*type_) +
                                    "; give all images one size, for example with resize or crop");
}

void TensorFile::begin(const ImageFiles& files, const TensorType& type) {
  std::vector<std::string> names;  // a .npy has none
  for (std::size_t i = 0; settings_.format == Format::safetensors && i < settings_.inputs; ++i)
    names.push_back(settings_.name(i));
  // The number and the names of pages are not known yet. A .npy holds any number. finish() makes the header
  // of a .safetensors longer if necessary.
  const std::int64_t rows = settings_.format == Format::npy ? std::numeric_limits<std::int64_t>::max()
                                                            : static_cast<std::int64_t>(settings_.inputs);
  reserved_bytes_ = header(type, names, rows, 0).size();
  naming(files.output_name, [&] { file_.append(std::span<const std::byte>()); });  // opens the file
  first_name_ = files.input_name;
  type_ = type;
}

RowConsumer TensorFile::consumer(const Plan& plan, std::int64_t slot, std::function<void()> accept) {
  return {.writer = std::make_unique<RowWriter>(plan.output, file_, offset_of(slot)),
          .accept = std::move(accept),
          .output_bytes = plan.output.bytes()};
}

std::uint64_t TensorFile::offset_of(std::int64_t slot) const {
  return reserved_bytes_ + static_cast<std::uint64_t>(slot * type_->frame().bytes());
}

std::string TensorFile::header(const TensorType& type, const std::vector<std::string>& names,
                               std::int64_t rows, std::size_t bytes) const {
  TensorHeader header{.dimensions = {rows}, .sample = type.sample, .mark = Mark::result, .names = names};
  for (const std::int64_t dimension : type.dimensions()) header.dimensions.push_back(dimension);
  std::string text = tensor_header(settings_.format, header, bytes);
  if (settings_.format == Format::safetensors && bytes == 0 && text.size() > kMaxSafetensorsHeader)
    throw Error(ErrorKind::usage, printable(settings_.path) +
                                      ": the names exceed the 100 MB that safetensors allows; write .npy");
  return text;
}

void TensorFile::finish() {
  if (rows_.empty()) return;
  std::ranges::sort(rows_, {}, [](const Row& row) { return std::pair(row.input, row.page); });
  std::vector<std::string> names;
  for (const Row& row : rows_)
    names.push_back(settings_.name(row.input) + (row.page > 0 ? ", page " + std::to_string(row.page) : ""));
  const std::size_t needed = header(*type_, names, rows(), 0).size();
  // A longer header takes the first slots. Its size stays a multiple of 8 bytes.
  const auto row_bytes = static_cast<std::size_t>(type_->frame().bytes());
  std::size_t taken = needed > reserved_bytes_ ? (needed - reserved_bytes_ + row_bytes - 1) / row_bytes : 0;
  while (taken * row_bytes % 8 != 0) ++taken;
  const auto first_slot = static_cast<std::int64_t>(taken);
  naming(printable(settings_.path), [&] {
    order_rows(first_slot);
    file_.truncate(offset_of(first_slot + rows()));
    const std::string text = header(*type_, names, rows(), reserved_bytes_ + taken * row_bytes);
    file_.overwrite(0, std::as_bytes(std::span(text)));
  });
  if (!settings_.names_path.empty()) {
    std::string lines;
    for (const std::string& name : names) lines += name + "\n";
    naming(printable(settings_.names_path),
           [&] { write_file(settings_.names_path, std::as_bytes(std::span(lines)), settings_.sync); });
  }
  naming(printable(settings_.path), [&] { file_.put_in_place(); });
}

// Moves row i to slot first_slot + i. A row in that slot moves to the slot that becomes free.
void TensorFile::order_rows(std::int64_t first_slot) {
  constexpr std::size_t kNone = static_cast<std::size_t>(-1);
  std::int64_t slots = first_slot + rows();
  for (const Row& row : rows_) slots = std::max(slots, row.slot + 1);
  std::vector<std::size_t> row_at(static_cast<std::size_t>(slots), kNone);
  for (std::size_t i = 0; i < rows_.size(); ++i) row_at[static_cast<std::size_t>(rows_[i].slot)] = i;
  for (std::size_t i = 0; i < rows_.size(); ++i) {
    const std::int64_t from = rows_[i].slot, to = first_slot + static_cast<std::int64_t>(i);
    if (from == to) continue;
    const std::size_t other = std::exchange(row_at[static_cast<std::size_t>(to)], i);
    move_row(from, to, other != kNone);
    rows_[i].slot = to;
    row_at[static_cast<std::size_t>(from)] = other;
    if (other != kNone) rows_[other].slot = from;
  }
}

void TensorFile::move_row(std::int64_t from, std::int64_t to, bool swap) {
  const auto row_bytes = static_cast<std::uint64_t>(type_->frame().bytes());
  std::vector<std::byte> moved(std::min<std::uint64_t>(kChunkBytes, row_bytes)), replaced(moved.size());
  for (std::uint64_t at = 0; at < row_bytes; at += moved.size()) {
    const std::size_t count = std::min<std::uint64_t>(moved.size(), row_bytes - at);
    const std::span one = std::span(moved).first(count), other = std::span(replaced).first(count);
    file_.read_back(offset_of(from) + at, one);
    if (swap) file_.read_back(offset_of(to) + at, other);
    file_.overwrite(offset_of(to) + at, one);
    if (swap) file_.overwrite(offset_of(from) + at, other);
  }
}

}  // namespace imgpipe
