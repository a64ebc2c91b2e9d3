#include "tests/support/chain_trial.h"

#include <algorithm>
#include <charconv>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <map>
#include <memory>
#include <tuple>
#include <utility>

#include "images/error.h"
#include "images/unreachable.h"
#include "kernels/stage.h"
#include "pipeline/compare.h"
#include "tests/support/host_band_device.h"
#include "tests/support/images.h"
#include "tests/support/memory_writer.h"
#include "tests/support/second_images.h"

namespace imgpipe::test {
namespace {

constexpr int kMaxShrinks = 4000;
constexpr std::int64_t kMinDeviceBytes = 4096;

// ---- one run ----------------------------------------------------------------------------------------

Job job_of(const Trial& trial, const Image& image) {
  Job job;
  job.plan = trial.plan();
  job.reader = make_memory_reader(image.untyped_view());
  job.writer = std::make_unique<MemoryWriter>(job.plan.output, trial.strip_rows);
  job.keep_source = job.keep_outputs = job.keep_pixels = trial.keep;
  job.repeat = trial.repeat;
  return job;
}

// Engines are kept, because starting one may take long, and because outcomes refer to their memory.
Engine& engine_of(const Trial& trial, std::int64_t device_bytes) {
  static std::map<std::tuple<TrialEngine, int, std::int64_t>, std::unique_ptr<Engine>> engines;
  std::unique_ptr<Engine>& engine = engines[{trial.engine, trial.threads, device_bytes}];
  if (engine != nullptr) return *engine;
  switch (trial.engine) {
    case TrialEngine::cpu:
      engine = make_cpu_engine(trial.threads);
      return *engine;
    case TrialEngine::cuda:
      engine = make_cuda_engine(0, trial.threads, device_bytes);
      return *engine;
    case TrialEngine::bands:
      break;
  }
  unreachable();
}

Outcome run_once(const Trial& trial, const Image& image, std::int64_t device_bytes) {
  if (trial.engine != TrialEngine::bands) return engine_of(trial, device_bytes).run(job_of(trial, image));
  HostBandDevice device(device_bytes == 0 ? std::int64_t{1} << 30 : device_bytes,
                        trial.seed % 2 == 0 ? Queued::at_once : Queued::on_wait);
  HostBandEngine engine(device, trial.threads);
  Outcome outcome = engine.run(job_of(trial, image));
  if (!device.faults.empty()) throw Error(ErrorKind::device, "HostBandDevice: " + device.faults.front());
  return outcome;
}

bool lacks_memory(const Outcome& outcome) {
  if (!outcome.error) return false;
  try {
    std::rethrow_exception(outcome.error);
  } catch (const Error& error) {
    return error.kind() == ErrorKind::memory;
  }
}

Outcome run(const Trial& trial, const Image& image) {
  std::int64_t device_bytes = trial.device_bytes;
  Outcome outcome = run_once(trial, image, device_bytes);
  while (device_bytes != 0 && lacks_memory(outcome)) {
    device_bytes *= 4;
    outcome = run_once(trial, image, device_bytes);
  }
  if (outcome.error) std::rethrow_exception(outcome.error);
  return outcome;
}

// ---- comparisons ------------------------------------------------------------------------------------

Image written_image(const Outcome& outcome) {
  Image image(outcome.plan.output);
  const std::vector<std::byte> bytes = outcome.file.joined();
  std::memcpy(image.untyped_view().data, bytes.data(), bytes.size());
  return image;
}

std::string difference_of(const Trial& trial, const Outcome& got, const Outcome& expected) {
  const Image pixels = written_image(got);
  const Image wanted = written_image(expected);
  std::string text = first_difference(wanted.untyped_view(), pixels.untyped_view());
  if (!text.empty()) return text;
  if (counts_of(got) != counts_of(expected)) return "histograms differ";
  if (!trial.keep) return "";
  text = first_difference(expected.source.untyped_view(), got.source.untyped_view());
  if (!text.empty()) return "source: " + text;
  if (trial.fuse) return "";
  const std::vector<Difference> steps = compare_outcomes(got, expected);
  for (std::size_t i = 0; i < steps.size(); ++i) {
    if (!steps[i].identical()) return "output of " + got.plan.steps[i].label + ": " + steps[i].text();
  }
  return "";
}

// ---- smaller trials ---------------------------------------------------------------------------------

template <class Change>
void add_changed(std::vector<Trial>& trials, const Trial& trial, const Change& change) {
  trials.push_back(trial);
  change(trials.back());
}

// Removes a step, removes a step's parameter, or reduces a number.
void add_shorter_lists(std::vector<Trial>& trials, const Trial& trial) {
  for (std::size_t i = 0; i < trial.steps.size(); ++i) {
    add_changed(trials, trial,
                [&](Trial& t) { t.steps.erase(t.steps.begin() + static_cast<std::ptrdiff_t>(i)); });
  }
  for (std::size_t i = 0; i < trial.steps.size(); ++i) {
    const std::string& step = trial.steps[i];
    for (std::size_t at = step.find(':'); at != std::string::npos; at = step.find(':', at + 1)) {
      const std::size_t end = std::min(step.find(':', at + 1), step.size());
      add_changed(trials, trial, [&](Trial& t) { t.steps[i].erase(at, end - at); });
      const std::size_t value = step.find('=', at) + 1;
      std::int64_t number = 0;
      const auto [last, error] = std::from_chars(step.data() + value, step.data() + end, number);
      if (value == 0 || value > end || error != std::errc{} || last != step.data() + end || number < 2)
        continue;
      for (const std::int64_t smaller : {std::int64_t{1}, number / 2, number - 1})
        add_changed(trials, trial,
                    [&](Trial& t) { t.steps[i].replace(value, end - value, std::to_string(smaller)); });
    }
  }
}

void add_plainer_runs(std::vector<Trial>& trials, const Trial& trial) {
  if (trial.engine == TrialEngine::bands)
    add_changed(trials, trial, [](Trial& t) { t.engine = TrialEngine::cpu; });
  if (trial.threads > 1) add_changed(trials, trial, [](Trial& t) { t.threads = 1; });
  if (trial.device_bytes > 0) add_changed(trials, trial, [](Trial& t) { t.device_bytes = 0; });
  if (trial.strip_rows > 0) add_changed(trials, trial, [](Trial& t) { t.strip_rows = 0; });
  if (trial.fuse) add_changed(trials, trial, [](Trial& t) { t.fuse = false; });
  if (trial.keep) add_changed(trials, trial, [](Trial& t) { t.keep = false; });
  if (trial.repeat > 0) add_changed(trials, trial, [](Trial& t) { t.repeat = 0; });
}

// Halves the image, then removes a row or column at either end.
void add_smaller_images(std::vector<Trial>& trials, const Trial& trial) {
  for (const Sample sample : kTrialSamples) {
    if (sample == trial.made.sample) break;
    add_changed(trials, trial, [&](Trial& t) { t.made.sample = sample; });
  }
  for (int channels = 1; channels < trial.made.channels; ++channels)
    add_changed(trials, trial, [&](Trial& t) { t.made.channels = channels; });
  const auto cut = [&](std::int64_t Trial::*first, std::int64_t Trial::*size) {
    const std::int64_t half = trial.*size / 2;
    for (const std::int64_t less : {half, std::int64_t{1}}) {
      if (less == 0 || less >= trial.*size) continue;
      add_changed(trials, trial, [&](Trial& t) { t.*size -= less; });
      add_changed(trials, trial, [&](Trial& t) { t.*size -= less, t.*first += less; });
    }
  };
  cut(&Trial::y, &Trial::height);
  cut(&Trial::x, &Trial::width);
}

std::vector<Trial> smaller_trials(const Trial& trial) {
  std::vector<Trial> trials;
  add_shorter_lists(trials, trial);
  add_plainer_runs(trials, trial);
  add_smaller_images(trials, trial);
  return trials;
}

std::string image_file(const Trial& trial) {
  const auto path = std::filesystem::temp_directory_path() /
                    ("imgpipe-random-chain-" + std::to_string(trial.seed) + ".png");
  const Image image = trial.image();
  const std::unique_ptr<Writer> writer = make_writer(Format::png, image.shape());
  writer->write_rows(image.untyped_view());
  const std::vector<std::byte> bytes = writer->finish().joined();
  std::ofstream(path, std::ios::binary)
      .write(reinterpret_cast<const char*>(bytes.data()), static_cast<std::streamsize>(bytes.size()));
  return path.string();
}

std::string device_options(const Trial& trial) {
  std::string text = trial.engine == TrialEngine::cpu ? "cpu" : "cuda";
  if (trial.device_bytes > 0) text += " --device-memory " + std::to_string(trial.device_bytes);
  text += " --threads " + std::to_string(trial.threads);
  if (trial.fuse) text += " --fuse";
  if (trial.repeat > 0) text += " --repeat " + std::to_string(trial.repeat);
  return text + (trial.keep ? " --compare" : "");
}

}  // namespace

// ---- the trial --------------------------------------------------------------------------------------

std::string Trial::list() const {
  std::string text;
  for (const std::string& step : steps) text += (text.empty() ? "" : ",") + step;
  return steps.empty() ? "none" : text;
}

Shape Trial::shape() const {
  return {width, height, made.channels, made.sample};
}

Image Trial::image() const {
  Image whole(made);
  fill({frame_type_of(made), {whole.untyped_view(), {}, {}, {}}}, content, seed);
  Image image(shape());
  const ConstHostView from = std::as_const(whole).untyped_view();
  const HostView to = image.untyped_view();
  const std::int64_t pixel_bytes = made.channels * bytes_per_sample(made.sample);
  for (std::int64_t row = 0; row < height; ++row) {
    std::memcpy(to.rows(row, 1).data, from.rows(y + row, 1).data + x * pixel_bytes,
                static_cast<std::size_t>(width * pixel_bytes));
  }
  return image;
}

Plan Trial::plan() const {
  return make_plan(steps_for(list(), shape()), shape(), fuse, std::int64_t{1} << 32);
}

std::string Trial::text() const {
  return "--stages " + list() + ", " + std::to_string(width) + "x" + std::to_string(height) + "+" +
         std::to_string(x) + "+" + std::to_string(y) + " of " + std::to_string(made.width) + "x" +
         std::to_string(made.height) + "x" + std::to_string(made.channels) + " u" +
         std::to_string(8 * bytes_per_sample(made.sample)) + " " + content + " " + std::to_string(seed) +
         ", " + (engine == TrialEngine::bands ? "in bands, " : "") + device_options(*this) + ", strips of " +
         std::to_string(strip_rows) + " rows";
}

std::vector<std::vector<std::uint64_t>> counts_of(const Outcome& outcome) {
  std::vector<std::vector<std::uint64_t>> all;
  for (const Operation& one : outcome.plan.operations) {
    if (!makes_counts(*one.stage)) continue;
    all.push_back(outcome.histograms[one.step]);
    std::vector<std::uint64_t>& counts = all.back();
    if (!one.label.ends_with('*')) continue;
    const auto bins = static_cast<std::size_t>(one.in.bins());
    for (std::size_t i = bins; i < counts.size(); ++i) counts[i % bins] += counts[i];
    counts.resize(bins);
  }
  return all;
}

Outcome reference_outcome(const Trial& trial) {
  Trial plain = trial;
  plain.strip_rows = plain.repeat = 0;
  plain.fuse = false;
  plain.keep = true;
  const Image image = trial.image();
  Outcome outcome = make_reference_engine()->run(job_of(plain, image));
  if (outcome.error) std::rethrow_exception(outcome.error);
  return outcome;
}

std::string difference(const Trial& trial, const Outcome& expected) {
  try {
    const Image image = trial.image();
    return difference_of(trial, run(trial, image), expected);
  } catch (const std::exception& error) {
    return std::string("error: ") + error.what();
  }
}

std::string difference(const Trial& trial) {
  try {
    static_cast<void>(trial.plan());
  } catch (const Error& error) {
    if (error.kind() == ErrorKind::usage || error.kind() == ErrorKind::input) return "";
    throw;
  }
  return difference(trial, reference_outcome(trial));
}

Trial shrunk(Trial trial) {
  int left = kMaxShrinks;
  for (bool smaller = true; smaller && left > 0;) {
    smaller = false;
    for (const Trial& next : smaller_trials(trial)) {
      if (--left < 0 || difference(next).empty()) continue;
      trial = next;
      smaller = true;
      break;
    }
  }
  return trial;
}

std::string report(const Trial& trial) {
  const std::string ending = trial.strip_rows > 0 ? ".png" : ".pnm";
  const std::string command = "  imgpipe " + image_file(trial) + " ";
  return difference(trial) + "\n" + command + "reference" + ending + " --device reference --stages " +
         trial.list() + "\n" + command + "other" + ending + " --device " + device_options(trial) +
         " --stages " + trial.list() + "\n  (" + trial.text() + ")";
}

}  // namespace imgpipe::test
