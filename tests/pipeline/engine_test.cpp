#include "pipeline/engine.h"

#include <ostream>
#include <set>
#include <utility>

#include <gtest/gtest.h>

#include "images/error.h"
#include "pipeline/compare.h"
#include "pipeline/device.h"
#include "tests/support/images.h"

namespace imgpipe::test::engine_test {
namespace {

Image make_image(Shape shape) {
  Image image(shape);
  fill({frame_type_of(shape), {image.view(), {}, {}, {}}}, "noise", 9);
  return image;
}

// An engine that needs no GPU, and its number of threads.
struct EngineCase {
  std::string name;
  int threads;
};
void PrintTo(const EngineCase& engine, std::ostream* out) {
  *out << engine.name << " on " << engine.threads << (engine.threads == 1 ? " thread" : " threads");
}

class Engines : public testing::TestWithParam<EngineCase> {
 protected:
  [[nodiscard]] static std::unique_ptr<Engine> make() {
    const EngineCase& engine = GetParam();
    return engine.name == "cpu" ? make_cpu_engine(engine.threads) : make_reference_engine(engine.threads);
  }

  [[nodiscard]] static Outcome run(const Image& image, const std::string& stages, int repeat = 0,
                                   bool keep = false) {
    Job job;
    job.reader = make_memory_reader(image.view());
    job.plan = make_plan(parse_stages(stages), image.shape());
    job.repeat = repeat;
    job.keep_source = keep;
    job.keep_outputs = keep;
    const std::unique_ptr<Engine> engine = make();
    return engine->run(std::move(job));
  }
};

INSTANTIATE_TEST_SUITE_P(Host, Engines,
                         testing::Values(EngineCase{"reference", 1}, EngineCase{"cpu", 1},
                                         EngineCase{"cpu", 2}, EngineCase{"cpu", 7}),
                         [](const testing::TestParamInfo<EngineCase>& engine) {
                           return engine.param.name + "_" + std::to_string(engine.param.threads);
                         });

// A reader that fails on its first row.
class BrokenReader final : public Reader {
 public:
  BrokenReader() { header_.shape = {4, 4, 1}; }

