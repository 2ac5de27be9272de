// SPDX-License-Identifier: Apache-2.0
// A random program of blocks (sequences, forks, loops, choices, parts that are added during the run, graphs in graphs),
// as a task_graph and for a serial interpreter. Each task mixes its number into a value, so that the result shows which
// tasks have run, how often, and in which order. Tasks also use random objects, which finds out overlaps.
// Who may call: a task. Guarantees: the same seed makes the same program. The values are not atomic, so that
// ThreadSanitizer sees a task that comes too early even if the result is right.
#pragma once

#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <vector>

#include "shoal/random.hpp"
#include "shoal/sync.hpp"
#include "shoal/task_graph.hpp"

namespace shoal::sched {

class branching_program {
public:
  branching_program(std::uint64_t seed, unsigned blocks) : random_(seed), left_(blocks) {
    whole_ = make(kind::sequence, 0);
    emit(graph_, *whole_, value_, true);
  }

  /// Runs the graph once; whether the result is the interpreter's.
  bool runs_well() {
    value_ = 1;
    graph_.run();
    std::uint64_t expected = 1;
    interpret(*whole_, expected);
    return value_ == expected && overlaps_.load() == 0;
  }
  std::size_t size() const { return graph_.size(); }

private:
  enum class kind { task, sequence, fork, loop, choice, part, module };
  static constexpr unsigned k_deepest = 4;
  static constexpr std::size_t k_objects = 3;

  // Where the n-th execution of a loop or a choice goes.
  struct script {
    std::vector<unsigned> turns;
    std::size_t next = 0;
    unsigned take() { return turns[next++ % turns.size()]; }
  };
  struct block {
    kind what = kind::task;
    std::uint64_t number = 0;
    unsigned yields = 0;
    priority rank = priority::normal;
    std::vector<std::size_t> objects;
    std::vector<std::unique_ptr<block>> parts;
    std::vector<std::uint64_t> values;  // of the parts of a fork
    script of_run;
    script of_interpreter;
    unsigned rounds_left = 0;  // of a loop
    std::unique_ptr<task_graph> module;
  };
  struct ends {
    task_graph::handle first;
    task_graph::handle last;
  };

  static std::uint64_t mixed(std::uint64_t value, std::uint64_t number) {
    value = (value ^ number) * 0x9e3779b97f4a7c15U;
    return value ^ (value >> 29U);
  }

  std::unique_ptr<block> make(kind what, unsigned depth) {
    auto b = std::make_unique<block>();
    b->what = what;
    b->number = ++numbers_;
    if (left_ > 0) --left_;
    b->yields = random_.below(6) == 0 ? 1 + static_cast<unsigned>(random_.below(3)) : 0;
    b->rank = random_.below(3) == 0 ? static_cast<priority>(random_.below(4)) : priority::normal;
    for (std::size_t o = 0; o < k_objects; ++o)
      if (random_.below(4) == 0) b->objects.push_back(o);
    for (unsigned i = 0; i < 3; ++i) b->of_run.turns.push_back(static_cast<unsigned>(random_.below(4)));
    const std::size_t parts = what == kind::task       ? 0
                              : what == kind::sequence ? (depth == 0 ? 6 : 1 + random_.below(4))
                              : what == kind::fork     ? 1 + random_.below(5)
                              : what == kind::choice   ? 3
                                                       : 1;
    for (std::size_t i = 0; i < parts; ++i) b->parts.push_back(make(draw(depth), depth + 1));
    for (unsigned& turn : b->of_run.turns) turn %= what == kind::choice ? static_cast<unsigned>(parts) + 1 : 4;
    b->of_interpreter = b->of_run;
    b->values.resize(parts);
    return b;
  }
  kind draw(unsigned depth) {
    if (left_ == 0 || depth >= k_deepest) return kind::task;
    return static_cast<kind>(random_.below(7));
  }

  // What a task of the program does.
  auto body(block& b, std::uint64_t& value, bool top) {
    return [this, &b, &value, top] {
      if (top)
        for (const std::size_t o : b.objects)
          if (inside_[o].exchange(b.number) != 0) ++overlaps_;
      for (unsigned i = 0; i < b.yields; ++i) yield();
      value = mixed(value, b.number);
      if (top)
        for (const std::size_t o : b.objects) inside_[o].store(0);
    };
  }
  void dress(const task_graph::handle& h, const block& b, bool top) {
    if (b.rank != priority::normal) h.set_priority(b.rank);
    if (top)
      for (const std::size_t o : b.objects) h.uses(inside_[o]);
  }

