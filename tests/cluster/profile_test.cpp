// SPDX-License-Identifier: Apache-2.0
// Profiles as a user of a command meets them: options, settings, one node and several, what cannot be written.
#include <nlohmann/json.hpp>

#include "tests/cluster/job_process.hpp"

namespace {

using shoal::test::outcome;
using shoal::test::run;

class profiles : public testing::Test {
protected:
  void SetUp() override {
    folder_ = std::filesystem::temp_directory_path() / ("shoal-profile-" + std::to_string(::getpid()));
    std::filesystem::create_directory(folder_);
  }
  void TearDown() override { std::filesystem::remove_all(folder_); }
  std::string file(const std::string& name) const { return (folder_ / name).string(); }
  nlohmann::json read_json(const std::string& name) const {
    std::ifstream in(file(name));
    return nlohmann::json::parse(in, nullptr, false);
  }
  std::string read(const std::string& name) const {
    std::ifstream in(file(name));
    return {std::istreambuf_iterator<char>(in), {}};
  }
  static void expect_sums(const nlohmann::json& profile) {
    ASSERT_FALSE(profile.is_discarded());
    const double wall = profile.at("wall_seconds");
    EXPECT_GT(wall, 0);
    for (const auto& w : profile.at("workers")) {
      const double sum = w.at("work_seconds").get<double>() + w.at("scheduling_seconds").get<double>() +
                         w.at("idle_seconds").get<double>();
      EXPECT_NEAR(sum, wall, 1e-4 + 1e-3 * wall);
    }
  }
  std::filesystem::path folder_;
};

const std::vector<std::string> k_bfs{SHOAL_COMMAND, "bfs", "--kronecker", "12", "--roots", "4", "-w", "2"};

std::vector<std::string> with(std::vector<std::string> command, const std::vector<std::string>& more) {
  command.insert(command.end(), more.begin(), more.end());
  return command;
}

TEST_F(profiles, of_a_command_as_table_object_and_drawing) {
  const outcome got =
      run(with(k_bfs, {"--profile", "--profile-json", file("p.json"), "--profile-picture", file("p.svg")}));
  EXPECT_TRUE(got.status.clean()) << got;
  EXPECT_TRUE(got.has("profile: 2 workers")) << got;
  EXPECT_TRUE(got.has("scheduling")) << got;
  const auto profile = read_json("p.json");
  expect_sums(profile);
  EXPECT_EQ(profile.at("workers").size(), 2U);
  EXPECT_GT(profile.at("total").at("spawn").at("count"), 0);
  EXPECT_TRUE(profile.at("inflation_seconds").is_null());
  EXPECT_EQ(read("p.svg").rfind("<svg", 0), 0U);
}

TEST_F(profiles, by_the_environment_and_with_a_serial_run) {
  const outcome got = run(k_bfs, {"SHOAL_PROFILE=1", "SHOAL_PROFILE_SERIAL_SECONDS=0.001"});
  EXPECT_TRUE(got.status.clean()) << got;
  EXPECT_TRUE(got.has("profile: 2 workers")) << got;
  EXPECT_TRUE(got.has("inflation")) << got;
  const outcome off = run(k_bfs, {"SHOAL_PROFILE=0"});
  EXPECT_FALSE(off.has("profile:")) << off;
}

TEST_F(profiles, of_several_nodes_are_one_each) {
  for (const std::string transport : {"shm", "inproc"}) {
    const outcome got = run(
        with(k_bfs, {"-n", "2", "--transport", transport, "--profile-json", file("p.json"), "--profile-serial", "1"}));
    EXPECT_TRUE(got.status.clean()) << got;
    EXPECT_TRUE(got.has("node 0: profile: 2 workers")) << got;
    EXPECT_TRUE(got.has("node 1: profile: 2 workers")) << got;
    for (const char* name : {"p.0.json", "p.1.json"}) {
      const auto profile = read_json(name);
      expect_sums(profile);
      EXPECT_GT(profile.at("total").at("messages").at("count"), 0);
      EXPECT_TRUE(profile.at("serial_seconds").is_null());
    }
    EXPECT_FALSE(std::filesystem::exists(file("p.json")));
  }
}

TEST_F(profiles, of_benchmarks_that_make_pools_of_their_own) {
  for (const std::string name : {"spawn", "switch", "blocked"}) {
    std::vector<std::string> command{SHOAL_COMMAND, "bench", name, "--repeat", "1", "--seconds", "0.01"};
    command.insert(command.end(), {"--profile-json", file(name + ".json")});
    const outcome got = run(command);
    EXPECT_TRUE(got.status.clean()) << got;
    EXPECT_TRUE(got.has("profile: ")) << got;
    expect_sums(read_json(name + ".json"));
  }
}

TEST_F(profiles, a_file_that_cannot_be_written_is_said_at_start) {
  const outcome got = run(with(k_bfs, {"--profile-json", file("no/such/folder.json")}));
  EXPECT_EQ(got.status.code, 1) << got;
  EXPECT_TRUE(got.has("cannot write the profile to")) << got;
  EXPECT_FALSE(got.has("search_ms")) << got;
}

TEST_F(profiles, say_what_memory_was_registered) {
  for (const std::string transport : {"ucx", "shm"}) {
    if (transport == "ucx" &&
        !std::filesystem::exists(std::filesystem::path(SHOAL_COMMAND).parent_path() / "lib" / "libshoal_net_ucx.so"))
      continue;
    const outcome got =
        run({SHOAL_COMMAND, "run", "-n", "2", "-w", "2", "--transport", transport, "--", SHOAL_COMMAND, "bfs",
             "--kronecker", "10", "--roots", "2", "--profile", "--profile-json", file(transport + ".json")},
            {"SHOAL_SEGMENT=256M"});
    EXPECT_TRUE(got.status.clean()) << got;
    const auto profile = read_json(transport + ".0.json");
    EXPECT_EQ(profile.at("transport"), transport);
    EXPECT_EQ(profile.at("registrations"), transport == "ucx" ? 2 : 0);  // one for each domain
    EXPECT_EQ(profile.at("registered_bytes"), transport == "ucx" ? 512 << 20 : 0);
    EXPECT_TRUE(got.has("messages over " + transport)) << got;
  }
}

}  // namespace
