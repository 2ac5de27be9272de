// SPDX-License-Identifier: Apache-2.0
// Valid streams of frames as seeds for fuzzing the reader of the hub and the nodes.
#include "fuzz/seeds.hpp"
#include "launch/control_message.hpp"
#include "launch/frame.hpp"

namespace shoal::fuzz {

std::vector<std::string> seeds() {
  using namespace launch;
  const std::vector<std::byte> life{std::byte{1}};
  const std::vector<std::byte> part(100, std::byte{0x55});
  const std::vector<std::vector<std::byte>> parts{part, part, {}};
  const std::vector<std::pair<frame_type, std::vector<std::byte>>> frames = {
      {frame_type::hello, hello_message{1, 2, {4711, "host-b"}, "a build's code", "workers 2, direct on"}.bytes()},
      {frame_type::welcome, welcome_message{5'000'000'000, 2, {1, "host-a"}, {2, "host-a"}}.bytes()},
      {frame_type::refusal, refusal_message{errc::timeout, "node 1 has not started within 30 s"}.bytes()},
      {frame_type::given, part},
      {frame_type::parts, parts_block::bytes(0, parts)},
      {frame_type::life, life},
      {frame_type::leave, {}},
      {frame_type::lost, loss_message{1, 0, "node 1 (host b, process 123) has ended before its time"}.bytes()},
      {frame_type::stop, loss_message{0, 15, "the job was told to stop"}.bytes()},
  };
  // The first byte chooses the length of the pieces.
  std::vector<std::string> result;
  std::string all;
  for (const auto& [type, payload] : frames) {
    const auto bytes = frame_bytes(type, payload);
    const std::string text(reinterpret_cast<const char*>(bytes.data()), bytes.size());
    result.push_back('\x07' + text);
    all += text;
  }
  result.push_back('\x3f' + all);
  result.push_back(std::string(1, '\0') + all);
  return result;
}

}  // namespace shoal::fuzz
