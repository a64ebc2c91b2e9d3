// Tests the file of a batch's tensors: order, gaps of failed images, pages, names, mixed shapes.
#include "pipeline/jobs/tensor_file.h"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <random>
#include <string>
#include <utility>
#include <vector>

#include <gtest/gtest.h>

#include "images/error.h"
#include "images/image.h"
#include "images/tensor.h"
#include "pipeline/engine.h"
#include "pipeline/jobs/image_job.h"
#include "pipeline/timeline.h"
#include "tests/support/files.h"
#include "tests/support/tensor_reader.h"

namespace imgpipe::test::tensor_file_test {
namespace {

std::string name_of(std::size_t input) {
  return "in/" + std::to_string(input) + std::string(input % 7, 'x') + ".jpg";
}

// A trial: a file, and the rows and names that it must have, by input and page.
class Trial {
 public:
  Trial(std::uint32_t seed, std::size_t inputs)
      : random_(seed),
        format_(pick(2) == 0 ? Format::npy : Format::safetensors),
        type_{.channels = pick(2) == 0 ? 1 : 3,
              .height = 1 + pick(5),
              .width = 1 + pick(7),
              .layout = pick(2) == 0 ? TensorLayout::nchw : TensorLayout::nhwc,
              .sample = pick(2) == 0 ? Sample::f16 : Sample::f32} {
    if (pick(16) == 0)
      type_ = {
          .channels = 3, .height = 300, .width = 601, .sample = Sample::f16};  // several strips and chunks
    const std::string path = directory_.file("t");
    tensors_ = std::make_unique<TensorFile>(TensorFileSettings{.path = path,
                                                               .format = format_,
                                                               .names_path = path + ".names.txt",
                                                               .inputs = inputs,
                                                               .name = name_of,
                                                               .sync = &sync_});
  }

  [[nodiscard]] std::int64_t pick(std::int64_t below) { return static_cast<std::int64_t>(random_()) % below; }
  [[nodiscard]] std::mt19937& random() { return random_; }
  [[nodiscard]] TensorFile& tensors() { return *tensors_; }

  [[nodiscard]] Plan plan() const {
    Plan plan;
    plan.output = type_.frame();
    plan.tensor = type_;
    return plan;
  }

  // Writes a random row in bands of random height; some views have padding.
  std::vector<std::byte> write(Writer& writer) {
    const Shape shape = type_.frame();
    const std::int64_t stride = shape.row_bytes() + 4 * pick(2);
    std::vector<std::byte> padded(static_cast<std::size_t>(stride * shape.height));
    const std::size_t first = random_();
    for (std::size_t i = 0; i < padded.size(); ++i) padded[i] = static_cast<std::byte>((first + i * i) >> 3);
    const ConstHostView rows(padded.data(), shape, stride);
    std::vector<std::byte> bytes;
    for (std::int64_t y = 0; y < shape.height; ++y)
      bytes.insert(bytes.end(), rows.row(y), rows.row(y) + shape.row_bytes());
    for (std::int64_t y = 0; y < shape.height;) {
      const std::int64_t count = std::min(1 + pick(shape.height), shape.height - y);
      writer.write_rows(rows.rows(y, count));
      y += count;
    }
    EXPECT_TRUE(writer.finish().parts.empty());
    return bytes;
  }

  void expect(std::size_t input, std::int64_t page, std::vector<std::byte> row) {
    expected_[{input, page}] = std::move(row);
  }

  void check() {
    tensors_->finish();
    tensors_.reset();  // removes a temporary file
    const std::string path = directory_.file("t");
    if (expected_.empty()) {
      EXPECT_TRUE(directory_.names().empty());
      return;
    }
    const std::vector<std::byte> file = load(path);
    const StoredTensor stored = format_ == Format::npy ? read_npy(file) : read_safetensors(file);
    std::vector<std::byte> data;
    std::vector<std::string> names;
    std::string lines;
    for (const auto& [key, row] : expected_) {
      data.insert(data.end(), row.begin(), row.end());
      names.push_back(name_of(key.first) + (key.second > 0 ? ", page " + std::to_string(key.second) : ""));
      lines += names.back() + "\n";
    }
    std::vector<std::int64_t> shape{static_cast<std::int64_t>(expected_.size())};
    for (const std::int64_t dimension : type_.dimensions()) shape.push_back(dimension);
    EXPECT_EQ(stored.shape, shape);
    EXPECT_EQ(stored.data, data);
    EXPECT_EQ(load_text(path + ".names.txt"), lines);
    if (format_ == Format::safetensors) {
      EXPECT_EQ(stored.names, names);
    }
    EXPECT_EQ(directory_.names(), (std::vector<std::string>{"t", "t.names.txt"}));
  }

