// SPDX-License-Identifier: Apache-2.0
#include "tools/shoal/subcommands.hpp"

#include <string>

namespace shoal::tools {
namespace {

constexpr subcommand k_subcommands[] = {
    {"info", "show machine, topology, pages, limits and settings", "shoal info", declare_info},
    {"run", "run a program on several nodes, here or on other hosts", "shoal run -n 2 -- ./program argument",
     declare_run},
    {"ps", "show the jobs of this user that run on this machine, and what their tasks wait for", "shoal ps",
     declare_ps},
    {"bfs", "breadth-first search of a graph, validated",
     "shoal bfs --kronecker 18 -n 2\n  shoal bfs data/debian-bookworm.txt.zst --directed reverse --root libc6",
     declare_bfs},
    {"pagerank", "PageRank of a graph, validated", "shoal pagerank --kronecker 18 -n 2", declare_pagerank},
    {"cc", "connected components of a graph, validated", "shoal cc --kronecker 18 -n 2", declare_cc},
    {"sssp", "shortest distances in a graph with weights, validated", "shoal sssp --kronecker 18 -n 2", declare_sssp},
    {"tc", "triangles of a graph, validated", "shoal tc --kronecker 16 -n 2", declare_tc},
    {"uts", "unbalanced tree search by tasks that move between nodes, validated", "shoal uts --tree T3 -n 2",
     declare_uts},
    {"walk", "random walks on a graph, validated", "shoal walk --uniform 18 -n 2", declare_walk},
    {"hashmap", "concurrent access to a hash map of strings, validated", "shoal hashmap -n 2 -w 1", declare_hashmap},
    {"kmers", "k-mers of generated reads or of FASTA and FASTQ files, counted and validated",
     "shoal kmers -n 2 -w 1\n  shoal kmers reads.fastq.gz -k 21 --top 20", declare_kmers},
    {"histogram", "small remote updates of random elements, validated", "shoal histogram -n 2 -w 1 --direct off",
     declare_histogram},
    {"gather", "small remote reads of random elements, validated", "shoal gather -n 2 -w 1 --direct off",
     declare_gather},
    {"randperm", "a random permutation, validated", "shoal randperm -n 2 -w 1 --direct off", declare_randperm},
    {"permute", "a sparse matrix with other orders of rows and columns, validated",
     "shoal permute --rows 100000 -n 2 -w 1", declare_permute},
    {"transpose", "a sparse matrix turned round, validated", "shoal transpose --rows 100000 -n 2 -w 1",
     declare_transpose},
    {"toposort", "orders that make a matrix upper triangular, validated", "shoal toposort --rows 100000 -n 2 -w 1",
     declare_toposort},
    {"sort", "sort keys of six data sets of falling entropy, validated", "shoal sort --keys 10000000 --type f64 -n 2",
     declare_sort},
    {"fmm", "the fast multipole method in five forms of tasks, compared and validated",
     "shoal fmm --bodies 100000 --distribution ellipsoid --picture fmm.svg", declare_fmm},
    {"mpirun", "run an MPI program with many ranks per process", "shoal mpirun -n 2 --nfg 64 -- ./program",
     declare_mpirun},
    {"mpiexec", "the same as mpirun", "shoal mpiexec -n 2 --nfg 64 -- ./program", declare_mpirun},
    {"mpicc", "compile an MPI program in C for shoal mpirun", "shoal mpicc -O2 -o program program.c", declare_mpicc},
    {"mpicxx", "compile an MPI program in C++ for shoal mpirun", "shoal mpicxx -O2 -o program program.cpp",
     declare_mpicxx},
    {"mpif90", "compile an MPI program in Fortran for shoal mpirun", "shoal mpif90 -O2 -o program program.f90",
     declare_mpif90},
    {"mpifort", "the same as mpif90", "shoal mpifort -O2 -o program program.f90", declare_mpif90},
    {"mpif77", "the same as mpif90", "shoal mpif77 -O2 -o program program.f", declare_mpif90},
    {"mpi-threads", "fair and prioritised access of an MPI program's threads to its MPI library",
     "shoal mpi-threads --lock priority -- mpirun -n 2 ./program", declare_mpi_threads},
    {"noise", "what the operating system takes from programs here, how often and why",
     "shoal noise --seconds 10 --report noise.html\n  shoal noise --explain -- ./program argument\n"
     "  shoal noise --inject message,quantum --delays 1us,10us -- shoal bfs --kronecker 14 -n 2",
     declare_noise},
    {"sim", "run a program on a simulated machine of many nodes, in virtual time",
     "shoal sim --nodes 256 -- ./program argument\n  shoal sim --nodes 64 --network ethernet --seed 7 -- ./program",
     declare_sim},
    {"trace", "what a program's workers did, and when",
     "shoal trace --report run.html -- shoal bfs --kronecker 16 -n 2\n  shoal trace --read --perfetto run.json",
     declare_trace},
    {"tune", "find good values for the parameters of a program, and for settings, by running it",
     "shoal tune --parameter grain=1:4096:log2 --parameter tile=16,32,64 -- ./app --grain {grain} --tile {tile}\n"
     "  shoal tune --setting steal=random,nearest,loaded --metric json:mteps -- shoal bfs --json -",
     declare_tune},
    {"bench", "measure", "shoal bench --list\n  shoal bench limits --seconds 0.1 --json -", declare_bench},
};

}  // namespace

std::span<const subcommand> subcommands() { return k_subcommands; }

offered offer(CLI::App& app, std::span<const subcommand> table) {
  offered all;
  for (const subcommand& one : table) {
    CLI::App* sub = app.add_subcommand(one.name, one.summary);
    sub->footer(std::string("Example:\n  ") + one.example);
    all.emplace_back(sub, one.declare(*sub));
  }
  return all;
}

int run_chosen(const offered& all, const subcommand_body& otherwise) {
  for (const auto& [app, body] : all) {
    if (app->parsed()) return body();
  }
  return otherwise();
}

}  // namespace shoal::tools
