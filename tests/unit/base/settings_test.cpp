// SPDX-License-Identifier: Apache-2.0
#include "base/settings.hpp"

#include <gtest/gtest.h>

#include <cstdio>
#include <fstream>
#include <string>
#include <vector>

#include "base/log.hpp"
#include "shoal/error.hpp"

namespace {

using namespace shoal;
using base::setting;
using base::setting_origin;
using base::setting_type;

constexpr setting k_settings[] = {
    {"workers", setting_type::integer, "0", "workers per node", "0", "4096"},
    {"stack", setting_type::size, "64K", "bytes of a stack", "16K", "64M"},
    {"direct", setting_type::boolean, "on", "map peers' memory"},
    {"age", setting_type::real, "0.5", "oldest buffer", "0"},
    {"trace", setting_type::text, "", "where traces go"},
    {.name = "transport", .type = setting_type::choice, .default_value = "shm", .help = "", .choices = "inproc|shm"},
};
constexpr setting k_plugin[] = {{"shm_ring", setting_type::size, "1M", "bytes of a ring"}};

class settings_test : public testing::Test {
protected:
  settings_test() { s.add({"test", k_settings}); }

  void environment(std::vector<const char*> variables) {
    variables.push_back(nullptr);
    s.read_environment(variables.data());
  }

  void file(const std::string& text) {
    std::ofstream(path) << text;
    s.read_file(path);
  }

  std::string warnings() {
    testing::internal::CaptureStderr();
    s.check();
    return testing::internal::GetCapturedStderr();
  }

  void TearDown() override { std::remove(path.c_str()); }

  // The message of the error that f throws; its code is compared.
  template <class F>
  static std::string error_of(errc code, F f) {
    try {
      f();
    } catch (const error& e) {
      EXPECT_EQ(e.code(), code);
      return e.what();
    }
    ADD_FAILURE() << "nothing was thrown";
    return "";
  }