 private:
  std::mt19937 random_;
  Format format_;
  TensorType type_;
  OutputSync sync_{false};
  TemporaryDirectory directory_;
  std::unique_ptr<TensorFile> tensors_;
  std::map<std::pair<std::size_t, std::int64_t>, std::vector<std::byte>> expected_;
};

ImageFiles files_of(std::size_t input) {
  ImageFiles files;
  files.input_name = name_of(input);
  files.number = input;
  return files;
}

TEST(TensorFile, RowsAreInTheOrderOfInputsWithoutGaps) {
  for (std::uint32_t seed = 0; seed < 80; ++seed) {
    SCOPED_TRACE("seed " + std::to_string(seed));
    std::mt19937 sizes(seed);
    const std::size_t inputs = 1 + sizes() % 24;
    Trial trial(seed, inputs);
    std::vector<std::size_t> order(inputs);
    for (std::size_t i = 0; i < inputs; ++i) order[i] = i;
    std::shuffle(order.begin(), order.end(), trial.random());
    for (const std::size_t input : order) {
      const RowConsumer use = trial.tensors().consume_image(files_of(input), trial.plan());
      std::vector<std::byte> row = trial.write(*use.writer);
      EXPECT_EQ(use.output_bytes, static_cast<std::int64_t>(row.size()));
      if (trial.pick(3) == 0) continue;  // it fails after its last row
      use.accept();
      trial.expect(input, 0, std::move(row));
    }
    trial.check();
  }
}

// Several inputs are in progress at once. Some fail after some of their pages.
TEST(TensorFile, PagesOfAnInputStayTogether) {
  struct Active {
    std::size_t input;
    std::int64_t pages, selected_from;
    bool fails;
    PageConsumer use;
    std::vector<std::vector<std::byte>> rows{};
  };
  const ImageSettings settings;
  ImageJob job({}, settings, Timeline());
  Outcome outcome;
  for (std::uint32_t seed = 0; seed < 34; ++seed) {
    SCOPED_TRACE("seed " + std::to_string(seed));
    const std::size_t inputs = 1 + seed % 17;
    Trial trial(seed, inputs);
    std::vector<Active> active;
    for (std::size_t next = 0; next < inputs || !active.empty();) {
      if (next < inputs && active.size() < 4) {
        active.push_back({next, 1 + trial.pick(9), 1 + trial.pick(3), trial.pick(4) == 0,
                          trial.tensors().consume_pages(next)});
        ++next;
        continue;
      }
      const std::size_t at = static_cast<std::size_t>(trial.pick(static_cast<std::int64_t>(active.size())));
      Active& one = active[at];
      const RowConsumer use = one.use.make_row_consumer(files_of(one.input), trial.plan());
      one.rows.push_back(trial.write(*use.writer));
      const auto made = static_cast<std::int64_t>(one.rows.size());
      const bool ends = made == one.pages;
      if (!(ends && one.fails)) {
        use.accept();
        one.use.page_done({one.selected_from + made - 1, job, outcome});
      }
      if (!ends) continue;
      if (!one.fails) {
        one.use.accept();
        for (std::size_t i = 0; i < one.rows.size(); ++i)
          trial.expect(one.input, one.selected_from + static_cast<std::int64_t>(i), std::move(one.rows[i]));
      }
      active.erase(active.begin() + static_cast<std::ptrdiff_t>(at));
    }
    trial.check();
  }
}

TEST(TensorFile, ImagesOfDifferentShapesAreRefusedByName) {
  const TemporaryDirectory directory;
  {
    TensorFile tensors({.path = directory.file("t.npy"), .inputs = 2, .name = name_of});
    Plan plan;
    plan.tensor = TensorType{.channels = 3, .height = 4, .width = 5};
    plan.output = plan.tensor->frame();
    (void)tensors.consume_image(files_of(0), plan);
    EXPECT_FALSE(tensors.has_mixed_shapes());
    plan.tensor->height = 6;
    plan.output = plan.tensor->frame();
    try {
      (void)tensors.consume_image(files_of(1), plan);
      ADD_FAILURE() << "accepted";
    } catch (const Error& error) {
      EXPECT_EQ(error.kind(), ErrorKind::usage);
      EXPECT_EQ(std::string(error.what()), "makes a tensor of shape 3x6x5, but " + name_of(0) +
                                               " makes 3x4x5; give all images one size, for example with "
                                               "resize or crop");
    }
    EXPECT_TRUE(tensors.has_mixed_shapes());
  }
  EXPECT_TRUE(directory.names().empty());  // the temporary file is removed
}

}  // namespace
}  // namespace imgpipe::test::tensor_file_test
