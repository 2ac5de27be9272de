// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <iterator>
#include <map>
#include <span>
#include <tuple>

#include "trace/flame.hpp"
#include "trace/page.hpp"
#include "trace/timeline_output.hpp"

namespace shoal::trace {

extern const std::string_view k_timeline_page_script;  // timeline_page.js

namespace {

// A browser draws this many at once; more are replaced by what takes most of each of some thousand parts of the time.
constexpr std::size_t k_most_slices = 200'000;
constexpr std::size_t k_time_parts = 4000;
constexpr std::size_t k_most_messages = 20'000;
constexpr std::size_t k_most_regions = 2000;   // of a track
constexpr std::size_t k_most_marks = 20'000;   // of a track
constexpr std::size_t k_most_kernel = 20'000;  // of a track
constexpr std::size_t k_load_parts = 1000;

constexpr std::array<const char*, k_activities> k_words = {"task",     "the runtime", "looks for work",
                                                           "messages", "parked",      "not known"};
constexpr std::array<const char*, k_activities> k_colours = {"#4477aa", "#dd9944", "#ee6677",
                                                             "#aaaa44", "#eeeeee", "#bbaacc"};

std::vector<slice> coarser(const std::vector<slice>& all, std::uint64_t length_ns, std::size_t parts) {
  std::vector<slice> result;
  const double width = static_cast<double>(length_ns) / static_cast<double>(parts);
  std::size_t i = 0;
  for (std::size_t p = 0; p < parts; ++p) {
    const auto begin = static_cast<std::uint64_t>(static_cast<double>(p) * width);
    const auto end = static_cast<std::uint64_t>(static_cast<double>(p + 1) * width);
    std::map<std::tuple<activity, std::uint32_t, std::uint32_t>, std::uint64_t> time;
    while (i < all.size() && all[i].end_ns <= begin) ++i;
    for (std::size_t k = i; k < all.size() && all[k].begin_ns < end; ++k)
      time[{all[k].what, all[k].name, all[k].call}] += std::min(end, all[k].end_ns) - std::max(begin, all[k].begin_ns);
    if (time.empty()) continue;
    const auto most = std::ranges::max_element(time, {}, [](const auto& one) { return one.second; });
    const auto& [what, name, call] = most->first;
    const slice s{begin, end, what, name, call};
    if (!result.empty() && result.back().end_ns == begin && result.back().what == s.what &&
        result.back().name == s.name && result.back().call == s.call) {
      result.back().end_ns = end;
    } else {
      result.push_back(s);
    }
  }
  return result;
}

double microseconds(std::uint64_t ns) { return static_cast<double>(ns) * 1e-3; }

void add_track(std::string& out, const track& t, std::span<const slice> slices) {
  const auto end = std::back_inserter(out);
  fmt::format_to(end, "{{node: {}, worker: {}, begin: [", t.node, t.worker);
  for (const slice& s : slices) fmt::format_to(end, "{:.3f},", microseconds(s.begin_ns));
  out += "], length: [";
  for (const slice& s : slices) fmt::format_to(end, "{:.3f},", microseconds(s.end_ns - s.begin_ns));
  out += "], what: [";
  for (const slice& s : slices) fmt::format_to(end, "{},", static_cast<int>(s.what));
  out += "], name: [";
  for (const slice& s : slices) fmt::format_to(end, "{},", s.name);
  out += "], call: [";
  if (!t.calls.empty())
    for (const slice& s : slices) fmt::format_to(end, "{},", s.call);
  out += "], regions: [";
  std::vector<const region_slice*> regions;
  for (const region_slice& r : t.regions) regions.push_back(&r);
  if (regions.size() > k_most_regions) {
    std::ranges::nth_element(regions, regions.begin() + k_most_regions, std::greater<>(),
                             [](const region_slice* r) { return r->end_ns - r->begin_ns; });
    regions.resize(k_most_regions);
  }
  for (const region_slice* r : regions)
    fmt::format_to(end, "[{:.3f},{:.3f},{}],", microseconds(r->begin_ns), microseconds(r->end_ns), r->name);
  out += "], marks: [";
  const std::size_t every_mark = t.marks.size() / k_most_marks + 1;
  for (std::size_t i = 0; i < t.marks.size(); i += every_mark)
    fmt::format_to(end, "[{:.3f},{},\"{}\"],", microseconds(t.marks[i].at_ns), t.marks[i].name, t.marks[i].value);
  out += "], kernel: [";
  const std::size_t every = t.kernel.size() / k_most_kernel + 1;
  for (std::size_t i = 0; i < t.kernel.size(); i += every)
    fmt::format_to(end, "[{:.3f},{:.3f},{}],", microseconds(t.kernel[i].begin_ns), microseconds(t.kernel[i].ns),
                   t.kernel[i].name);
  out += "]},\n";
}

// In a script, where "</script>" would end it.
std::string script_text(std::string_view text) {
  std::string out = "\"";
  for (const char c : text) {
    if (c == '"' || c == '\\') out += '\\';
    if (c == '<')
      out += "\\x3c";
    else if (static_cast<unsigned char>(c) < 0x20)
      out += ' ';
    else
      out += c;
  }
  return out + "\"";
}

}  // namespace

std::string timeline_page(const timeline& t) {
  std::size_t slices = 0;
  for (const track& one : t.tracks) slices += one.slices.size();
  const bool is_coarse = slices > k_most_slices;
  std::string data = fmt::format("const data = {{length: {:.3f}, words: [", microseconds(t.length_ns));
  for (const std::string& w : t.words) data += script_text(w) + ",";
  data += "], colours: [";
  for (const char* one : k_colours) data += script_text(one) + ",";
  data += "], activities: [";
  for (const char* one : k_words) data += script_text(one) + ",";
  data += "], tracks: [\n";
  for (const track& one : t.tracks)
    if (is_coarse)
      add_track(data, one, coarser(one.slices, t.length_ns, k_time_parts));
    else
      add_track(data, one, one.slices);
  data += "], messages: [";
  const std::size_t every = t.messages.size() / k_most_messages + 1;
  for (std::size_t i = 0; i < t.messages.size(); i += every) {
    const message& m = t.messages[i];
    fmt::format_to(std::back_inserter(data), "[{},{},{:.3f},{:.3f},{}],", m.from, m.to, microseconds(m.sent_ns),
                   microseconds(m.received_ns), m.bytes);
  }
  data += "], parallelism: [";
  for (const double one : parallelism(t, k_load_parts)) fmt::format_to(std::back_inserter(data), "{:.3g},", one);
  data += "]};\n" + flame_data(t);

  std::string body =
      "<p>Show tasks with: <input id=\"find\" placeholder=\"part of a name\"> Wheel: zoom. Drag: move. Double click: "
      "all.</p>\n<canvas id=\"lines\"></canvas><p class=\"tip\" id=\"tip\"></p><canvas id=\"load\" "
      "style=\"height:120px\"></canvas>\n"
      "<p class=\"key\"><span>tasks have colours by name</span>";
  for (std::size_t i = 1; i < k_colours.size(); ++i)
    body += fmt::format("<span><i style=\"background:{}\"></i>{}</span>", k_colours[i], k_words[i]);
  const bool has_calls = std::ranges::any_of(t.tracks, [](const track& one) { return !one.calls.empty(); });
  if (has_calls) body += "<span><i style=\"background:#117733\"></i>green below: in a call</span>";
  body += "<span>black below: regions; violet lines: marks; red above: taken by the kernel</span></p>\n";
  if (is_coarse)
    body += fmt::format(
        "<p>Of {} slices each of {} parts of the time shows what took most of it; the whole trace is in its "
        "folder.</p>\n",
        slices, k_time_parts);
  if (every > 1) body += fmt::format("<p>One of {} messages is drawn.</p>\n", every);
  if (!t.stacks.empty())
    body +=
        "<h2>Where the processor time was spent</h2>\n<p>Samples of the workers' stacks. Click a box: it becomes as "
        "wide "
        "as the page; click the lowest one: all.</p>\n<canvas id=\"flame\"></canvas><p class=\"tip\" "
        "id=\"flame_tip\"></p>\n";
  else
    body += "<p>With <code>shoal trace --samples</code> a flame graph of the functions would be here.</p>\n";
  body += "<h2>Figures</h2><pre style=\"max-height:none\">" + escaped_html(timeline_text(t)) + "</pre>\n";
  return to_html({t.program.empty() ? std::string("shoal trace") : t.program, body, data,
                  std::string(k_timeline_page_script) + "</script><script>" + std::string(k_flame_script)});
}

}  // namespace shoal::trace
