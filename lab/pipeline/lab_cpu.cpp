#include <algorithm>
#include <utility>

#include "kernels/stage.h"
#include "lab/pipeline/lab.h"
#include "lab/pipeline/thread_team.h"
#include "pipeline/device.h"

namespace imgpipe {
namespace {

// Copies of the input and output, used in turn. Together they are larger than most last-level caches, so that
// a run does not find its pixels in the cache.
constexpr std::int64_t kRotatingBytes = std::int64_t{192} << 20;
constexpr std::int64_t kMaxSets = 64;

class CpuLab final : public LabDevice {
 public:
  explicit CpuLab(int threads) : crew_(threads) {}

  [[nodiscard]] std::string name() const override {
    return host_info().processor + ", " + threads_text(crew_.count());
  }
  [[nodiscard]] double copy_bandwidth() override {
    if (copy_bandwidth_ <= 0) copy_bandwidth_ = measure_host_copy_bandwidth(crew_.count(), kRotatingBytes);
    return copy_bandwidth_;
  }

 private:
  struct Set {
    Image in, out;
  };

  void prepare() override {
    sets_.clear();
    const std::int64_t bytes = std::max<std::int64_t>(1, subject().bytes());
    const std::int64_t count = std::clamp<std::int64_t>(kRotatingBytes / bytes, 2, kMaxSets);
    for (std::int64_t i = 0; i < count; ++i) {
      Set set{Image(subject().in.shape()), {}};
      copy_pixels(subject().in.untyped_view(), set.in.untyped_view());
      if (!subject().expected.empty()) {
        set.out = Image(subject().expected.shape());
        // Touches the output's pages.
        copy_pixels(subject().expected.untyped_view(), set.out.untyped_view());
      }
      sets_.push_back(std::move(set));
    }
    own_counts_.assign(static_cast<std::size_t>(crew_.count()),
                       std::vector<std::uint64_t>(subject().counts.size()));
    table_.resize(
        static_cast<std::size_t>(table_bytes(*subject().stage, subject().in_type(), subject().parameters)));
  }

  // Makes the table once for all bands, as the product does.
  void make_table(StageCall<Host>& call) {
    const Stage& maker = *table_maker(*subject().stage, call.parameters, Backend::cpu, call.in.type.sample,
                                      call.out.type.sample);
    call.table = {table_.data(), std::ssize(table_)};
    const std::int64_t parts = table_parts(maker, call.in.type, call.parameters);
    if (parts == 1) {
      run_cpu(maker, call, {0, 1});
      return;
    }
    crew_.run([&](int index) {
      for (std::int64_t part = index; part < parts; part += crew_.count())
        run_cpu(maker, call, {part, part + 1});
    });
  }

  void run_once(const StageVariant& variant, const ConstHostView& in, const HostView& out,
                std::vector<std::uint64_t>& counts) {
    const Stage& stage = *subject().stage;
    StageCall<Host> call{.in = {subject().in_type(), {in, {}, {}, {}}},
                         .out = {subject().out_type(), {out, {}, {}, {}}},
                         .histogram = histogram_view<Host>(counts.data(), subject().counted_type()),
                         .parameters = subject().parameters};
    if (variant.cpu != nullptr && !table_.empty()) make_table(call);
    if (makes_counts(stage)) std::ranges::fill(counts, 0);
    if (variant.kind() == VariantKind::reference) {
      run_share(variant, call, {0, 1});
      return;
    }
    const bool apart = has_private_counts(variant, stage);
    crew_.run([&](int index) {
      StageCall<Host> part = call;
      std::vector<std::uint64_t>& own = own_counts_[static_cast<std::size_t>(index)];
      if (apart) {
        std::ranges::fill(own, 0);
        part.histogram.data = own.data();
      }
      run_share(variant, part, {index, crew_.count()});
    });
    if (!apart) return;
    for (const std::vector<std::uint64_t>& own : own_counts_) {
      for (std::size_t i = 0; i < counts.size(); ++i) counts[i] += own[i];
    }
  }

  void answer(const StageVariant& variant, const LabOptions&, LabOutput& answer) override {
    run_once(variant, subject().in.untyped_view(), answer.out.untyped_view(), answer.counts);
  }

  std::vector<double> time_us(const StageVariant& variant, const LabOptions& options) override {
    std::vector<std::uint64_t> counts = subject().counts;
    std::size_t next = 0;
    return times_by_clock(options, {.long_us = 2'000'000}, [&] {
      Set& set = sets_[next++ % sets_.size()];
      run_once(variant, std::as_const(set.in).untyped_view(), set.out.untyped_view(), counts);
    });
  }

  [[nodiscard]] std::string grid_text(const StageVariant& variant, const LabOptions&) const override {
    return threads_text(variant.kind() == VariantKind::reference ? 1 : crew_.count());
  }

  ThreadTeam crew_;
  double copy_bandwidth_ = 0;
  std::vector<Set> sets_;
  std::vector<std::vector<std::uint64_t>> own_counts_;
  std::vector<std::byte> table_;
};

}  // namespace

std::unique_ptr<LabDevice> make_cpu_lab(int threads) {
  return std::make_unique<CpuLab>(threads);
}

}  // namespace imgpipe
