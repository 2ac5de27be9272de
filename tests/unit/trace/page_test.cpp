// SPDX-License-Identifier: Apache-2.0
#include "trace/page.hpp"

#include <gtest/gtest.h>

namespace shoal::trace {
namespace {

TEST(page, has_all_parts_in_one_file) {
  const std::string html = to_html({"a <b>", "<p id=\"x\"></p>", "const data = 1;", "use(data);"});
  EXPECT_NE(html.find("<title>a &lt;b&gt;</title>"), std::string::npos);
  EXPECT_LT(html.find("<p id=\"x\">"), html.find("const data = 1;"));
  EXPECT_LT(html.find("const data = 1;"), html.find("use(data);"));
  EXPECT_EQ(html.find("http"), std::string::npos);
}

TEST(page, reserved_characters_are_replaced) {
  EXPECT_EQ(escaped_html("a<b> & \"c\""), "a&lt;b&gt; &amp; &quot;c&quot;");
}

}  // namespace
}  // namespace shoal::trace
