// One dohmux-lab for the whole test program.
#pragma once

#include <string>

#include "support/lab.h"

namespace dohmux::contract {

class Laboratory {
 public:
  /// Started at first use; faults and counters are as new.
  [[nodiscard]] static Laboratory& fresh();

  /// Fails the test if the lab does not accept it.
  void command(const std::string& line);
  [[nodiscard]] long count(const std::string& party, const std::string& counter);
  [[nodiscard]] std::uint16_t port(const std::string& party) { return lab_.port(party); }
  [[nodiscard]] std::string ca_file() const { return lab_.ca_file(); }

 private:
  Laboratory();

  test::Lab lab_;
};

}  // namespace dohmux::contract
