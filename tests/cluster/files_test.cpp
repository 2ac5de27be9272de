// SPDX-License-Identifier: Apache-2.0
// Arrays in files: saved by jobs of all shapes, loaded by others; what is wrong with a file; numpy's readers and writers.
#include "shoal/files.hpp"

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <string>
#include <vector>

#include "files/part.hpp"
#include "machine/file.hpp"
#include "tests/cluster/cluster.hpp"
#include "tests/cluster/folder.hpp"

namespace {

namespace fs = std::filesystem;
using shoal::errc;
using shoal::file_format;
using shoal::test::folder;

std::uint64_t value_of(std::uint64_t i) { return i * 0x9e3779b97f4a7c15U + 7; }

template <class T>
void set_all(const shoal::global_array<T>& a) {
  shoal::parallel_for(shoal::owners_of(a), a.size(),
                      [r = a.ref()](std::uint64_t i) { r.async_put(i, static_cast<T>(value_of(i))); });
}
template <class T>
std::uint64_t wrong_in(const shoal::global_array<T>& a) {
  return shoal::parallel_reduce(
      shoal::owners_of(a), a.size(), std::uint64_t{0},
      [r = a.ref()](std::uint64_t i) { return r.get(i) == static_cast<T>(value_of(i)) ? 0U : 1U; }, std::plus<>());
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

void change_byte(const std::string& path, std::uint64_t at) {
  std::fstream f(path, std::ios::in | std::ios::out | std::ios::binary);
  f.seekg(static_cast<std::streamoff>(at));
  const int old = f.get();
  f.seekp(static_cast<std::streamoff>(at));
  f.put(static_cast<char>(old ^ 1));
}

class array_files : public shoal::test::cluster {
protected:
  folder here_;
};
SHOAL_CLUSTER_TESTS(array_files);

TEST_P(array_files, any_distribution_is_saved_and_loaded_as_any_other) {
  static constexpr std::uint64_t k_size = 1'200'007;  // 9.2 MiB: blocks that end on other nodes
  run([this] {
    const std::vector<shoal::distribution_plan> plans{shoal::distribution::partition, shoal::distribution::cyclic,
                                                      shoal::block_cyclic(1000), shoal::distribution::local,
                                                      shoal::blocks_at({0, 10, k_size})};
    for (std::size_t k = 0; k < plans.size(); ++k) {
      if (k + 1 == plans.size() && nodes() < 2) continue;
      shoal::global_array<std::uint64_t> a(k_size, plans[k]);
      set_all(a);
      const std::string path = here_ / "a.shoal";
      shoal::save(path, a);
      const auto b = shoal::load<std::uint64_t>(path, plans[(k + 1) % (nodes() < 2 ? 4 : plans.size())]);
      EXPECT_EQ(b.size(), k_size);
      EXPECT_EQ(wrong_in(b), 0U) << k;
    }
    EXPECT_EQ(here_.count(), 1U);
  });
}

TEST_P(array_files, all_formats_and_types) {
  run([this] {
    for (const char* name : {"a.shoal", "a.npy", "a.raw"}) {
      shoal::global_array<std::int16_t> shorts(1001);
      set_all(shorts);
      shoal::save(here_ / name, shorts);
      EXPECT_EQ(wrong_in(shoal::load<std::int16_t>(here_ / name)), 0U);
      shoal::global_array<float> floats(1001, shoal::distribution::cyclic);
      set_all(floats);
      shoal::save(here_ / name, floats);
      EXPECT_EQ(wrong_in(shoal::load<float>(here_ / name)), 0U);
      shoal::global_array<float> again(1001);
      shoal::load(here_ / name, again);
      EXPECT_EQ(wrong_in(again), 0U);

      struct point {
        double x;
        int y;
        char z[3];
      };
      shoal::global_array<point> points(50);
      for (std::uint64_t i = 0; i < 50; ++i) points->put(i, {0.5 * static_cast<double>(i), static_cast<int>(i), "ab"});
      shoal::save(here_ / name, points);
      const auto loaded = shoal::load<point>(here_ / name);
      EXPECT_EQ(loaded->get(49).y, 49);
      EXPECT_EQ(loaded->get(49).x, 24.5);

      shoal::save(here_ / name, shoal::global_array<int>(0));
      EXPECT_EQ(shoal::load<int>(here_ / name).size(), 0U);
    }
  });
}

TEST_P(array_files, damage_is_located) {
  run([this] {
    const std::string path = here_ / "a.shoal";
    shoal::global_array<std::uint64_t> a(1'500'000);
    set_all(a);
    shoal::save(path, a);
    change_byte(path, 4096 + (std::uint64_t{5} << 20));
    const std::string said = refusal(errc::bad_input, [&] { shoal::load(path, a); });
    EXPECT_NE(said.find(path + " is corrupt in block 1 of 3 (bytes 4198400 to 8392703"), said.npos) << said;
    change_byte(path, 4096 + (std::uint64_t{5} << 20));
    shoal::load(path, a);
    change_byte(path, fs::file_size(path) - 1);  // of the last checksum
    const std::string last = refusal(errc::bad_input, [&] { shoal::load<std::uint64_t>(path); });
    EXPECT_NE(last.find("in block 2 of 3"), last.npos) << last;
    fs::resize_file(path, fs::file_size(path) - 1);
    EXPECT_NE(refusal(errc::bad_input, [&] { shoal::load(path, a); }).find("truncated"), std::string::npos);
  });
}

TEST_P(array_files, what_does_not_fit_is_refused) {
  run([this] {
    shoal::global_array<double> a(100);
    shoal::save(here_ / "a.npy", a);
    EXPECT_NE(refusal(errc::mismatch, [&] { shoal::load<float>(here_ / "a.npy"); }).find("type f8, and the array f4"),
              std::string::npos);
    shoal::global_array<double> longer(101);
    EXPECT_NE(refusal(errc::mismatch, [&] { shoal::load(here_ / "a.npy", longer); }).find("100 elements"),
              std::string::npos);
    EXPECT_NE(refusal(errc::not_found, [&] { shoal::load<double>(here_ / "b.npy"); }).find("b.npy"), std::string::npos);
    EXPECT_NE(refusal(errc::bad_input,
                      [&] { shoal::load<double>(here_ / "a.npy", shoal::distribution::partition, file_format::shoal); })
                  .find("not a .shoal"),
              std::string::npos);
    refusal(errc::invalid_argument, [&] { shoal::save(here_ / "a.dat", a); });
    EXPECT_NE(refusal(errc::not_found, [&] { shoal::save(here_ / "none/a.npy", a); }).find("none"), std::string::npos);
    std::ofstream(here_ / "a.raw") << "12345";
    EXPECT_NE(refusal(errc::bad_input, [&] { shoal::load<double>(here_ / "a.raw"); }).find("multiple"),
              std::string::npos);
    EXPECT_EQ(here_.count(), 2U);
  });
}

TEST_P(array_files, a_failed_save_leaves_the_old_file) {
  run([this] {
    shoal::global_array<std::uint64_t> a(1000);
    set_all(a);
    shoal::save(here_ / "a.shoal", a);
    fs::create_directory(here_ / "a.shoal.tmp");  // where the new one would be written
    refusal(errc::system, [&] { shoal::save(here_ / "a.shoal", a); });
    EXPECT_EQ(wrong_in(shoal::load<std::uint64_t>(here_ / "a.shoal")), 0U);
  });
}

TEST_P(array_files, of_two_saves_to_a_path_one_may_be_refused_and_the_file_is_whole) {
  run([this] {
    const std::string path = here_ / "a.shoal";
    shoal::global_array<std::uint64_t> a(600'007);
    set_all(a);
    {
      shoal::machine::file other(path + ".tmp", shoal::machine::file::purpose::make);
      EXPECT_TRUE(other.try_lock());
      const std::string said = refusal(errc::exhausted, [&] { shoal::save(path, a); });
      EXPECT_NE(said.find("another task or job is saving to this path"), said.npos) << said;
      EXPECT_TRUE(fs::exists(path + ".tmp"));
    }
    std::vector<shoal::future<bool>> saves;
    for (int k = 0; k < 4; ++k)
      saves.push_back(shoal::async([&] {
        try {
          shoal::save(path, a, {.sync = false});
          return true;
        } catch (const shoal::error& e) {
          EXPECT_EQ(e.code(), errc::exhausted) << e.what();
          return false;
        }
      }));
    int done = 0;
    for (auto& s : saves) done += s.get() ? 1 : 0;
    EXPECT_GE(done, 1);
    EXPECT_EQ(wrong_in(shoal::load<std::uint64_t>(path)), 0U);
    EXPECT_EQ(here_.count(), 1U);
  });
}

TEST_P(array_files, a_node_that_does_not_see_the_file_makes_none) {
  run([this] {
    shoal::global_array<std::uint64_t> a(1000);
    const std::string path = here_ / "a.shoal";
    const shoal::files::part p{a->layout(),
                               shoal::files::plan_file(path, shoal::file_type_of<std::uint64_t>(), 1000, {})};
    const std::string none = refusal(errc::not_found, [&] { shoal::files::write_part(path, p, true); });
    EXPECT_NE(none.find("all nodes must share the folder"), none.npos) << none;
    EXPECT_FALSE(fs::exists(path));
    std::ofstream(path) << "of another run";
    const std::string other = refusal(errc::mismatch, [&] { shoal::files::write_part(path, p, true); });
    EXPECT_NE(other.find("a file of 14 bytes"), other.npos) << other;
  });
}

TEST_P(array_files, a_file_says_what_it_holds) {
  run([this] {
    shoal::global_array<float> a(12);
    shoal::save(here_ / "a.npy", a, {.shape = {3, 4}});
    const auto info = shoal::describe_file(here_ / "a.npy");
    EXPECT_EQ(info.type.name(), "f4");
    EXPECT_EQ(info.size, 12U);
    EXPECT_EQ(info.shape, (std::vector<std::uint64_t>{3, 4}));
    EXPECT_TRUE(info.format == file_format::npy);
  });
}

// --- one job of one shape -------------------------------------------------------------------------------------------

class with_numpy : public shoal::test::cluster {
protected:
  void SetUp() override {
    for (const char* name : {"python3", "/usr/bin/python3"})  // the distribution's may not be the first one
      if (python_.empty() && std::system((name + std::string(" -c 'import numpy' >/dev/null 2>&1")).c_str()) == 0)
        python_ = name;
    if (python_.empty()) GTEST_SKIP() << "there is no numpy (Debian: python3-numpy)";
  }
  bool python(const std::string& program) const {
    std::ofstream(here_ / "p.py") << "import numpy as np\n" << program;
    return std::system(("cd " + here_ / "." + " && " + python_ + " p.py").c_str()) == 0;
  }
  folder here_;

private:
  std::string python_;
};
INSTANTIATE_TEST_SUITE_P(one, with_numpy, testing::Values(shoal::test::job_shape{3, 2, false}), shoal::test::name_of);

TEST_P(with_numpy, numpy_opens_what_was_saved) {
  run([this] {
    shoal::global_array<double> d(1000, shoal::distribution::cyclic);
    shoal::parallel_for(shoal::everywhere, 1000,
                        [r = d.ref()](std::uint64_t i) { r.async_put(i, 0.25 * static_cast<double>(i)); });
    shoal::save(here_ / "d.npy", d, {.shape = {20, 50}});
    shoal::global_array<std::uint8_t> u(7);
    u->fill(3);
    shoal::save(here_ / "u.npy", u);
    shoal::global_array<std::int64_t> e(0);
    shoal::save(here_ / "e.npy", e);
    shoal::global_array<bool> b(3);
    b->put(1, true);
    shoal::save(here_ / "b.npy", b);
  });
  EXPECT_TRUE(
      python("d = np.load('d.npy'); assert d.dtype == np.float64 and d.shape == (20, 50), (d.dtype, d.shape)\n"
             "assert (d == 0.25 * np.arange(1000).reshape(20, 50)).all()\n"
             "u = np.load('u.npy', mmap_mode='r'); assert u.dtype == np.uint8 and u.tolist() == [3] * 7\n"
             "e = np.load('e.npy'); assert e.dtype == np.int64 and e.shape == (0,)\n"
             "assert np.load('b.npy').tolist() == [False, True, False]\n"));
}

TEST_P(with_numpy, what_numpy_saved_is_loaded) {
  ASSERT_TRUE(
      python("np.save('i.npy', np.arange(-500, 500, dtype=np.int32).reshape(10, 100))\n"
             "np.save('f.npy', np.linspace(0, 1, 11, dtype=np.float32))\n"
             "np.save('big.npy', np.arange(3, dtype='>f8'))\n"
             "np.save('order.npy', np.asfortranarray(np.ones((3, 4))))\n"
             "np.save('fields.npy', np.zeros(3, dtype=[('a', 'i4'), ('b', 'f8')]))\n"
             "np.save('objects.npy', np.array([None, 'x'], dtype=object))\n"));
  run([this] {
    const auto i = shoal::load<std::int32_t>(here_ / "i.npy", shoal::distribution::cyclic);
    EXPECT_EQ(i.size(), 1000U);
    EXPECT_EQ(i->get(0), -500);
    EXPECT_EQ(i->get(999), 499);
    const auto f = shoal::load<float>(here_ / "f.npy");
    EXPECT_EQ(f->get(10), 1.0F);
    EXPECT_EQ(f->get(5), 0.5F);
    for (const char* name : {"big.npy", "order.npy", "fields.npy", "objects.npy"})
      EXPECT_TRUE(refusal(errc::bad_input, [&] { shoal::load<double>(here_ / name); }).starts_with(here_ / name));
  });
}

TEST(array_files_of_jobs, what_many_nodes_saved_few_load_and_the_reverse) {
  const folder here;
  const auto job = [](unsigned nodes, const auto& body) {
    auto c = shoal::runtime::read_config(shoal::runtime::all_settings());
    c.nodes = nodes;
    c.workers = 1;
    c.direct = nodes % 2 == 0;
    c.pin = false;
    c.segment_bytes = std::uint64_t{1} << 30;
    shoal::runtime::run_in_process(c, [&] { return body(), 0; });
  };
  const auto save = [&] {
    shoal::global_array<std::uint64_t> a(2'000'000);
    set_all(a);
    shoal::save(here / "a.shoal", a);
  };
  const auto load = [&] { EXPECT_EQ(wrong_in(shoal::load<std::uint64_t>(here / "a.shoal")), 0U); };
  job(4, save);
  job(1, load);
  job(3, load);
  job(1, save);
  job(5, load);
}

}  // namespace
