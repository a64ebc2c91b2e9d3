// imgpipe contract: the published file covers the table of stages, and differences are found and named.
#include <algorithm>
#include <cstring>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include <gtest/gtest.h>

#include "app/contract/contract_check.h"
#include "app/contract/contract_file.h"
#include "app/contract/contract_rows.h"
#include "images/error.h"
#include "kernels/stage.h"
#include "pipeline/stage_list.h"
#include "tests/support/files.h"
#include "tests/support/process.h"
#include "tests/support/test_paths.h"

namespace imgpipe::test::contract_cli_test {
namespace {

const std::string& published_text() {
  static const std::string text = load_text(std::string(kSourceDirectory) + "/docs/contract-1.json");
  return text;
}

std::vector<DigestRow> published() {
  return parse_contract(published_text());
}

// Returns the row of the published file.
DigestRow row_of(const std::string& text) {
  for (const DigestRow& one : published())
    if (text_of(one.row) == text) return one;
  ADD_FAILURE() << "no row " << text;
  return {};
}

// An engine whose results for images of one width are wrong in the last byte.
class WrongEngine final : public Engine {
 public:
  explicit WrongEngine(std::int64_t width) : width_(width) {}
  [[nodiscard]] std::string_view implementation() const override { return "wrong"; }
  [[nodiscard]] std::string device_name() const override { return "wrong"; }
  [[nodiscard]] double copy_bandwidth() override { return 0; }

 protected:
  void execute(Job& job, Outcome& outcome) override {
    job.plan = std::move(outcome.plan);
    job.timeline = std::move(outcome.timeline);
    const bool wrong = job.plan.input.width == width_;
    outcome = inner_->run(std::move(job));
    if (!wrong) return;
    Image& image = outcome.memory.emplace_back(outcome.pixels.shape());
    copy_pixels(outcome.pixels, image.untyped_view());
    image.untyped_view().data[image.size_bytes() - 1] ^= std::byte{1};
    outcome.pixels = image.untyped_view();
  }