  ends emit(task_graph& g, block& b, std::uint64_t& value, bool top) {
    switch (b.what) {
      case kind::task: {
        auto h = g.add(body(b, value, top));
        dress(h, b, top);
        return {h, h};
      }
      case kind::sequence: {
        ends all;
        for (std::size_t i = 0; i < b.parts.size(); ++i) {
          const ends part = emit(g, *b.parts[i], value, top);
          if (i == 0)
            all.first = part.first;
          else
            all.last.precedes(part.first);
          all.last = part.last;
        }
        return all;
      }
      case kind::fork: {
        auto fork = g.add([&b, &value] {
          for (std::size_t i = 0; i < b.values.size(); ++i) b.values[i] = value + i;
        });
        auto join = g.add([&b, &value] {
          for (const std::uint64_t v : b.values) value = mixed(value, v);
        });
        for (std::size_t i = 0; i < b.parts.size(); ++i) {
          const ends part = emit(g, *b.parts[i], b.values[i], top);
          fork.precedes(part.first);
          part.last.precedes(join);
        }
        return {fork, join};
      }
      case kind::loop: {
        auto begin = g.add([&b] { b.rounds_left = b.of_run.take(); });
        const ends part = emit(g, *b.parts[0], value, top);
        auto again = g.add_condition([&b, &value] {
          value = mixed(value, b.number);
          return b.rounds_left-- > 0;
        });
        auto end = g.add(body(b, value, top));
        dress(end, b, top);
        begin.precedes(part.first);
        part.last.precedes(again);
        again.chooses(end, part.first);
        return {begin, end};
      }
      case kind::choice: {
        auto which = g.add_condition([&b] { return b.of_run.take(); });
        auto end = g.add(body(b, value, top));
        dress(end, b, top);
        for (const auto& p : b.parts) {
          const ends part = emit(g, *p, value, top);
          which.chooses(part.first);
          auto out = g.add_condition([] { return 0; });
          part.last.precedes(out);
          out.chooses(end);
        }
        which.chooses(end);
        return {which, end};
      }
      case kind::part: {
        auto h = g.add([this, &b, &value](task_graph& part) { emit(part, *b.parts[0], value, false); });
        dress(h, b, false);
        return {h, h};
      }
      default: {
        if (b.module == nullptr) {
          b.module = std::make_unique<task_graph>();
          emit(*b.module, *b.parts[0], value, false);
        }
        auto h = g.add(*b.module);
        return {h, h};
      }
    }
  }

  static void interpret(block& b, std::uint64_t& value) {
    switch (b.what) {
      case kind::task: value = mixed(value, b.number); return;
      case kind::fork: {
        std::vector<std::uint64_t> values;
        for (std::size_t i = 0; i < b.parts.size(); ++i) values.push_back(value + i);
        for (std::size_t i = 0; i < b.parts.size(); ++i) interpret(*b.parts[i], values[i]);
        for (const std::uint64_t v : values) value = mixed(value, v);
        return;
      }
      case kind::loop: {
        for (unsigned n = b.of_interpreter.take() + 1; n > 0; --n) {
          interpret(*b.parts[0], value);
          value = mixed(value, b.number);
        }
        value = mixed(value, b.number);
        return;
      }
      case kind::choice: {
        const unsigned turn = b.of_interpreter.take();
        if (turn < b.parts.size()) interpret(*b.parts[turn], value);
        value = mixed(value, b.number);
        return;
      }
      default:
        for (const auto& p : b.parts) interpret(*p, value);
    }
  }

  xoshiro256ss random_;
  unsigned left_;
  std::uint64_t numbers_ = 0;
  std::uint64_t value_ = 0;
  std::array<std::atomic<std::uint64_t>, k_objects> inside_{};  // the task that uses it; its address is the object
  std::atomic<unsigned> overlaps_{0};
  std::unique_ptr<block> whole_;
  task_graph graph_;
};

}  // namespace shoal::sched
