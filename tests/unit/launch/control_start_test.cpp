// SPDX-License-Identifier: Apache-2.0
// Jobs that do not begin, and callers that are not of the job.
#include <gtest/gtest.h>
#include <sys/socket.h>

#include <algorithm>
#include <csignal>

#include "hub_callers.hpp"
#include "launch/byte_stream.hpp"
#include "launch/control.hpp"
#include "launch/control_message.hpp"
#include "launch/frame.hpp"
#include "launch/handshake.hpp"
#include "shoal/random.hpp"

namespace shoal::launch {
namespace {

// What each of these nodes is told.
std::vector<std::string> told(const hub_place& place, const std::vector<control::identity>& nodes) {
  std::vector<std::string> said(nodes.size());
  as_nodes(static_cast<std::uint32_t>(nodes.size()), [&](std::uint32_t n) { said[n] = refusal(place, nodes[n]); });
  return said;
}

TEST(start, every_node_is_told_what_does_not_fit) {
  auto other_program = identity_of(1, 3);
  other_program.code = "another build";
  auto other_settings = identity_of(1, 3);
  other_settings.settings = "workers 2";
  const auto odd_count = identity_of(1, 2);
  const auto twice = identity_of(0, 3);
  for (const auto& [odd, words] :
       {std::pair{other_program, "runs another program, or other versions of its libraries"},
        std::pair{other_settings, "was started with other settings (workers"},
        std::pair{odd_count, "node 1 of 2 in a job of 3"}, std::pair{twice, "node 0 has been started already"}}) {
    hub h(options_for(3));
    const auto said = told(h.place(), {identity_of(0, 3), odd, identity_of(2, 3)});
    for (const std::string& s : said) EXPECT_TRUE(has(s, words)) << s;
    EXPECT_TRUE(has(h.lost()->why, words));
  }
}

TEST(start, those_who_do_not_come_are_named_to_all) {
  hub_options o = options_for(5);
  o.start_ns = 1000 * k_ms;
  hub h(o);
  const auto said = told(h.place(), {identity_of(0, 5), identity_of(2, 5)});
  for (const std::string& s : said) EXPECT_TRUE(has(s, "nodes 1, 3 and 4 have not started within 1 s")) << s;
  EXPECT_EQ(h.lost()->node, 1U);
  EXPECT_TRUE(has(refusal(h.place(), identity_of(1, 5)), "have not started within")) << "who comes too late";
}

TEST(start, one_that_ends_before_all_are_there_ends_the_start) {
  hub h(options_for(3));
  std::string said;
  std::thread waiting([&] { said = refusal(h.place(), identity_of(0, 3)); });
  while (h.at(0) != presence::present) std::this_thread::yield();
  EXPECT_TRUE(h.announce_lost(1, "node 1 exited with status 3"));
  waiting.join();
  EXPECT_TRUE(has(said, "node 1 exited with status 3; the job has not begun")) << said;
}

TEST(start, an_interrupt_ends_it) {
  hub h(options_for(2));
  std::string said;
  std::thread waiting([&] { said = refusal(h.place(), identity_of(0, 2)); });
  while (h.at(0) != presence::present) std::this_thread::yield();
  h.interrupt(SIGTERM);
  waiting.join();
  EXPECT_TRUE(has(said, "told to stop by signal 15")) << said;
}

TEST(start, a_late_copy_of_a_node_is_refused_and_the_job_goes_on) {
  hub h(options_for(2));
  auto in = all_in(h.place(), 2);
  EXPECT_TRUE(has(refusal(h.place(), identity_of(1, 2)), "node 1 has been started already"));
  as_nodes(2, [&](std::uint32_t n) { EXPECT_EQ(in[n]->exchange({}).size(), 2U); });
  EXPECT_FALSE(h.lost());
}

TEST(start, what_cannot_be_reached_is_a_sentence) {
  hub_place place;
  {
    hub h(options_for(1));
    place = h.place();
  }
  EXPECT_TRUE(has(refusal(place, identity_of(0, 1)), "nothing listens there"));
  place.host = "no-such-host.invalid";
  EXPECT_TRUE(has(refusal(place, identity_of(0, 1)), "does not resolve"));
  hub_options o = options_for(1);
  o.address = "192.0.2.1";
  EXPECT_THROW(hub{o}, error);
}

TEST(start, what_listens_there_and_is_no_hub_is_told_apart) {
  machine::socket door = machine::socket::listen("127.0.0.1", 0);
  const hub_place place{"127.0.0.1", machine::port_of(door.own_address()), std::string(32, '1')};
  EXPECT_TRUE(has(refusal(place, identity_of(0, 1), 100 * k_ms), "does not answer"));
  machine::socket caller;
  ASSERT_EQ(door.accept(caller), machine::acceptance::one);
}

TEST(strangers, are_refused_with_a_line_and_the_job_goes_on) {
  testing::internal::CaptureStderr();
  std::vector<std::string> addresses;
  {
    hub_options o = options_for(2);
    o.handshake_ns = 500 * k_ms;
    hub h(o);
    const auto call = [&](const std::string& words) {
      raw_caller caller(h.place());
      addresses.push_back(caller.address());
      caller.say(words);
      EXPECT_TRUE(caller.is_shown_the_door());
    };
    call("GET / HTTP/1.1\r\nHost: here\r\n\r\n");
    call("");                        // says nothing
    call("short");                   // and no more
    call(std::string(100000, 'x'));  // more than anyone asked for
    {
      raw_caller caller(h.place());  // knows how, but not the secret
      addresses.push_back(caller.address());
      caller.say(opening{k_control_version, 1, new_nonce()}.bytes());
      const auto c = challenge::parse(caller.hear(k_challenge_bytes));
      ASSERT_TRUE(c);
      caller.say(answer_bytes(c->proof));  // and tries with what it was given
      EXPECT_TRUE(caller.is_shown_the_door());
    }
    {
      raw_caller caller(h.place());
      addresses.push_back(caller.address());
      caller.say(opening{k_control_version + 1, 1, new_nonce()}.bytes());
      EXPECT_TRUE(caller.is_shown_the_door());
    }
    auto in = all_in(h.place(), 2);
    call("later");
    as_nodes(2, [&](std::uint32_t n) {
      EXPECT_EQ(in[n]->exchange({}).size(), 2U);
      in[n]->leave();
    });
    EXPECT_FALSE(h.lost());
  }
  const std::string lines = testing::internal::GetCapturedStderr();
  for (const std::string& address : addresses)
    EXPECT_TRUE(has(lines, "a connection from " + address + " to this job was refused")) << address << "\n" << lines;
  EXPECT_EQ(static_cast<std::size_t>(std::count(lines.begin(), lines.end(), '\n')), addresses.size()) << lines;
  EXPECT_TRUE(has(lines, "does not know the job's secret"));
  EXPECT_TRUE(has(lines, "of another version of Shoal"));
}

TEST(strangers, a_wrong_secret_is_a_sentence_on_both_sides) {
  testing::internal::CaptureStderr();
  {
    hub h(options_for(1));
    hub_place wrong = h.place();
    wrong.secret = secret_text(new_secret());
    EXPECT_TRUE(has(refusal(wrong, identity_of(0, 1)), "does not know this job's secret"));
    EXPECT_EQ(refusal(h.place(), identity_of(0, 1)), "");
  }
  EXPECT_TRUE(has(testing::internal::GetCapturedStderr(), "was refused"));
}

TEST(strangers, however_many_keep_no_node_out) {
  testing::internal::CaptureStderr();
  {
    hub h(options_for(4));
    std::vector<std::unique_ptr<raw_caller>> silent;
    for (int i = 0; i < 200; ++i) silent.push_back(std::make_unique<raw_caller>(h.place()));
    auto in = all_in(h.place(), 4);
    for (int i = 0; i < 200; ++i) silent.push_back(std::make_unique<raw_caller>(h.place()));
    as_nodes(4, [&](std::uint32_t n) { EXPECT_EQ(in[n]->exchange({}).size(), 4U); });
    for (auto& c : in) c->leave();
  }
  const std::string lines = testing::internal::GetCapturedStderr();
  EXPECT_LE(std::count(lines.begin(), lines.end(), '\n'), 32) << "however many, the log stays readable";
  EXPECT_TRUE(has(lines, "further ones are not reported"));
}

TEST(strangers, random_bytes_of_one_who_knows_the_secret_end_that_node_only) {
  for (std::uint64_t seed = 0; seed < 40; ++seed) {
    testing::internal::CaptureStderr();
    hub h(options_for(2));
    const auto secret = *parse_secret(h.place().secret);
    raw_caller caller(h.place());
    const opening mine{k_control_version, 1, new_nonce()};
    caller.say(mine.bytes());
    const auto c = challenge::parse(caller.hear(k_challenge_bytes));
    ASSERT_TRUE(c);
    EXPECT_EQ(c->proof, hub_proof(secret, mine, c->number));
    caller.say(answer_bytes(node_proof(secret, mine, c->number)));
    xoshiro256ss random(seed);
    std::vector<std::byte> some(random.below(4096) + 64);
    for (std::byte& b : some) b = static_cast<std::byte>(random());
    if (seed % 2 == 0) {  // a whole frame of rubbish
      std::vector<std::byte> header;
      byte_writer(header).number(static_cast<std::uint32_t>(some.size() - k_frame_header_bytes));
      byte_writer(header).number(static_cast<std::uint32_t>(1 + random.below(9)));
      std::copy(header.begin(), header.end(), some.begin());
    }
    caller.say(some);
    ::shutdown(caller.socket().descriptor(), SHUT_WR);
    EXPECT_TRUE(caller.is_shown_the_door());
    auto in = all_in(h.place(), 2);
    EXPECT_FALSE(h.lost());
    for (auto& one : in) one->leave();
    testing::internal::GetCapturedStderr();
  }
}

TEST(strangers, a_node_that_sends_rubbish_later_is_lost) {
  hub h(options_for(2));
  std::unique_ptr<control> in;
  std::thread other([&] { in = std::make_unique<control>(h.place(), identity_of(0, 2), k_long_ns); });
  const auto secret = *parse_secret(h.place().secret);
  raw_caller caller(h.place());
  const opening mine{k_control_version, 1, new_nonce()};
  caller.say(mine.bytes());
  const auto c = challenge::parse(caller.hear(k_challenge_bytes));
  ASSERT_TRUE(c);
  caller.say(answer_bytes(node_proof(secret, mine, c->number)));
  caller.say(frame_bytes(frame_type::hello, hello_message{1, 2, {1, "host"}, "code", "workers 1"}.bytes()));
  other.join();
  caller.say(frame_bytes(frame_type::welcome, {}));
  const auto heard = news(*in);
  ASSERT_TRUE(heard);
  EXPECT_EQ(heard->node, 1U);
  EXPECT_TRUE(has(heard->why, "has sent what no node sends")) << heard->why;
}

}  // namespace
}  // namespace shoal::launch
