// Tests the choice of an image's route through a device, by its memory need and the available memory.
#include "pipeline/devices/device_route.h"

#include <limits>
#include <string>
#include <vector>

#include <gtest/gtest.h>

namespace imgpipe::test::device_route_test {
namespace {

constexpr std::int64_t kMore = std::numeric_limits<std::int64_t>::max() / 2;  // more than any machine has

std::int64_t free_bytes = 0;
std::int64_t questions = 0;

std::int64_t ask_free_bytes() {
  ++questions;
  return free_bytes;
}

std::string name_of(Route route) {
  switch (route) {
    case Route::file:
      return "file";
    case Route::rows:
      return "rows";
    case Route::bands:
      return "bands";
  }
  return "";
}

TEST(DeviceRoute, LimitsDecideWithoutAContext) {
  struct Case {
    std::int64_t device_bytes, host_bytes, limit;
    Route route;
  };
  for (const Case& one : std::vector<Case>{{1000, 0, 0, Route::rows},
                                           {1000, 0, 1000, Route::rows},
                                           {1000, 0, 999, Route::bands},
                                           {1000, kMore, 0, Route::bands},
                                           {1000, kMore, 1000, Route::bands},
                                           {kMore, 0, 0, Route::rows},
                                           {kMore, 0, 1, Route::bands}}) {
    const std::string text = std::to_string(one.device_bytes) + " bytes there, " +
                             std::to_string(one.host_bytes) + " here, limit " + std::to_string(one.limit);
    const DeviceMemory memory{.limit = one.limit};
    RouteRequest request{.device_bytes = one.device_bytes, .host_bytes = one.host_bytes};
    EXPECT_EQ(name_of(choose_route(request, memory)), name_of(one.route)) << text;
    request.has_scan = true;
    EXPECT_EQ(name_of(choose_route(request, memory)),
              name_of(one.route == Route::rows ? Route::file : one.route))
        << text << ", scan";
    request.has_steps = false;
    EXPECT_EQ(name_of(choose_route(request, memory)), "file") << text << ", scan without steps";
    request.has_scan = false;
    EXPECT_EQ(name_of(choose_route(request, memory)), "rows") << text << " without steps";
  }
}

// Limit and host memory do not matter here: they were checked before the context existed.
TEST(DeviceRoute, FreeAndHeldMemoryDecideWithAContext) {
  struct Case {
    std::int64_t bytes, held, free;
    Route route;
    std::int64_t questions;
  };
  for (const Case& one : std::vector<Case>{{1000, 0, 1000, Route::rows, 1},
                                           {1000, 0, 999, Route::bands, 1},
                                           {1000, 1000, 0, Route::rows, 0},
                                           {1000, 999, 1, Route::rows, 1},
                                           {1000, 999, 0, Route::bands, 1}}) {
    const std::string text = std::to_string(one.bytes) + " bytes, " + std::to_string(one.held) + " held, " +
                             std::to_string(one.free) + " free";
    const DeviceMemory memory{.limit = 1, .held = one.held, .free_bytes = ask_free_bytes};
    free_bytes = one.free;
    questions = 0;
    RouteRequest request{.device_bytes = one.bytes, .host_bytes = kMore};
    EXPECT_EQ(name_of(choose_route(request, memory)), name_of(one.route)) << text;
    EXPECT_EQ(questions, one.questions) << text << ": what is free is asked where that decides";
    request.has_steps = false;
    EXPECT_EQ(name_of(choose_route(request, memory)), "rows") << text << " without steps";
    EXPECT_EQ(questions, one.questions) << text;
  }
}

TEST(DeviceRoute, DeviceEncodesWithEightTimesTheResultsMemory) {
  struct Case {
    std::int64_t limit, held, free;
    bool encodes;
  };
  for (const Case& one : std::vector<Case>{{0, 0, 1800, true},
                                           {0, 0, 1799, false},
                                           {0, 1800, 0, true},
                                           {0, 800, 1000, true},
                                           {0, 800, 999, false},
                                           {1800, 0, 1800, true},
                                           {1799, 1800, 1800, false}}) {
    free_bytes = one.free;
    EXPECT_EQ(can_encode(1000, 100, {one.limit, one.held, ask_free_bytes}), one.encodes)
        << "limit " << one.limit << ", held " << one.held << ", free " << one.free;
  }
}

}  // namespace
}  // namespace imgpipe::test::device_route_test
