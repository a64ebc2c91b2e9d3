// A reader that gives bands to several threads, over an image in memory: it looks at how it is used.
#pragma once

#include <condition_variable>
#include <cstdint>
#include <limits>
#include <map>
#include <mutex>
#include <string>
#include <thread>
#include <vector>

#include "images/codecs/codec.h"
#include "images/image.h"

namespace imgpipe::test {

// What such a reader is to do, and what it has seen, which outlives it.
struct BandedWays {
  std::int64_t fails_at = std::numeric_limits<std::int64_t>::max();     // the first row that it cannot give
  std::int64_t switches_at = std::numeric_limits<std::int64_t>::max();  // with this row its decoder changes
  bool waits_for_earlier = false;  // a band waits until all that were begun before it are read
  std::uint64_t seed = 0;          // of the waits in between; 0: none
  std::int64_t working_bytes = 0;  // it takes these with its first band,
  std::int64_t bytes_a_row = 0;    // and these for each row of a band, from its beginning until it is read
};

struct BandedLog {
  struct Band {
    std::int64_t first = 0, rows = 0;
    int reads = 0;
    bool done = false;
  };
  std::vector<Band> bands;
  std::vector<std::thread::id> threads;  // that have read
  int most_at_once = 0;                  // that were in read_band() together
  bool by_rows = false;                  // read_rows() was called
  std::vector<std::string> faults;       // what Reader's rules forbid
  bool failed = false;                   // has thrown

  // Every band that was begun was read once, and they reach from the first row to the last.
  [[nodiscard]] bool complete(std::int64_t height) const;
};

class BandedReader final : public Reader {
 public:
  // `image` and `log` must outlive it.
  BandedReader(ConstHostView image, const BandedWays& ways, BandedLog& log,
               Orientation orientation = Orientation::upright);
  ~BandedReader() override;
  BandedReader(const BandedReader&) = delete;
  BandedReader& operator=(const BandedReader&) = delete;

  [[nodiscard]] bool has_bands() const noexcept override { return true; }
  [[nodiscard]] std::int64_t working_bytes(bool) const override { return ways_.working_bytes; }
  [[nodiscard]] std::int64_t band_bytes(std::int64_t rows) const override { return rows * ways_.bytes_a_row; }
  [[nodiscard]] std::string_view decoder() const noexcept override;

 protected:
  void read_next_rows(HostView rows) override;
  void begin_next_band(std::int64_t first, std::int64_t rows) override;
  void read_begun_band(std::int64_t first, HostView rows) override;

 private:
  void fault(const std::string& what) { log_.faults.push_back(what); }
  std::size_t enter(std::int64_t first, std::int64_t rows);
  void wait_a_while();
  [[nodiscard]] bool earlier_are_done(std::size_t band) const;
  [[noreturn]] void fail();

  // The bands that are begun and not read yet: what each takes, by where it begins.
  std::multimap<std::int64_t, Image> held_;
  Image working_;
  const ConstHostView image_;
  const BandedWays ways_;
  BandedLog& log_;
  mutable std::mutex mutex_;
  std::condition_variable changed_;
  std::uint64_t random_;
  bool beginning_ = false, switched_ = false;
  int reading_ = 0;
  std::int64_t next_row_ = 0;
};

}  // namespace imgpipe::test
