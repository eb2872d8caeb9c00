// Chance as an argument: production draws from the kernel-seeded engine, tests from a fixed one.
#pragma once

#include <cstdint>
#include <random>

namespace dohmux {

class Random {
 public:
  explicit Random(std::uint64_t seed) : engine_(seed) {}
  /// Seeded from the operating system.
  static Random seeded() {
    std::random_device device;
    return Random((static_cast<std::uint64_t>(device()) << 32U) | device());
  }
  /// Uniform in [0, bound); 0 for a bound of 0.
  std::uint64_t below(std::uint64_t bound) { return bound == 0 ? 0 : std::uniform_int_distribution<std::uint64_t>(0, bound - 1)(engine_); }

 private:
  std::mt19937_64 engine_;
};

}  // namespace dohmux
