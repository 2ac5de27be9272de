// SPDX-License-Identifier: Apache-2.0
// Checkpoints: saved by jobs of all shapes, also apart from the program; restored on other numbers of nodes; what does
// not fit, damage at every place, a full disk, no memory for copies.
#include "shoal/checkpoint.hpp"

#include <sys/mount.h>
#include <sys/resource.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <string>
#include <vector>

#include "bench/micro/checkpoint.hpp"
#include "tests/cluster/cluster.hpp"
#include "tests/cluster/folder.hpp"

namespace {

namespace fs = std::filesystem;
using shoal::errc;
using shoal::test::folder;

std::uint64_t value_of(std::uint64_t i, std::uint64_t round) { return (i + 1) * 0x9e3779b97f4a7c15U + round; }

void set_all(const shoal::array_ref<std::uint64_t>& a, std::uint64_t round) {
  shoal::parallel_for(shoal::owners_of(a), a.size(),
                      [a, round](std::uint64_t i) { a.async_put(i, value_of(i, round)); });
}
std::uint64_t wrong_in(const shoal::array_ref<std::uint64_t>& a, std::uint64_t round) {
  return shoal::parallel_reduce(
      shoal::owners_of(a), a.size(), std::uint64_t{0},
      [a, round](std::uint64_t i) { return a.get(i) == value_of(i, round) ? 0U : 1U; }, std::plus<>());
}

template <class F>
std::string refusal(errc code, F&& f) {
  try {
    f();
  } catch (const shoal::error& e) {
    EXPECT_EQ(e.code(), code) << e.what();
    return e.what();
  }
  return "nothing was refused";
}
bool has(const std::string& text, const std::string& part) { return text.find(part) != text.npos; }

std::string read(const std::string& path) {
  std::ifstream in(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(in), {}};
}
void write(const std::string& path, const std::string& text) { std::ofstream(path, std::ios::binary) << text; }

// Two arrays and a variable, as a program has them.
struct program {
  shoal::global_array<std::uint64_t> large;
  shoal::global_array<std::uint64_t> small;
  std::uint64_t round = 0;
  shoal::checkpoint saved;

