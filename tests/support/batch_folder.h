// A directory of images of many kinds for tests of the batch, with the reference's results.
#pragma once

#include <chrono>
#include <cstddef>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include <gtest/gtest.h>

#include "images/codecs/codec.h"
#include "images/synth.h"
#include "pipeline/jobs/batch.h"
#include "tests/support/files.h"
#include "tests/support/host_lane.h"

namespace imgpipe::test {

class BatchTest : public testing::Test {
 protected:
  // Makes images of several shapes and formats, and the reference's results in expected_.
  void SetUp() override {
    const std::vector<Shape> shapes{{64, 48, 3}, {33, 90, 1}, {120, 7, 3},
                                    {1, 1, 3},   {57, 57, 3}, {200, 150, 3}};
    const std::vector<Format> formats{Format::png, Format::jpeg, Format::ppm, Format::bmp};
    for (std::size_t i = 0; i < 24; ++i) {
      Shape shape = shapes[i % shapes.size()];
      const Format format = formats[i % formats.size()];
      const Image image = synthesize(parse_pattern("photo"), shape, i + 1);
      const auto writer = make_writer(format, image.shape());
      writer->write_rows(image.view());
      const std::string name = "image" + std::to_string(i) + "." + std::string(format_info(format).name);
      save(in_.file(name), writer->finish().joined());
      names_.push_back(name);
    }
    for (const std::string& name : names_) expected_[name] = reference_file(in_.file(name));
  }

  static std::vector<std::byte> reference_file(const std::string& path,
                                               const std::string& stages = "gray,hist,contrast,smooth") {
    const std::vector<std::byte> bytes = load(path);
    const std::unique_ptr<Engine> engine = make_reference_engine();
    Job job;
    job.reader = open_reader(bytes);
    job.plan = make_plan(parse_stages(stages), job.reader->header().shape);
    job.writer = make_writer(Format::png, job.plan.output);
    const Outcome outcome = engine->run(std::move(job));
    if (outcome.error) std::rethrow_exception(outcome.error);
    return outcome.file.joined();
  }

  [[nodiscard]] std::vector<BatchItem> items() const {
    std::vector<BatchItem> items;
    for (const std::string& name : names_)
      items.push_back({in_.file(name), out_.file(name + ".png"), Format::png});
    return items;
  }

  static BatchSettings settings(int jobs, int threads = 1) {
    BatchSettings settings;
    settings.stages = parse_stages("gray,hist,contrast,smooth");
    settings.jobs = jobs;
    settings.threads = threads;
    return settings;
  }

  static std::vector<std::unique_ptr<Lane>> lanes(const std::vector<LaneFaults>& faults) {
    std::vector<std::unique_ptr<Lane>> lanes;
    for (std::size_t i = 0; i < faults.size(); ++i)
      lanes.push_back(std::make_unique<HostLane>("lane:" + std::to_string(i), faults[i]));
    return lanes;
  }

  // Returns all results, by item.
  static std::map<std::size_t, BatchResult> run(Batch& batch) {
    std::map<std::size_t, BatchResult> results;
    while (!batch.finished()) {
      if (std::optional<BatchResult> result = batch.next(std::chrono::seconds(1))) {
        const std::size_t item = result->item;
        EXPECT_TRUE(results.emplace(item, std::move(*result)).second) << "two results for " << item;
      }
    }
    return results;
  }

  void expect_done(const BatchResult& result) const {
    EXPECT_FALSE(result.failed) << result.reason;
    const std::string& name = names_[result.item];
    EXPECT_EQ(load(out_.file(name + ".png")), expected_.at(name)) << name;
  }

  // Returns the batch's only note, or "" after ten seconds. Lanes may send it after the last image.
  static std::string note_of(Batch& batch) {
    for (int i = 0; i < 1000; ++i) {
      const std::vector<std::string> notes = batch.take_notes();
      EXPECT_LE(notes.size(), 1U);
      if (!notes.empty()) return notes.front();
      std::this_thread::sleep_for(std::chrono::milliseconds(10));
    }
    return "";
  }

  void expect_all_done(Batch& batch) const {
    const auto results = run(batch);
    EXPECT_EQ(results.size(), names_.size());
    for (const auto& [item, result] : results) expect_done(result);
    EXPECT_EQ(out_.names().size(), names_.size()) << "nothing but the outputs";
    EXPECT_FALSE(batch.fatal());
  }

  TemporaryDirectory in_, out_;
  std::vector<std::string> names_;
  std::map<std::string, std::vector<std::byte>> expected_;
};

}  // namespace imgpipe::test
