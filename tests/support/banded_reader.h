// A reader of an image in memory that gives bands to several threads, and checks how it is used.
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

// The behaviour of such a reader, and a log of its use that outlives it.
struct BandedBehaviour {
  std::int64_t fails_at = std::numeric_limits<std::int64_t>::max();     // the first row that it fails to read
  std::int64_t switches_at = std::numeric_limits<std::int64_t>::max();  // the first row by another decoder
  bool waits_for_earlier = false;  // a band waits until all bands begun before it are read
  std::uint64_t seed = 0;          // for random waits; 0: no waits
  std::int64_t working_bytes = 0;  // allocated with the first band
  std::int64_t bytes_a_row = 0;    // allocated per row of a band, from begin_band() until it is read
};

struct BandedLog {
  struct Band {
    std::int64_t first = 0, rows = 0;
    int reads = 0;
    bool done = false;
  };
  std::vector<Band> bands;
  std::vector<std::thread::id> threads;  // that have read bands
  int max_at_once = 0;                   // concurrent calls of read_band()
  bool by_rows = false;                  // read_rows() was called
  std::vector<std::string> faults;       // violations of Reader's rules
  bool failed = false;                   // has thrown an error

  // Whether every band was read once and the bands reach from the first row to the last.
  [[nodiscard]] bool complete(std::int64_t height) const;
};

class BandedReader final : public Reader {
 public:
  // `image` and `log` must outlive it.
  BandedReader(ConstHostView image, const BandedBehaviour& behaviour, BandedLog& log,
               Orientation orientation = Orientation::upright);
  ~BandedReader() override;
  BandedReader(const BandedReader&) = delete;
  BandedReader& operator=(const BandedReader&) = delete;

  [[nodiscard]] bool has_bands() const noexcept override { return true; }
  [[nodiscard]] std::int64_t working_bytes(bool) const override { return behaviour_.working_bytes; }
  [[nodiscard]] std::int64_t band_bytes(std::int64_t rows) const override {
    return rows * behaviour_.bytes_a_row;
  }
  [[nodiscard]] std::string_view decoder() const noexcept override;

 protected:
  void read_next_rows(HostView rows) override;
  void begin_next_band(std::int64_t first, std::int64_t rows) override;
  void do_read_band(std::int64_t first, HostView rows) override;

 private:
  void fault(const std::string& what) { log_.faults.push_back(what); }
  std::size_t enter(std::int64_t first, std::int64_t rows);
  void wait_a_while();
  [[nodiscard]] bool earlier_are_done(std::size_t band) const;
  [[noreturn]] void fail();

  // The memory of each band that was begun and not read yet, by its first row.
  std::multimap<std::int64_t, Image> held_;
  Image working_;
  const ConstHostView image_;
  const BandedBehaviour behaviour_;
  BandedLog& log_;
  mutable std::mutex mutex_;
  std::condition_variable changed_;
  std::uint64_t random_;
  bool beginning_ = false, switched_ = false;
  int reading_ = 0;
  std::int64_t next_row_ = 0;
};

}  // namespace imgpipe::test
