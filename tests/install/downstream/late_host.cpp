// SPDX-License-Identifier: Apache-2.0
// A program with a main() of its own, which loads a plugin when it already runs: late_host PLUGIN.
#include <dlfcn.h>

#include <cstdint>
#include <cstdio>

namespace {

template <class F>
F symbol(void* library, const char* name) {
  void* const found = dlsym(library, name);
  if (found == nullptr) std::fprintf(stderr, "%s\n", dlerror());
  return reinterpret_cast<F>(found);
}

}  // namespace

int main(int argc, char** argv) {
  void* const plugin = argc > 1 ? dlopen(argv[1], RTLD_NOW | RTLD_LOCAL) : nullptr;
  if (plugin == nullptr) {
    std::fprintf(stderr, "no plugin: %s\n", argc > 1 ? dlerror() : "name it");
    return 2;
  }
  const auto open = symbol<int (*)()>(plugin, "plugin_open");
  const auto sum = symbol<std::uint64_t (*)(std::uint64_t)>(plugin, "plugin_sum");
  const auto close = symbol<void (*)()>(plugin, "plugin_close");
  if (open == nullptr || sum == nullptr || close == nullptr) return 2;
  for (int round = 0; round < 2; ++round) {  // a job, and another one after it
    if (open() != 0) return 1;
    for (std::uint64_t n = 100; n < 110; ++n)
      if (sum(n) != n * (n - 1) / 2) return 1;
    close();
  }
  std::puts("the plugin's jobs are right");
  return 0;
}