  base::settings s;
  std::string path =
      testing::TempDir() + "settings_test_" + testing::UnitTest::GetInstance()->current_test_info()->name() + ".toml";
};

TEST_F(settings_test, defaults) {
  s.check();
  EXPECT_EQ(s.get_int("workers"), 0);
  EXPECT_EQ(s.get_size("stack"), 65536u);
  EXPECT_TRUE(s.get_bool("direct"));
  EXPECT_EQ(s.get_real("age"), 0.5);
  EXPECT_EQ(s.get_text("trace"), "");
  EXPECT_EQ(s.get_text("transport"), "shm");
  EXPECT_EQ(s.origin("workers"), setting_origin::standard);
}

TEST_F(settings_test, precedence) {
  s.set("workers", "5", setting_origin::code);
  s.set("workers", "4", setting_origin::command_line);
  s.set("stack", "128K", setting_origin::command_line);
  environment({"PATH=/bin", "SHOAL_WORKERS=3", "SHOAL_STACK=256K", "SHOAL_AGE=3"});
  file("workers = 2\nstack = '512K'\nage = 2.5\ndirect = false\n");
  s.check();
  EXPECT_EQ(s.get_int("workers"), 5);
  EXPECT_EQ(s.origin("workers"), setting_origin::code);
  EXPECT_EQ(s.get_size("stack"), 128u << 10);
  EXPECT_EQ(s.origin("stack"), setting_origin::command_line);
  EXPECT_EQ(s.get_real("age"), 3.0);
  EXPECT_EQ(s.origin("age"), setting_origin::environment);
  EXPECT_FALSE(s.get_bool("direct"));
  EXPECT_EQ(s.origin("direct"), setting_origin::file);
}

TEST_F(settings_test, precedence_does_not_depend_on_the_order_of_reading) {
  file("workers = 2\n");
  environment({"SHOAL_WORKERS=3"});
  s.set("workers", "4", setting_origin::command_line);
  EXPECT_EQ(s.get_int("workers"), 4);
  s.set("workers", "6", setting_origin::command_line);
  EXPECT_EQ(s.get_int("workers"), 6) << "the later of two equals counts";
}

TEST_F(settings_test, wrong_values_name_setting_range_value_and_origin) {
  environment({"SHOAL_STACK=1K"});
  EXPECT_EQ(error_of(errc::invalid_argument, [&] { s.check(); }),
            "the setting stack must be a size such as 4096, 64K, 2M or 1G, from 16K to 64M, but is '1K' "
            "(from SHOAL_STACK in the environment)");
  EXPECT_THROW(s.get_size("stack"), error);
  s.set("transport", "pigeon", setting_origin::command_line);
  EXPECT_EQ(error_of(errc::invalid_argument, [&] { s.get_text("transport"); }),
            "the setting transport must be one of inproc, shm, but is 'pigeon' (from the command line)");
}

TEST_F(settings_test, a_wrong_value_that_is_overridden_does_no_harm) {
  environment({"SHOAL_STACK=1K"});
  s.set("stack", "1M");
  s.check();
  EXPECT_EQ(s.get_size("stack"), 1u << 20);
}

TEST_F(settings_test, wrong_value_in_the_file_gives_the_line) {
  file("# mine\n\nworkers = -1\n");
  EXPECT_NE(error_of(errc::invalid_argument, [&] { s.check(); }).find(path + ", line 3"), std::string::npos);
}

TEST_F(settings_test, an_empty_variable_counts_as_unset_unless_the_setting_may_be_empty) {
  file("workers = 2\ntrace = \"t\"\n");
  environment({"SHOAL_WORKERS=", "SHOAL_STACK= ", "SHOAL_TRANSPORT=", "SHOAL_TRACE="});
  EXPECT_EQ(warnings(), "");
  EXPECT_EQ(s.get_int("workers"), 2);
  EXPECT_EQ(s.origin("workers"), setting_origin::file);
  EXPECT_EQ(s.get_size("stack"), 64U << 10);
  EXPECT_EQ(s.origin("stack"), setting_origin::standard);
  EXPECT_EQ(s.get_text("transport"), "shm");
  EXPECT_EQ(s.get_text("trace"), "");
  EXPECT_EQ(s.origin("trace"), setting_origin::environment);
  s.set("workers", "");
  EXPECT_THROW(s.check(), error) << "a program that says nothing errs";
}

TEST_F(settings_test, blanks_around_a_value_are_no_part_of_it) {
  environment({"SHOAL_WORKERS= 3", "SHOAL_STACK=256K ", "SHOAL_TRANSPORT=\tinproc", "SHOAL_TRACE= a b "});
  EXPECT_EQ(s.get_int("workers"), 3);
  EXPECT_EQ(s.get_size("stack"), 256U << 10);
  EXPECT_EQ(s.get_text("transport"), "inproc");
  EXPECT_EQ(s.get_text("trace"), "a b");
}

TEST_F(settings_test, unknown_variables_are_warned_about_once) {
  environment({"SHOAL_WROKERS=3", "SHOAL_ZEBRA=1", "SHOAL_NODE=1", "SHOALING=1", "SHOAL_STRESS_SEED=1"});
  s.accept_variable("SHOAL_NODE");
  EXPECT_EQ(
      warnings(),
      "shoal: warning: SHOAL_WROKERS in the environment: there is no setting wrokers; did you mean SHOAL_WORKERS?\n"
      "shoal: warning: SHOAL_ZEBRA in the environment: there is no setting zebra; it has no effect\n");
  EXPECT_EQ(warnings(), "");
  EXPECT_EQ(s.get_int("workers"), 0);
}

TEST_F(settings_test, unknown_keys_of_the_file_are_warned_about) {
  file("worker = 3\n");
  EXPECT_EQ(warnings(), "shoal: warning: " + path + ", line 1: there is no setting worker; did you mean workers?\n");
}

TEST_F(settings_test, unknown_names_from_code_and_command_line_are_errors) {
  s.set("wrokers", "3", setting_origin::command_line);
  EXPECT_EQ(error_of(errc::invalid_argument, [&] { s.check(); }),
            "there is no setting wrokers (from the command line); did you mean workers?");
}

TEST_F(settings_test, tables_may_come_late) {
  environment({"SHOAL_SHM_RING=2M"});
  s.add({"shm", k_plugin});
  EXPECT_EQ(warnings(), "");
  EXPECT_EQ(s.get_size("shm_ring"), 2u << 20);
}

TEST_F(settings_test, tables_of_the_file_are_prefixes) {
  s.add({"shm", k_plugin});
  file("[shm]\nring = '4M'\n");
  EXPECT_EQ(warnings(), "");
  EXPECT_EQ(s.get_size("shm_ring"), 4u << 20);
}

TEST_F(settings_test, malformed_and_missing_files) {
  const std::string message = error_of(errc::bad_input, [&] { file("workers = 1\nstack = = 2\n"); });
  EXPECT_NE(message.find(path + ", line 2"), std::string::npos) << message;
  const std::string list = error_of(errc::bad_input, [&] { file("workers = [1, 2]\n"); });
  EXPECT_NE(list.find("line 1: workers must be"), std::string::npos) << list;
  EXPECT_NE(error_of(errc::not_found, [&] { s.read_file(path + ".absent"); }).find(".absent"), std::string::npos);
}

TEST_F(settings_test, a_damaged_tuned_file_is_no_riddle) {
  std::ofstream(path) << "workers = = 1\n";
  EXPECT_NE(error_of(errc::bad_input, [&] { s.read_tuned_file(path); }).find("SHOAL_TUNED="), std::string::npos);
  std::ofstream(path) << "workers = \"many\"\n";
  s.read_tuned_file(path);
  EXPECT_NE(error_of(errc::invalid_argument, [&] { s.check(); }).find("SHOAL_TUNED="), std::string::npos);
}

TEST_F(settings_test, the_environment_names_the_file) {
  std::ofstream(path) << "workers = 7\n";
  const std::string variable = "SHOAL_CONFIG=" + path;
  environment({variable.c_str()});
  s.read_configuration();
  EXPECT_EQ(warnings(), "");
  EXPECT_EQ(s.get_int("workers"), 7);
  base::settings other;
  const char* absent[] = {"SHOAL_CONFIG=/nonexistent/shoal.toml", nullptr};
  other.read_environment(absent);
  EXPECT_THROW(other.read_configuration(), error);
}

TEST_F(settings_test, lists_everything_with_origin) {
  s.set("stack", "1M", setting_origin::command_line);
  const auto entries = s.list();
  ASSERT_EQ(entries.size(), 6u);
  EXPECT_EQ(entries[0].declaration->name, "workers");
  EXPECT_EQ(entries[0].value, "0");
  EXPECT_EQ(entries[0].origin_text, "default");
  EXPECT_EQ(entries[0].folder, "test");
  EXPECT_EQ(entries[1].value, "1M");
  EXPECT_EQ(entries[1].origin_text, "the command line");
  EXPECT_EQ(entries[5].range, "one of inproc, shm");
}

TEST_F(settings_test, the_log_declares_its_level) {
  s.add(base::k_log_settings);
  EXPECT_EQ(base::log_level_of(s.get_text("log")), base::log_level::say);
}

TEST(settings_death, misuse) {
  GTEST_FLAG_SET(death_test_style, "threadsafe");
  base::settings s;
  s.add({"test", k_settings});
  EXPECT_DEATH(s.add({"again", k_settings}), "same name");
  EXPECT_DEATH(s.get_int("nothing"), "no table declares");
  EXPECT_DEATH(s.get_int("stack"), "another type");
  static constexpr setting k_wrong[] = {{"wrong", setting_type::integer, "5", "", "6"}};
  EXPECT_DEATH(s.add({"wrong", k_wrong}), "outside its own range");
}

}  // namespace
