// SPDX-License-Identifier: Apache-2.0
// shoal noise --inject: how much a program of Shoal slows down when delays are injected: it runs with each delay and
// without, in turn, and the ratios are compared with what is borne (2 %).
// Who may call: the command's main thread; blocks while the program runs. Errors: shoal::error for a program that fails,
// prints no figure, or does not inject (it is none of Shoal's). Test: tests/unit/tools/injection_test.cpp.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "tools/tune/comparison.hpp"

namespace shoal::tools {

struct injection_request {
  std::vector<std::string> events;  // as in the setting `inject`: message, operation, first_touch, quantum, replay
  std::vector<std::string> delays = {"128ns", "256ns", "512ns", "1024ns"};
  std::vector<std::string> kinds = {"constant", "uniform"};  // uniform: from nothing to twice as much
  double quantum_us = 1000;
  std::string recording;  // of shoal noise --raw: one more delay for each event, and what `replay` takes
  std::string figure = "time";
  double borne_percent = 2;
  int repeat = 5;
  std::uint64_t seed = 1;
  std::string json;
  std::string picture;
  std::vector<std::string> program;
};

/// The values of the setting `inject` that the request names. Throws for words that are none.
std::vector<std::string> injections_of(const injection_request& r);

struct injection_row {
  std::string injection;  // empty: nothing is injected
  std::vector<double> figures;
  std::uint64_t delays = 0;  // in the last run, of all workers and nodes
  double delay_ms = 0;
  std::string signature;
};

/// Slowed down by so much; of a rate, too.
tune::ratio slowdown(const injection_row& row, const injection_row& without, bool smaller_is_better);
/// "borne", "too much", or "open": the bounds hold both.
std::string verdict_of(const tune::ratio& slowed, double borne_percent);

std::string injection_table(const std::vector<injection_row>& rows, bool smaller_is_better, double borne_percent);
/// SVG.
std::string injection_picture(const std::vector<injection_row>& rows, bool smaller_is_better, double borne_percent);

/// What a program has said about its injected noise, added to the row; false: it said nothing.
bool take_report(injection_row& row, const std::string& errors);

int run_injection(const injection_request& r);

}  // namespace shoal::tools
