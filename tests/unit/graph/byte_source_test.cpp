// SPDX-License-Identifier: Apache-2.0
#include "graph/byte_source.hpp"

#include "input.hpp"
#include "shoal/random.hpp"

namespace shoal::graph {
namespace {

using namespace test;

std::string all_of(byte_source& source, std::size_t step) {
  std::string result;
  std::vector<std::byte> block(step);
  while (const std::size_t got = source.read(block)) result.append(reinterpret_cast<const char*>(block.data()), got);
  return result;
}

std::string all_of(std::string_view bytes, const std::string& name, std::size_t step = 1000) {
  return all_of(*open_byte_source(bytes, name), step);
}

std::string sample(std::size_t size) {
  std::string text(size, '\0');
  for (std::size_t i = 0; i < size; ++i) text[i] = static_cast<char>('a' + mix64(i) % 16);
  return text;
}

TEST(ByteSource, GivesEveryKindWholeInStepsOfAnySize) {
  const std::string text = sample(700'001);  // more than a block of any source
  for (const std::size_t step : {std::size_t{7}, std::size_t{4096}, std::size_t{1} << 20}) {
    EXPECT_EQ(all_of(text, "a", step), text);
    EXPECT_EQ(all_of(gzip(text), "a.gz", step), text);
    EXPECT_EQ(all_of(zstd(text), "a.zst", step), text);
  }
}

TEST(ByteSource, GoesByContentNotByName) {
  EXPECT_EQ(all_of(gzip("hello"), "a.txt"), "hello");
  EXPECT_EQ(all_of(zstd("hello"), "a.txt"), "hello");
}

TEST(ByteSource, SeveralMembersAreOneInput) {
  EXPECT_EQ(all_of(gzip("ab") + gzip("") + gzip("cd"), "a.gz"), "abcd");
  EXPECT_EQ(all_of(zstd("ab") + zstd("") + zstd("cd"), "a.zst"), "abcd");
  EXPECT_EQ(all_of(gzip("ab") + std::string(1000, '\0'), "a.gz"), "ab");  // as tapes are padded
}

TEST(ByteSource, NoPrefixOfCompressedDataPassesForTheWhole) {
  const std::string text = sample(3000);
  for (const auto& [whole, kind] : {std::pair{gzip(text), "gzip"}, std::pair{zstd(text), "zstd"}}) {
    for (std::size_t cut = 4; cut < whole.size(); cut += cut < 40 || cut + 40 > whole.size() ? 1 : 13) {
      const std::string message = refusal([&, &bytes = whole] { all_of(std::string_view{bytes}.substr(0, cut), "a"); });
      EXPECT_EQ(message,
                std::string("a: ") + kind + " data is truncated: the file ends within it; fetch the file again")
          << cut;
    }
  }
}

TEST(ByteSource, CorruptDataIsRefused) {
  const std::string text = sample(3000);
  for (const auto& [whole, kind] : {std::pair{gzip(text), "gzip"}, std::pair{zstd(text), "zstd"}}) {
    std::string broken = whole;
    broken[whole.size() - 3] = static_cast<char>(broken[whole.size() - 3] ^ 0x40);  // in the checksum or length
    EXPECT_TRUE(refusal([&] { all_of(broken, "a"); }).starts_with(std::string("a: ") + kind + " data is corrupt"))
        << kind;
    broken = whole;
    broken[whole.size() / 2] = static_cast<char>(broken[whole.size() / 2] ^ 0x11);
    EXPECT_NE(refusal([&] { all_of(broken, "a"); }).find(kind), std::string::npos);
  }
}

TEST(ByteSource, SomethingAfterCompressedDataIsRefused) {
  EXPECT_EQ(refusal([] { all_of(gzip("ab") + "tail", "a.gz"); }), "a.gz: other data follows the gzip data");
  EXPECT_EQ(refusal([] { all_of(gzip("ab") + std::string(3, '\0') + "tail", "a.gz"); }),
            "a.gz: other data follows the gzip data");
  EXPECT_TRUE(refusal([] {
                all_of(zstd("ab") + "tail tail", "a.zst");
              }).starts_with("a.zst: other data follows the zstd data"));
}

TEST(ByteSource, NamesThatLieAreRefused) {
  EXPECT_EQ(refusal([] { all_of("0 1\n", "a.gz"); }),
            "a.gz: is named .gz but does not begin with gzip data; it is corrupt or has a wrong name");
  EXPECT_EQ(refusal([] { all_of("0 1\n", "a.zst"); }),
            "a.zst: is named .zst but does not begin with zstd data; it is corrupt or has a wrong name");
}

TEST(ByteSource, MissingEmptyAndFolders) {
  const scratch_file file("empty.txt");
  EXPECT_EQ(refusal([&] { open_byte_source(file.path()); }), file.path() + ": is empty; give another file");
  EXPECT_EQ(refusal([&] { open_byte_source(file.path() + "x"); }, errc::not_found),
            file.path() + "x: cannot be opened: No such file or directory; check the path");
  const std::string folder = std::filesystem::path(file.path()).parent_path().string();
  EXPECT_EQ(refusal([&] { open_byte_source(folder); }), folder + ": is a directory; give a file");
}

TEST(ByteSource, TellsProgressInBytesOfTheFile) {
  const std::string whole = gzip(sample(500'000));
  const scratch_file file("a.gz", whole);
  std::uint64_t last = 0;
  int calls = 0;
  const auto source = open_byte_source(file.path(), [&](std::uint64_t done, std::uint64_t total) {
    EXPECT_GE(done, last);
    EXPECT_EQ(total, whole.size());
    last = done;
    ++calls;
  });
  EXPECT_EQ(all_of(*source, 4096).size(), 500'000u);
  EXPECT_EQ(last, whole.size());
  EXPECT_GT(calls, 1);
}

}  // namespace
}  // namespace shoal::graph
