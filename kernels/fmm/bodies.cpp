// SPDX-License-Identifier: Apache-2.0
#include "kernels/fmm/bodies.hpp"

#include <fmt/format.h>

#include <cmath>
#include <numbers>

#include "shoal/error.hpp"
#include "shoal/random.hpp"

namespace shoal::kernels::fmm {

bodies make_bodies(const std::string& distribution, std::uint64_t count, std::uint64_t seed) {
  const bool ellipsoid = distribution == "ellipsoid";
  if (!ellipsoid && distribution != "uniform")
    throw error(errc::invalid_argument,
                fmt::format("--distribution {}: there are uniform and ellipsoid", distribution));
  xoshiro256ss random(seed);
  const auto number = [&random] { return static_cast<double>(random() >> 11) * 0x1p-53; };
  bodies all;
  for (std::vector<double>* v : {&all.x, &all.y, &all.z, &all.charge}) v->reserve(count);
  for (std::uint64_t i = 0; i < count; ++i) {
    if (ellipsoid) {
      const double polar = std::numbers::pi * number(), around = 2 * std::numbers::pi * number();
      all.x.push_back(0.5 + 0.12 * std::sin(polar) * std::cos(around));
      all.y.push_back(0.5 + 0.12 * std::sin(polar) * std::sin(around));
      all.z.push_back(0.5 + 0.48 * std::cos(polar));
    } else {
      all.x.push_back(number());
      all.y.push_back(number());
      all.z.push_back(number());
    }
    all.charge.push_back(number() - 0.5);
  }
  return all;
}

}  // namespace shoal::kernels::fmm