 protected:
  void read_next_rows(HostView) override { throw Error(ErrorKind::input, "broken on purpose"); }
};

TEST_P(Engines, ReportsItsImplementation) {
  EXPECT_EQ(make()->implementation(), GetParam().name);
}

TEST_P(Engines, ErrorFailsOnlyItsJob) {
  const std::unique_ptr<Engine> engine = make();
  const Image first = make_image({3, 2, 1});
  const Image third = make_image({5, 4, 3});
  const auto smooth = [&](std::unique_ptr<Reader> reader) {
    Job job;
    job.plan = make_plan(parse_stages("smooth"), reader->header().shape);
    job.reader = std::move(reader);
    job.timeline.add({"device", "host", SpanKind::host, 0, 1, 0, 0});
    return engine->run(std::move(job));
  };
  const Outcome a = smooth(make_memory_reader(first.view()));
  const Outcome b = smooth(std::make_unique<BrokenReader>());
  const Outcome c = smooth(make_memory_reader(third.view()));
  EXPECT_FALSE(a.error);
  EXPECT_EQ(a.pixels.shape(), first.shape());
  ASSERT_TRUE(b.error);
  EXPECT_THROW(std::rethrow_exception(b.error), Error);
  EXPECT_TRUE(b.pixels.empty());
  EXPECT_TRUE(b.memory.empty());
  ASSERT_FALSE(b.timeline.spans().empty());
  EXPECT_EQ(b.timeline.spans().front().name, "device") << "earlier spans are reported too";
  EXPECT_FALSE(c.error);
  EXPECT_EQ(c.pixels.shape(), third.shape());
}

TEST_P(Engines, EveryListPreservesAlpha) {
  for (const int channels : {2, 4}) {
    const Image image = make_image({13, 9, channels});
    for (const char* stages : {"gray", "hist", "smooth", "contrast", "smooth,smooth",
                               "gray,hist,contrast,smooth", "smooth,gray,contrast"}) {
      for (const bool keep : {false, true}) {
        const Outcome outcome = run(image, stages, 0, keep);
        ASSERT_FALSE(outcome.error) << stages;
        ASSERT_TRUE(outcome.pixels.shape().has_alpha());
        for (std::int64_t i = 0; i < image.shape().pixels(); ++i) {
          const int out_channels = outcome.pixels.channels;
          ASSERT_EQ(outcome.pixels.as<Sample8>().data[i * out_channels + out_channels - 1],
                    image.view().data[i * channels + channels - 1])
              << stages << " pixel " << i;
        }
      }
    }
  }
}

TEST_P(Engines, ColourPlanesAreProcessedSeparately) {
  const Image image = make_image({17, 12, 3});
  const Outcome together = run(image, "contrast:stretch=each,smooth");
  for (int c = 0; c < 3; ++c) {
    Image plane({17, 12, 1});
    for (std::int64_t i = 0; i < 17 * 12; ++i) plane.view().data[i] = image.view().data[3 * i + c];
    const Outcome alone = run(plane, "contrast:stretch=each,smooth");
    for (std::int64_t i = 0; i < 17 * 12; ++i)
      ASSERT_EQ(together.pixels.as<Sample8>().data[3 * i + c], alone.pixels.as<Sample8>().data[i])
          << c << " " << i;
  }
}

TEST_P(Engines, NoOpStagesReturnTheImage) {
  for (const int channels : {1, 2, 3, 4}) {
    const Image image = make_image({6, 5, channels});
    for (const bool keep : {false, true}) {
      EXPECT_EQ(first_difference(image.view(), run(image, "hist", 0, keep).pixels.as<Sample8>()), "")
          << channels;
      if (channels <= 2) {
        EXPECT_EQ(first_difference(image.view(), run(image, "gray", 0, keep).pixels.as<Sample8>()), "")
            << channels;
      }
    }
  }
}

TEST_P(Engines, RepeatedPassesHaveTheSamePixelsAndAllSpans) {
  const Image image = make_image({40, 30, 3});
  const Outcome once = run(image, "gray,hist,contrast,smooth");
  const Outcome often = run(image, "gray,hist,contrast,smooth", 5);
  EXPECT_EQ(first_difference(once.pixels.as<Sample8>(), often.pixels.as<Sample8>()), "");
  EXPECT_EQ(once.histograms, often.histograms);
  std::set<int> smooths;
  bool warm_up = false;
  for (const Span& span : often.timeline.spans()) {
    if (span.name == "smooth") smooths.insert(span.pass);
    warm_up = warm_up || span.pass == kWarmUpPass;
    EXPECT_LE(span.start_ns, span.end_ns);
  }
  EXPECT_EQ(smooths.size(), 6U) << "a warm-up and five passes";
  EXPECT_TRUE(warm_up);
}

TEST_P(Engines, KeptOutputsBelongToTheirSteps) {
  const Image image = make_image({21, 10, 4});
  const Outcome kept = run(image, "gray,contrast,smooth,smooth", 0, true);
  ASSERT_EQ(kept.outputs.size(), kept.plan.steps.size());
  ASSERT_EQ(first_difference(image.view(), std::as_const(kept.source).view()), "");
  // The result of every prefix of the list equals the output of its last step.
  const std::vector<std::pair<std::string, std::size_t>> prefixes{
      {"gray", 0}, {"gray,contrast", 2}, {"gray,contrast,smooth", 3}};
  for (const auto& [stages, step] : prefixes) {
    const Outcome prefix = run(image, stages);
    const ConstHostPlane grey = kept.outputs[step].plane<Sample8>(0);
    for (std::int64_t y = 0; y < 10; ++y) {
      for (std::int64_t x = 0; x < 21; ++x)
        ASSERT_EQ(grey.row(y)[x], prefix.pixels.as<Sample8>().row(y)[2 * x]) << stages;
    }
  }
}

TEST_P(Engines, ComparisonFindsDifferences) {
  const Image image = make_image({9, 7, 3});
  const Outcome reference = run(image, "gray,hist,contrast", 0, true);
  Outcome tested = run(image, "gray,hist,contrast", 0, true);
  for (const Difference& difference : compare_outcomes(tested, reference))
    EXPECT_EQ(difference.text(), "identical");
  // Changes the first step's output; the cast is safe because the outcome owns this memory.
  const_cast<Sample8*>(tested.outputs[0].plane<Sample8>(0).row(2))[3] ^= 4;
  tested.histograms[1][17] += 5;
  const std::vector<Difference> differences = compare_outcomes(tested, reference);
  EXPECT_EQ(differences[0].text(), "1 pixel differs (max 4)");
  EXPECT_EQ(differences[1].text(), "1 bin differs (max 5)");
  EXPECT_EQ(differences[2].text(), "identical");
  EXPECT_THROW((void)compare_outcomes(tested, run(image, "gray,hist", 0, true)), std::logic_error);
}

TEST(Timeline, UnionCountsOverlapOnce) {
  Timeline timeline;
  const auto add = [&](std::int64_t start, std::int64_t end) {
    timeline.add({"x", "host", SpanKind::host, start, end, 0, 0});
  };
  EXPECT_EQ(timeline.union_ns(), 0);
  add(10, 20);
  add(15, 30);
  add(40, 50);
  add(42, 44);
  EXPECT_EQ(timeline.union_ns(), 30);
}

TEST(Device, NamesAreValidatedAndAutoNeverFails) {
  EXPECT_EQ(choose_device("reference").backend, Backend::reference);
  EXPECT_EQ(choose_device("cpu").backend, Backend::cpu);
  EXPECT_EQ(choose_device("auto").backend, std::nullopt);
  for (const char* text : {"", "gpu", "CUDA", "cuda:", "cuda:x", "cuda:-1", "cuda:1x", "cuda:99999999999",
                           "cuda:1,", "cuda:,1", "cuda:1,1", "cuda:0,x", "cpu:0"}) {
    try {
      (void)choose_device(text);
      ADD_FAILURE() << "accepted '" << text << "'";
    } catch (const Error& error) {
      EXPECT_EQ(error.kind(), ErrorKind::usage) << text;
    }
  }
  EXPECT_EQ(choose_device("cuda").backend, Backend::cuda);
  EXPECT_TRUE(choose_device("cuda").cuda_devices.empty());
  EXPECT_EQ(choose_device("cuda:3").cuda_index(), 3);
  EXPECT_EQ(choose_device("cuda:2,0").cuda_devices, (std::vector<int>{2, 0}));
  const CudaDevices cuda = list_cuda_devices();
  EXPECT_EQ(cuda.devices.empty(), !cuda.unusable_reason.empty());
}

}  // namespace
}  // namespace imgpipe::test::engine_test