  explicit program(const std::string& path, std::uint64_t size = 600'007,
                   const shoal::distribution_plan& plan = shoal::distribution::partition, unsigned keep = 2)
      : large(size, plan), small(100, shoal::distribution::cyclic), saved(path, {.keep = keep}) {
    saved.add("large", large);
    saved.add("small", small, {10, 10});
    saved.add("round", round);
  }
  void begin_round(std::uint64_t r) {
    round = r;
    set_all(large, r);
    set_all(small, r + 1);
  }
  bool is_right() const { return wrong_in(large, round) == 0 && wrong_in(small, round + 1) == 0; }
  std::uint64_t restore(bool older = false) {
    begin_round(99);  // what is there is overwritten
    return saved.restore({.always = true, .older_if_damaged = older}).value_or(0);
  }
};

class checkpoints : public shoal::test::cluster {
protected:
  folder here_;
};
SHOAL_CLUSTER_TESTS(checkpoints);

TEST_P(checkpoints, the_newest_is_restored_and_older_ones_go) {
  run([this] {
    const std::string path = here_ / "c";
    program p(path);
    EXPECT_EQ(p.restore(), 0U);
    for (std::uint64_t r = 1; r <= 3; ++r) {
      p.begin_round(r);
      EXPECT_EQ(p.saved.save(), r);
    }
    EXPECT_FALSE(fs::exists(path + "/1") || fs::exists(path + "/1.manifest"));
    EXPECT_TRUE(fs::exists(path + "/2.manifest"));
    EXPECT_EQ(p.restore(), 3U);
    EXPECT_EQ(p.round, 3U);
    EXPECT_TRUE(p.is_right());
  });
}

TEST_P(checkpoints, a_copy_is_written_while_the_program_goes_on) {
  run([this] {
    for (const auto& plan : {shoal::distribution_plan(shoal::distribution::partition),
                             shoal::distribution_plan(shoal::distribution::cyclic)}) {
      program p(here_ / "c", 1'100'000, plan);
      p.begin_round(1);
      const std::uint64_t first = p.saved.async_save();
      EXPECT_TRUE(p.saved.copied());
      p.begin_round(2);  // while it is written
      const std::uint64_t second = p.saved.async_save();
      EXPECT_EQ(second, first + 1);
      p.begin_round(3);
      EXPECT_EQ(p.restore(), second);  // waits
      EXPECT_EQ(p.round, 2U);
      EXPECT_TRUE(p.is_right());
    }
  });
}

TEST_P(checkpoints, what_does_not_fit_names_both) {
  run([this] {
    const std::string path = here_ / "c";
    {
      program p(path);
      p.begin_round(1);
      p.saved.save();
    }
    const auto with = [&](auto&& add) {
      shoal::checkpoint c(path);
      add(c);
      return refusal(errc::mismatch, [&] { c.restore({.always = true}); });
    };
    const shoal::global_array<std::int32_t> ints(600'007);
    const shoal::global_array<std::uint64_t> large(600'007), longer(600'008), small(100);
    std::uint64_t round = 5;
    float fraction = 0;
    EXPECT_TRUE(
        has(with([&](auto& c) { c.add("large", ints); }), "'large' with elements of type u8, and the program with i4"));
    EXPECT_TRUE(has(with([&](auto& c) { c.add("large", longer); }),
                    "'large' with 600007 elements, and the program with 600008"));
    EXPECT_TRUE(has(with([&](auto& c) {
                      c.add("small", small, {4, 25});
                    }),
                    "with 10x10 elements, and the program with 4x25"));
    EXPECT_TRUE(has(with([&](auto& c) { c.add("other", small); }), "no array 'other', which the program names"));
    const auto arrays = [&](auto& c) {
      c.add("large", large);
      c.add("small", small, {10, 10});
    };
    EXPECT_TRUE(has(with(arrays), "has value 'round', which the program does not name"));
    EXPECT_TRUE(has(with([&](auto& c) {
                      arrays(c);
                      c.add("round", fraction);
                    }),
                    "'round' of type u8, and the program of f4"));
    EXPECT_TRUE(has(with([&](auto& c) {
                      c.add("large", large);
                      c.add("round", round);
                    }),
                    "'small', which the program does not"));
    EXPECT_EQ(round, 5U);
  });
}

TEST_P(checkpoints, damage_is_located_and_refused_or_an_older_one_is_taken) {
  run([this] {
    const std::string path = here_ / "c";
    program p(path);
    for (std::uint64_t r = 1; r <= 2; ++r) {
      p.begin_round(r);
      p.saved.save();
    }
    const auto damaged = [&](const std::string& file, const auto& change, const std::string& said) {
      const std::string whole = read(file);
      std::string other = whole;
      change(other);
      write(file, other);
      const std::string why = refusal(errc::bad_input, [&] { p.restore(); });
      EXPECT_TRUE(has(why, "checkpoint 2 in " + path + " is damaged: " + file) && has(why, said)) << why;
      EXPECT_EQ(p.restore(true), 1U) << file;
      EXPECT_EQ(p.round, 1U);
      EXPECT_TRUE(p.is_right());
      write(file, whole);
      EXPECT_EQ(p.restore(), 2U);
    };
    const std::string manifest = path + "/2.manifest", large = path + "/2/large.shoal", small = path + "/2/small.shoal";
    damaged(
        manifest, [](std::string& t) { t[t.size() / 2] ^= 1; }, "checksum differs");
    damaged(
        manifest, [](std::string& t) { t.resize(t.size() - 3); }, "truncated");
    damaged(
        manifest, [](std::string& t) { t.clear(); }, "is not the manifest");
    damaged(
        manifest, [&](std::string& t) { t = read(path + "/1.manifest"); }, "is that of checkpoint 1");
    damaged(
        large, [](std::string& t) { t[40] ^= 1; }, "corrupt in its header");
    damaged(
        large, [](std::string& t) { t[4096 + 5] ^= 1; }, "corrupt in block 0 of 2 (bytes 4096 to");
    damaged(
        large, [](std::string& t) { t[4096 + 4'500'000] ^= 1; }, "corrupt in block 1 of 2");
    damaged(
        large, [](std::string& t) { t[t.size() - 1] ^= 1; }, "corrupt in block 1 of 2");
    damaged(
        large, [](std::string& t) { t.resize(t.size() - 100); }, "truncated");
    damaged(
        small, [&](std::string& t) { t = read(path + "/1/small.shoal"); }, "another one");
    fs::rename(large, large + "x");
    EXPECT_TRUE(has(refusal(errc::bad_input, [&] { p.restore(); }), large));
    EXPECT_EQ(p.restore(true), 1U);
    write(path + "/1.manifest", "shoal");
    EXPECT_TRUE(has(refusal(errc::bad_input, [&] { p.restore(true); }), "checkpoint 2 in"));
  });
}

// --- one job of one shape -------------------------------------------------------------------------------------------

class checkpoint_folders : public shoal::test::cluster {
protected:
  folder here_;
};
INSTANTIATE_TEST_SUITE_P(one, checkpoint_folders, testing::Values(shoal::test::job_shape{2, 1, false}),
                         shoal::test::name_of);

TEST_P(checkpoint_folders, a_job_that_is_no_restart_begins_anew) {
  const std::string path = here_ / "c";
  run([&] {
    program p(path);
    p.begin_round(1);
    p.saved.save();
    EXPECT_FALSE(shoal::is_restart());
    EXPECT_FALSE(p.saved.restore().has_value());
    EXPECT_EQ(p.round, 1U);
  });
  auto c = config();
  c.restart = true;
  shoal::runtime::run_in_process(c, [&] {
    program p(path);
    EXPECT_TRUE(shoal::is_restart());
    EXPECT_EQ(p.saved.restore().value_or(0), 1U);
    EXPECT_TRUE(p.is_right());
    EXPECT_EQ(p.saved.save(), 2U);
    return 0;
  });
}

TEST_P(checkpoint_folders, names_and_second_users_are_refused) {
  run([this] {
    program p(here_ / "c");
    p.saved.save();
    for (const char* name : {"", ".x", "a/b", "a b", "large", "round"})
      refusal(errc::invalid_argument, [&] { p.saved.add(name, p.large); });
    shoal::checkpoint other(here_ / "c");
    EXPECT_TRUE(has(refusal(errc::exhausted, [&] { other.save(); }), "uses this folder"));
    EXPECT_TRUE(has(refusal(errc::exhausted, [&] { other.restore(); }), "uses this folder"));
    write(here_ / "f", "a file");
    shoal::checkpoint nowhere(here_ / "f");
    EXPECT_TRUE(has(refusal(errc::system, [&] { nowhere.save(); }), here_ / "f"));
  });
}

TEST_P(checkpoint_folders, what_was_never_finished_is_removed) {
  run([this] {
    const std::string path = here_ / "c";
    program p(path);
    p.begin_round(1);
    p.saved.save();
    fs::create_directory(path + "/2");
    write(path + "/2/large.shoal", "begun");
    write(path + "/3.manifest.tmp", "begun");
    EXPECT_EQ(p.restore(), 1U);
    EXPECT_EQ(p.saved.save(), 4U);
    EXPECT_FALSE(fs::exists(path + "/2") || fs::exists(path + "/3.manifest.tmp"));
  });
}

// The first failure is that of an array's file, the second one of the manifest.
TEST_P(checkpoint_folders, a_failed_save_leaves_the_one_before) {
  run([this] {
    const std::string path = here_ / "c";
    program p(path);
    p.begin_round(1);
    p.saved.save();
    p.begin_round(2);
    p.saved.async_save();
    fs::create_directories(path + "/4.manifest.tmp/in/the/way");
    refusal(errc::system, [&] { p.saved.save(); });
    fs::remove_all(path + "/4.manifest.tmp");
    EXPECT_EQ(p.restore(), 2U);
    EXPECT_TRUE(p.is_right());
  });
}

TEST_P(checkpoint_folders, a_full_disk_is_an_error_and_the_old_one_stays) {
  const std::string path = here_ / "disk";
  fs::create_directory(path);
  if (::mount("tmpfs", path.c_str(), "tmpfs", 0, "size=12m") != 0)
    GTEST_SKIP() << "a small file system cannot be mounted here: " << std::strerror(errno);
  run([&] {
    program p(path + "/c", 900'000, shoal::distribution::partition, 1);  // 7.2 MB
    p.begin_round(1);
    p.saved.save();
    p.begin_round(2);
    const std::string why = refusal(errc::system, [&] { p.saved.save(); });
    EXPECT_TRUE(has(why, "checkpoint 2 in " + path) && has(why, "the disk is full") && has(why, "earlier ones stay"))
        << why;
    p.saved.async_save();
    EXPECT_TRUE(has(refusal(errc::system, [&] { p.saved.wait(); }), "the disk is full"));
    EXPECT_FALSE(fs::exists(path + "/c/2") || fs::exists(path + "/c/3"));
    EXPECT_EQ(p.restore(), 1U);
    EXPECT_TRUE(p.is_right());
  });
  EXPECT_EQ(::umount(path.c_str()), 0);
}

TEST_P(checkpoint_folders, without_memory_for_copies_all_is_written_at_once) {
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
  GTEST_SKIP() << "sanitizers reserve address space, which this test limits";
#endif
  run([this] {
    program p(here_ / "c", 40'000'000);  // 160 MB on each node
    p.begin_round(1);
    std::ifstream statm("/proc/self/statm");
    rlim_t pages = 0;
    statm >> pages;
    rlimit before{};
    ASSERT_EQ(::getrlimit(RLIMIT_AS, &before), 0);
    const rlimit small{pages * static_cast<rlim_t>(::getpagesize()) + (rlim_t{120} << 20), before.rlim_max};
    ASSERT_EQ(::setrlimit(RLIMIT_AS, &small), 0);
    const std::uint64_t number = p.saved.async_save();
    EXPECT_EQ(::setrlimit(RLIMIT_AS, &before), 0);
    EXPECT_FALSE(p.saved.copied());
    p.begin_round(2);
    EXPECT_EQ(p.restore(), number);
    EXPECT_TRUE(p.is_right());
  });
}

TEST_P(checkpoint_folders, the_benchmark_restores_what_it_saved) {
  run([this] {
    const auto t = shoal::bench::measure_checkpoint(here_ / ".", 5'000'000);
    EXPECT_TRUE(t.right);
    EXPECT_GT(t.plain_s, 0);
    EXPECT_GE(t.async_s, t.pause_s);
  });
  EXPECT_EQ(here_.count(), 0U);
}

TEST(checkpoints_of_jobs, what_many_nodes_saved_few_restore_and_the_reverse) {
  const folder here;
  const auto job = [&](unsigned nodes, std::uint64_t round, const shoal::distribution_plan& plan) {
    auto c = shoal::runtime::read_config(shoal::runtime::all_settings());
    c.nodes = nodes;
    c.workers = 1;
    c.direct = nodes % 2 == 0;
    c.pin = false;
    c.restart = true;
    c.segment_bytes = std::uint64_t{1} << 30;
    shoal::runtime::run_in_process(c, [&] {
      program p(here / "c", 1'300'000, plan);
      const auto found = p.saved.restore();
      EXPECT_EQ(found.value_or(0), round - 1);
      if (found) {
        EXPECT_EQ(p.round, round - 1);
        EXPECT_TRUE(p.is_right()) << nodes;
      }
      p.begin_round(round);
      p.saved.save();
      return 0;
    });
  };
  job(4, 1, shoal::distribution::partition);
  job(1, 2, shoal::distribution::cyclic);
  job(3, 3, shoal::block_cyclic(1000));
  job(5, 4, shoal::distribution::local);
  job(16, 5, shoal::distribution::partition);
  job(2, 6, shoal::distribution::cyclic);
}

}  // namespace
