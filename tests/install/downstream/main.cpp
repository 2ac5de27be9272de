// SPDX-License-Identifier: Apache-2.0
#include <shoal/error.hpp>
#include <shoal/random.hpp>

#include <iostream>

int main() try {
  if (shoal::xoshiro256ss(1).below(10) >= 10) return 1;
  throw shoal::error(shoal::errc::not_found, "nothing here");
} catch (const shoal::error& e) {
  std::cout << shoal::to_string(e.code()) << ": " << e.what() << '\n';
  return e.code() == shoal::errc::not_found ? 0 : 1;
}
