// SPDX-License-Identifier: Apache-2.0
#include "tools/shoal/launcher_options.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <string_view>

#include "machine/process.hpp"
#include "shoal/error.hpp"

namespace shoal::tools {
namespace {

constexpr std::string_view k_nothing = "leave it out";
constexpr std::string_view k_placement =
    "leave it out; -w N gives each process N workers, over which its ranks are spread in blocks, and SHOAL_PIN=off "
    "leaves the workers' processors to the system";
constexpr std::string_view k_per_machine =
    "-n N on this machine, --hosts a:2,b:2 for two processes on each; --nfg N for N ranks in each process";
constexpr std::string_view k_machines = "--hosts a,b:2, or --hosts FILE with a machine in each line";
constexpr std::string_view k_variable = "--env NAME=VALUE, or --env NAME for the value that it has here";

struct foreign_option {
  std::string_view name;  // without dashes
  std::string_view here;
};
// docs/mpi.md has a table of the more common ones.
constexpr foreign_option k_foreign[] = {
    {"oversubscribe", "leave it out; there may be more ranks than cores"},
    {"nooversubscribe", k_nothing},
    {"allow-run-as-root", k_nothing},
    {"map-by", k_placement},
    {"rank-by", k_placement},
    {"bind-to", k_placement},
    {"bind-to-core", k_placement},
    {"cpu-bind", k_placement},
    {"cpu-set", k_placement},
    {"cpus-per-proc", k_placement},
    {"cpus-per-rank", k_placement},
    {"cpus-per-task", k_placement},
    {"use-hwthread-cpus", k_placement},
    {"report-bindings", "leave it out; `shoal info` shows the machine"},
    {"display-map", k_nothing},
    {"quiet", k_nothing},
    {"verbose", k_nothing},
    {"ppn", k_per_machine},
    {"perhost", k_per_machine},
    {"npernode", k_per_machine},
    {"ntasks-per-node", k_per_machine},
    {"pernode", k_per_machine},
    {"N", k_per_machine},
    {"ntasks", "-n N"},
    {"host", k_machines},
    {"hostfile", k_machines},
    {"machinefile", k_machines},
    {"f", k_machines},
    {"H", k_machines},
    {"launcher", "--remote-shell ssh"},
    {"genv", k_variable},
    {"-env", k_variable},
    {"genvlist", k_variable},
    {"envlist", k_variable},
    {"envall", k_nothing},
    {"genvall", k_nothing},
    {"tag-output", "--label"},
    {"prepend-rank", "--label"},
    {"l", "--label"},
    {"mca", "--transport ucx or mpi chooses a network; parameters of Open MPI have no meaning here"},
    {"wdir", "start shoal mpirun in that folder"},
    {"wd", "start shoal mpirun in that folder"},
    {"gdb", "--debug"},
};

std::string_view name_of(std::string_view word) {
  word = word.substr(0, word.find('='));
  word.remove_prefix(std::min(word.find_first_not_of('-'), word.size()));
  return word;
}

void refuse_foreign(const CLI::App& mpirun, const std::string& word) {
  const std::string_view name = name_of(word);
  for (const foreign_option& o : k_foreign) {
    // With its dash: another one of that name is our own.
    if (o.name != name && (!o.name.starts_with('-') || word != o.name)) continue;
    throw error(errc::invalid_argument, fmt::format("{} is an option of other launchers; here: {} (`shoal {} --help`)",
                                                    word, o.here, mpirun.get_name()));
  }
}

bool is_program(const std::string& word) { return std::filesystem::exists(machine::find_program(word)); }

// --profile FILE: the word behind the option is its file, and not the program.
bool is_profile_file(const std::vector<std::string>& words, std::size_t at) {
  if (at >= words.size() || words[at].starts_with('-')) return false;
  if (words[at].ends_with(".json")) return true;
  return at + 1 < words.size() && words[at + 1] == "--" && !is_program(words[at]);
}

}  // namespace

std::vector<std::string> with_own_options(const CLI::App& mpirun, std::vector<std::string> words) {
  for (std::size_t i = 1; i < words.size(); ++i) {
    std::string& word = words[i];
    if (!word.starts_with('-') || word == "-" || word == "--") break;
    const std::string name(name_of(word));
    refuse_foreign(mpirun, word);
    const CLI::Option* option = mpirun.get_option_no_throw(word.substr(0, word.find('=')));
    if (option == nullptr && name.size() > 1 && !word.starts_with("--")) {
      option = mpirun.get_option_no_throw("--" + name);
      if (option != nullptr) word.insert(0, "-");
    }
    if (word == "--profile" && is_profile_file(words, i + 1)) {
      word += "=" + words[i + 1];
      words.erase(words.begin() + static_cast<std::ptrdiff_t>(i) + 1);
    } else if (option != nullptr && option->get_items_expected_min() > 0 && word.find('=') == word.npos) {
      ++i;  // its value
    }
  }
  return words;
}

}  // namespace shoal::tools
