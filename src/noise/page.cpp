// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <iterator>

#include "base/counted.hpp"
#include "noise/advice.hpp"
#include "noise/summary.hpp"
#include "noise/text.hpp"
#include "trace/drawing.hpp"
#include "trace/page.hpp"

namespace shoal::noise {

extern const std::string_view k_noise_page_script;  // noise_page.js

namespace {

using trace::escaped_html;

// Of the classes but the last, unattributed, which no event has.
constexpr std::array<std::string_view, k_classes - 1> k_colours = {"#4477aa", "#ee6677", "#ccbb44", "#228833",
                                                                   "#aa3377"};

// More quanta than this are drawn in groups, each by the one that lost most.
constexpr std::size_t k_most_drawn = 20'000;

std::string series_data(const measurement& m, const quanta_result& q) {
  const std::vector<class_times> kernel = synthetic_series(m.record.interruptions, q);
  const std::size_t group = q.noise_ns.size() / k_most_drawn + 1;
  std::string noise;
  std::string classes[k_classes - 1];
  for (std::size_t i = 0; i < q.noise_ns.size(); i += group) {
    const std::size_t end = std::min(i + group, q.noise_ns.size());
    const auto most = static_cast<std::size_t>(std::max_element(q.noise_ns.begin() + static_cast<std::ptrdiff_t>(i),
                                                                q.noise_ns.begin() + static_cast<std::ptrdiff_t>(end)) -
                                               q.noise_ns.begin());
    fmt::format_to(std::back_inserter(noise), "{:.3g},", q.noise_ns[most] * 1e-3);
    for (std::size_t c = 0; c + 1 < k_classes; ++c) {
      if (kernel[most][c] > 0) fmt::format_to(std::back_inserter(classes[c]), "{:.3g}", kernel[most][c] * 1e-3);
      classes[c] += ',';
    }
  }
  std::string text = fmt::format("{{processor:{},begin:{:.3f},step:{:.6f},noise:[{}],kernel:[", q.processor,
                                 static_cast<double>(q.begin_ns - m.begin_ns) * 1e-6,
                                 static_cast<double>(q.quantum_ns * group) * 1e-6, noise);
  if (m.has_events)
    for (const std::string& one : classes) text += "[" + one + "],";
  return text + "]}";
}

std::string histogram(const event_row& row, const word_table& words) {
  constexpr int k_bars = 40;
  constexpr double k_width = 320;
  constexpr double k_height = 120;
  trace::drawing d;
  d.text(5, 14, escaped_html(describe(row.what, row.detail, words)));
  const auto least = static_cast<double>(row.lengths_ns.front());
  const auto most = static_cast<double>(row.p99_ns());
  std::vector<std::size_t> bars(k_bars, 0);
  for (const std::uint64_t ns : row.lengths_ns) {
    if (static_cast<double>(ns) > most) break;
    const double place = most > least ? (static_cast<double>(ns) - least) / (most - least) : 0;
    ++bars[std::min<std::size_t>(k_bars - 1, static_cast<std::size_t>(place * k_bars))];
  }
  const std::size_t tallest = std::ranges::max(bars);
  const double each = (most - least) / k_bars;
  for (int i = 0; i < k_bars; ++i) {
    const auto n = bars[static_cast<std::size_t>(i)];
    const double height = static_cast<double>(n) / static_cast<double>(tallest) * (k_height - 45);
    d.box(5 + i * (k_width - 10) / k_bars, k_height - 18 - height, (k_width - 10) / k_bars - 1, height, "#4477aa",
          fmt::format("{} from {}", n, base::described_ns(least + i * each)));
  }
  d.text(5, k_height - 4, base::described_ns(least), "start", 11);
  d.text(k_width - 5, k_height - 4, base::described_ns(most) + " (p99)", "end", 11);
  return "<div class=\"small\">" + d.finish(k_width, k_height) + "</div>\n";
}

std::string spectrum_drawing(const quanta_result& q) {
  constexpr double k_width = 1000;
  constexpr double k_height = 160;
  const spectrum s = spectrum_of(q.noise_ns, static_cast<double>(q.quantum_ns));
  if (s.power.size() < 3) return {};
  trace::drawing d;
  const double most = *std::max_element(s.power.begin() + 1, s.power.end());
  if (most <= 0) return {};
  d.text(5, 14, fmt::format("processor {}: at which frequencies time is lost (square root of power)", q.processor));
  for (std::size_t k = 1; k < s.power.size(); ++k) {
    const double height = std::sqrt(s.power[k] / most) * (k_height - 45);
    const double x = 5 + static_cast<double>(k - 1) / static_cast<double>(s.power.size() - 1) * (k_width - 10);
    d.box(x, k_height - 18 - height, (k_width - 10) / static_cast<double>(s.power.size()), height, "#555555",
          fmt::format("{:.1f} Hz", s.step_hz * static_cast<double>(k)));
  }
  for (int i = 0; i <= 4; ++i)
    d.text(5 + i * (k_width - 10) / 4, k_height - 4,
           fmt::format("{:.0f} Hz", s.step_hz * static_cast<double>(s.power.size() - 1) * i / 4),
           i == 0   ? "start"
           : i == 4 ? "end"
                    : "middle",
           11);
  return d.finish(k_width, k_height);
}

std::string event_table(const measurement& m) {
  const auto time = static_cast<double>(m.record.runnable_ns());
  std::string text =
      "<table id=\"events\"><tr><th>event</th><th>class</th><th>per second</th><th>average</th><th>p99</th>"
      "<th>max</th><th>min</th><th>share</th></tr>\n";
  for (const event_row& row : event_rows(m.record.interruptions))
    text += fmt::format(
        "<tr><td>{}</td><td>{}</td><td>{:.1f}</td><td>{}</td><td>{}</td><td>{}</td><td>{}</td><td>{:.4f} %</td></tr>\n",
        escaped_html(describe(row.what, row.detail, m.words)), name_of(class_of(row.what)),
        time > 0 ? static_cast<double>(row.lengths_ns.size()) / (time * 1e-9) : 0, base::described_ns(row.average_ns()),
        base::described_ns(static_cast<double>(row.p99_ns())),
        base::described_ns(static_cast<double>(row.lengths_ns.back())),
        base::described_ns(static_cast<double>(row.lengths_ns.front())),
        time > 0 ? static_cast<double>(row.total_ns()) / time * 100 : 0);
  return text + "</table>\n";
}

}  // namespace

std::string noise_page(const measurement& m, std::string_view title) {
  std::string body;
  if (!m.series.empty()) {
    body +=
        "<p id=\"which\"></p><canvas id=\"ftq\"></canvas><canvas id=\"kernel\"></canvas><p class=\"tip\" "
        "id=\"tip\"></p>\n"
        "<p>Wheel: zoom. Drag: move. Double click: all.</p>\n<p class=\"key\">";
    for (std::size_t c = 0; c + 1 < k_classes; ++c)
      body += fmt::format("<span><i style=\"background:{}\"></i>{}</span>", k_colours[c], k_class_names[c]);
    body += "</p>\n";
  }
  body += "<h2>Figures</h2><pre>" + escaped_html(noise_text(m)) + "</pre>\n";
  if (m.has_events) {
    body += "<h2>Events</h2>\n" + event_table(m) + "<h2>How long they take</h2>\n<p>Up to the 99th percentile.</p>\n";
    for (const event_row& row : event_rows(m.record.interruptions))
      if (row.lengths_ns.size() >= 20) body += histogram(row, m.words);
  }
  if (!m.series.empty()) {
    body += "<h2>Spectrum</h2>\n";
    for (const quanta_result& q : m.series) body += spectrum_drawing(q);
  }
  body += "<h2>One by one</h2><p>Show lines with: <input id=\"find\" placeholder=\"timer\"></p><pre id=\"lines\">" +
          escaped_html(explained_text(m, 1000)) + "</pre>\n";
  std::string data = "const data = {classes: [";
  for (std::size_t c = 0; c < k_colours.size(); ++c) data += fmt::format("\"{}\", ", k_class_names[c]);
  data += "], colours: [";
  for (const std::string_view one : k_colours) data += fmt::format("\"{}\", ", one);
  data += "], series: [";
  for (const quanta_result& q : m.series) data += series_data(m, q) + ",\n";
  data += "]};";
  return trace::to_html({std::string(title), body, data, k_noise_page_script});
}

}  // namespace shoal::noise
