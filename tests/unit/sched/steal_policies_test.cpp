// SPDX-License-Identifier: Apache-2.0
// Victim policies by name: how they are written, what is refused and in which words, and what a program adds.
#include "sched/steal_policies.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <stdexcept>
#include <string>

#include "shoal/error.hpp"
#include "unit/sched/scripted_view.hpp"

namespace shoal::sched {
namespace {

std::string refusal(const std::string& text) {
  try {
    find_steal_policy(text);
  } catch (const error& e) {
    EXPECT_EQ(e.code(), errc::invalid_argument);
    return e.what();
  }
  return "";
}

TEST(steal_policies, all_forms_are_accepted) {
  for (const char* text :
       {"random", " random ", "random()", "sticky", "loaded", "loaded_every", "loaded_every(1)", "loaded_every( 7 )",
        "nearest", "nearest(1)", "nearest(50,3,1)", "nearest(50, 3, 1, masters)", "nearest(50,3,1,all)", "sorted",
        "sorted(5)", "sorted(5,policy2)", "sorted(5,policy1,global)", "sorted(5,policy2,package)"}) {
    EXPECT_EQ(refusal(text), "");
    const worker_map map = described("package:2 core:2 pu:1", 4);
    scripted_view view(map, 1);
    EXPECT_LT(find_steal_policy(text)(view)->next(), 4U) << text;
  }
}

TEST(steal_policies, what_is_wrong_is_named_with_all_that_is_known) {
  for (const auto& [text, words] :
       {std::pair{"rondom", "the name is unknown"}, std::pair{"", "the name is unknown"},
        std::pair{"random(1)", "the argument '1' is one too many"},
        std::pair{"loaded_every(0)", "K is a number from 1 to 1000000, not '0'"},
        std::pair{"loaded_every(five)", "not 'five'"}, std::pair{"loaded_every(1000001)", "not '1000001'"},
        std::pair{"nearest(50,3,1,slaves)", "'slaves' should be all or masters"},
        std::pair{"nearest(50,-3)", "L3 is a number"}, std::pair{"nearest(50,)", "L3 is a number"},
        std::pair{"nearest(1,1,1,masters,1)", "one too many"},
        std::pair{"sorted(5,policy3)", "'policy3' should be policy1 or policy2"},
        std::pair{"sorted(5,policy1,local)", "'local' should be global or package"},
        std::pair{"sorted(policy1)", "REFRESH is a number"}, std::pair{"nearest(50", "NAME or NAME(ARGUMENT,...)"},
        std::pair{"nearest(50))", "NAME or NAME(ARGUMENT,...)"},
        std::pair{"nearest(5(0)", "NAME or NAME(ARGUMENT,...)"},
        std::pair{"nearest(50)x", "NAME or NAME(ARGUMENT,...)"}}) {
    const std::string said = refusal(text);
    EXPECT_NE(said.find("'" + std::string(text) + "' is no victim policy"), std::string::npos) << said;
    EXPECT_NE(said.find(words), std::string::npos) << said;
    for (const char* known : {"loaded", "loaded_every(K)", "nearest(NEAR,L3,BEYOND,all|masters)", "random",
                              "sorted(REFRESH,policy1|policy2,global|package)", "sticky"})
      EXPECT_NE(said.find(known), std::string::npos) << said;
  }
}

TEST(steal_policies, each_policy_of_the_folder_says_what_it_does) {
  const auto known = known_steal_policies();
  EXPECT_GE(known.size(), 6U);
  for (const auto& line : known) {
    EXPECT_FALSE(line.form.empty());
    EXPECT_FALSE(line.help.empty()) << line.form;
  }
}

struct always_first final : steal_policy {
  unsigned next() noexcept override { return 0; }
};

TEST(steal_policies, a_program_adds_its_own) {
  std::vector<std::string> seen;
  add_steal_policy("own_1", "own_1(A,B): a test's", [&seen](steal_view&, const std::vector<std::string>& arguments) {
    if (arguments.size() > 2) throw std::invalid_argument("two are enough");
    seen = arguments;
    return std::make_unique<always_first>();
  });
  const worker_map map(3, {});
  scripted_view view(map, 2);
  EXPECT_EQ(find_steal_policy("own_1(a, b c)")(view)->next(), 0U);
  EXPECT_EQ(seen, (std::vector<std::string>{"a", "b c"}));
  EXPECT_NE(refusal("own_1(1,2,3)").find("two are enough"), std::string::npos);
  EXPECT_NE(refusal("own_2").find("own_1"), std::string::npos) << "it is known now";
  const auto known = known_steal_policies();
  EXPECT_TRUE(
      std::ranges::any_of(known, [](const auto& l) { return l.form == "own_1" && l.help.ends_with("test's"); }));
}

TEST(steal_policies, what_cannot_be_added_is_refused) {
  const auto make = [](steal_view&, const std::vector<std::string>&) { return std::make_unique<always_first>(); };
  add_steal_policy("own_3", "", make);
  for (const char* name : {"own_3", "random", "", "a-b", "a(b)"}) EXPECT_THROW(add_steal_policy(name, "", make), error);
  EXPECT_THROW(add_steal_policy("own_4", "", {}), error);
  add_steal_policy("own_5", "", [](steal_view&, const std::vector<std::string>&) -> std::unique_ptr<steal_policy> {
    return nullptr;
  });
  EXPECT_NE(refusal("own_5").find("its maker gives nothing"), std::string::npos);
}

}  // namespace
}  // namespace shoal::sched