 private:
  std::int64_t width_;
  std::unique_ptr<Engine> inner_ = make_reference_engine();
};

ContractRunSettings wrong_for_width(std::int64_t width) {
  return {"wrong", choose_device("cpu"), 2,
          [width](const DeviceChoice&, int) { return std::make_unique<WrongEngine>(width); }};
}

std::string error_of(const std::string& text) {
  try {
    (void)parse_contract(text);
  } catch (const Error& error) {
    EXPECT_EQ(error.kind(), ErrorKind::input);
    return error.what();
  }
  return "accepted";
}

std::string replaced(std::string text, const std::string& from, const std::string& to) {
  text.replace(text.find(from), from.size(), to);
  return text;
}

// ---- the published file -----------------------------------------------------------------------------------

TEST(Contract, PublishedRowsAreThoseOfTheTables) {
  std::vector<std::string> expected, found;
  for (const ContractRow& row : contract_rows()) expected.push_back(row.group + ": " + text_of(row));
  for (const DigestRow& one : published()) found.push_back(one.row.group + ": " + text_of(one.row));
  EXPECT_EQ(found, expected) << "published contracts never change: a new stage or value needs a new number";
}

TEST(Contract, EveryValueOfEveryStageHasARow) {
  std::vector<StageRequest> steps;
  for (const DigestRow& one : published()) {
    if (one.row.group.starts_with("decode ") || one.row.group == "chains") continue;
    steps.push_back(parse_stages(one.row.work).front());
  }
  for (const Stage& stage : stage_table()) {
    if (!stage.selectable) continue;
    EXPECT_TRUE(std::ranges::count(steps, &stage, &StageRequest::stage) > 0) << stage.name << " has no row";
    for (std::size_t i = 0; i < stage.parameters.size(); ++i) {
      const Parameter& row = stage.parameters[i];
      const auto has = [&](auto matches) {
        return std::ranges::any_of(steps, [&](const StageRequest& step) {
          return step.stage == &stage && matches(step.parameters[i]);
        });
      };
      for (std::size_t word = 0; word < row.words.size(); ++word) {
        const auto position = static_cast<std::int64_t>(word);
        const std::int64_t value = row.kind == Parameter::Kind::choice ? position : -1 - position;
        EXPECT_TRUE(has([&](std::int64_t v) { return v == value; }))
            << stage.name << " has no row with " << row.name << "=" << row.words[word];
      }
      EXPECT_TRUE(row.kind == Parameter::Kind::choice ||
                  has([&](std::int64_t value) { return value != row.preset || row.required; }))
          << stage.name << " has no row with a " << row.name;
    }
  }
}

TEST(Contract, FileIsReadAsWritten) {
  EXPECT_EQ(contract_json(parse_contract(contract_json(published()))), contract_json(published()));
}

TEST(Contract, DamagedFilesAreRefused) {
  EXPECT_NE(error_of("").find("not a contract"), std::string::npos);
  EXPECT_NE(error_of("[]").find("not a contract"), std::string::npos);
  EXPECT_NE(error_of(R"({"schema": 5})").find("not a contract"), std::string::npos);
  const std::string& text = published_text();
  EXPECT_EQ(error_of(replaced(text, "\"contract\": 1", "\"contract\": 2")),
            "contract 2; this version knows 1");
  EXPECT_NE(error_of(replaced(text, "\"results\": 1", "\"results\": 2")).find("incomplete"),
            std::string::npos);
  EXPECT_NE(error_of(replaced(text, "u8 0-19 ", "u8 0-20 ")).find("TYPE IMAGES STEPS"), std::string::npos);
  EXPECT_NE(error_of(replaced(text, "u8 0-19 ", "u9 0-19 ")).find("TYPE IMAGES STEPS"), std::string::npos);
  EXPECT_NE(error_of(replaced(text, " u8 0-19 ", "u8 0-19 ")).find("expected a SHA-256"), std::string::npos);
}

// ---- differences ------------------------------------------------------------------------------------------

TEST(Contract, NamesTheImagesThatADeviceGetsWrong) {
  const std::vector<DigestRow> rows{row_of("u8 0-19 smooth"), row_of("u16 0-19 gamma:2.2")};
  EXPECT_EQ(contract_differences(rows, wrong_for_width(5)).rows, 0U);  // no image has that width
  const ContractDifferences found = contract_differences(rows, wrong_for_width(17));
  EXPECT_EQ(found.rows, 2U);
  ASSERT_EQ(found.first.size(), 8U);
  EXPECT_EQ(found.first[0].result, "smooth, u8, 17x5x1");
  EXPECT_EQ(found.first[7].result, "gamma:2.2, u16, 17x5x4");
  EXPECT_EQ(found.first[7].problem.find("wrong gives 17x5x4 u16 "), 0U) << found.first[7].problem;
}

TEST(Contract, NamesARowWhoseDigestChanged) {
  const TemporaryDirectory directory;
  std::vector<DigestRow> rows{row_of("u8 0-19 smooth"), row_of("f32 0-19 invert")};
  save_text(directory.file("right.json"), contract_json(rows));
  const RunResult right = run_imgpipe({"contract", "--check", directory.file("right.json")});
  EXPECT_EQ(right.exit_code, 0) << right.err;
  EXPECT_NE(right.out.find("all 40 results on cpu"), std::string::npos) << right.out;
  rows[1].digest.front() = rows[1].digest.front() == '0' ? '1' : '0';
  save_text(directory.file("wrong.json"), contract_json(rows));
  const RunResult wrong =
      run_imgpipe({"contract", "--check", directory.file("wrong.json"), "-d", "reference"});
  EXPECT_EQ(wrong.exit_code, 5);
  EXPECT_EQ(wrong.out, "");
  EXPECT_NE(wrong.err.find("wrong.json: invert, f32, 20 images: reference"), std::string::npos) << wrong.err;
  EXPECT_NE(wrong.err.find("1 of 2 digests differ on reference"), std::string::npos) << wrong.err;
}

TEST(Contract, UnknownStepsAreDifferences) {
  const TemporaryDirectory directory;
  std::vector<DigestRow> rows{row_of("u8 0-19 smooth")};
  rows[0].row.work = "smoothest";
  rows[0].row.images = {3};
  save_text(directory.file("new.json"), contract_json(rows));
  const RunResult run = run_imgpipe({"contract", "--check", directory.file("new.json")});
  EXPECT_EQ(run.exit_code, 5);
  EXPECT_NE(run.err.find("smoothest, u8, 1x1x4: cpu refused: --stages: unknown stage"), std::string::npos)
      << run.err;
}

}  // namespace
}  // namespace imgpipe::test::contract_cli_test
