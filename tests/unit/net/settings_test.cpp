// SPDX-License-Identifier: Apache-2.0
#include "net/settings.hpp"

#include <gtest/gtest.h>

#include "shoal/error.hpp"

namespace shoal::net {
namespace {

class net_settings : public testing::Test {
protected:
  net_settings() {
    for (const base::setting_table& table : k_net_settings) s.add(table);
  }
  base::settings s;
};

TEST_F(net_settings, become_the_shape_of_channels) {
  s.set("buffer", "32000");
  s.set("buffers", "5");
  s.set("domains", "2");
  s.set("messages", "domain_0");
  s.set("poll_mask", "3");
  s.set("progress", "server");
  s.set("domain_lock", "mcs");
  s.set("domain_wait", "spin");
  const message_shape shape = make_message_shape(read_options(s), 1, 3, 4, machine::threads());
  EXPECT_EQ(shape.node, 1U);
  EXPECT_EQ(shape.nodes, 3U);
  EXPECT_EQ(shape.workers, 4U);
  EXPECT_EQ(shape.domains, 2U);
  EXPECT_EQ(shape.slot_bytes, 32000U / 64 * 64);
  EXPECT_EQ(shape.slots, 8U) << "rounded up to a power of two";
  EXPECT_EQ(shape.route, message_route::domain_0);
  EXPECT_EQ(shape.poll_mask, 3U);
  EXPECT_EQ(shape.progress, progress_role::server);
  EXPECT_EQ(shape.lock, "mcs");
  EXPECT_EQ(shape.wait, wait_kind::spin);
}

TEST_F(net_settings, each_worker_has_a_domain_unless_told_otherwise) {
  EXPECT_EQ(make_message_shape(read_options(s), 0, 2, 4, machine::threads()).domains, 4U);
  s.set("domains", "5");
  EXPECT_THROW(make_message_shape(read_options(s), 0, 2, 4, machine::threads()), error);
}

TEST_F(net_settings, what_a_table_cannot_check_is_refused) {
  s.set("poll_mask", "5");
  EXPECT_THROW(read_options(s), error);
  s.set("poll_mask", "7");
  s.set("domain_lock", "bakery");
  EXPECT_THROW(read_options(s), error);
}

TEST_F(net_settings, of_plugins_are_known_without_the_plugins) {
  s.set("network_memory", "on");
  s.set("shared_context", "on");
  s.set("own_communicators", "on");
  s.check();
  const options o = read_options(s);
  EXPECT_TRUE(o.network_memory && o.shared_context && o.own_communicators);
}

}  // namespace
}  // namespace shoal::net
