/* SPDX-License-Identifier: Apache-2.0 */
/* getopt and getopt_long: each rank reads arguments of its own, in another order, while the others read theirs. Behind a
   message after every option, another rank is somewhere else in its arguments. */
#include <getopt.h>
#include <unistd.h>

#include "check.h"

#define MOST 16

static void let_others_run(void) { MPI_Barrier(MPI_COMM_WORLD); }

/* All ranks call this the same number of times. */
static int next_letter(int argc, char** argv, const char* letters) {
  const int got = getopt(argc, argv, letters);
  let_others_run();
  return got;
}

static void letters(void) {
  char a[] = "-a", b[] = "-b", value[] = "7", glued[] = "-bvalue", both[] = "-ac", word[] = "word", program[] = "p";
  char* first[] = {program, a, b, value, word, both, NULL};
  char* second[] = {program, word, glued, both, a, NULL, NULL};
  char** mine = rank_ % 2 == 0 ? first : second;
  const int argc = rank_ % 2 == 0 ? 6 : 5;
  char got[MOST] = "";
  const char* argument = NULL;
  optind = 1;
  for (int i = 0; i < 6; ++i) {
    const int c = next_letter(argc, mine, "ab:c");
    if (c != -1) got[strlen(got)] = (char)c;
    if (c == 'b') argument = optarg;
  }
  CHECK(strcmp(got, rank_ % 2 == 0 ? "abac" : "baca") == 0);
  CHECK(argument != NULL && strcmp(argument, rank_ % 2 == 0 ? "7" : "value") == 0);
  CHECK_EQUAL(optind, argc - 1); /* the word has been moved behind the options */
  CHECK(strcmp(mine[argc - 1], "word") == 0);
}

static void errors(void) {
  char program[] = "p", unknown[] = "-x", missing[] = "-b";
  char* mine[] = {program, rank_ % 2 == 0 ? unknown : missing, NULL};
  optind = 0; /* from the beginning */
  opterr = 0;
  optopt = 0;
  CHECK_EQUAL(next_letter(2, mine, ":ab:"), rank_ % 2 == 0 ? '?' : ':');
  CHECK_EQUAL(optopt, rank_ % 2 == 0 ? 'x' : 'b');
  CHECK_EQUAL(next_letter(2, mine, ":ab:"), -1);
  CHECK_EQUAL(optind, 2);
  CHECK_EQUAL(opterr, 0);
}

static void orders(void) {
  char program[] = "p", word[] = "w", a[] = "-a", dashes[] = "--", b[] = "-b";
  char* stops[] = {program, a, word, b, NULL};
  optind = 0;
  CHECK_EQUAL(next_letter(4, stops, "+ab"), 'a');
  CHECK_EQUAL(next_letter(4, stops, "+ab"), -1);
  CHECK_EQUAL(optind, 2);
  char* in_place[] = {program, word, a, dashes, b, NULL};
  optind = 0;
  CHECK_EQUAL(next_letter(5, in_place, "-ab"), 1);
  CHECK(optarg == word);
  CHECK_EQUAL(next_letter(5, in_place, "-ab"), 'a');
  CHECK_EQUAL(next_letter(5, in_place, "-ab"), -1);
  CHECK_EQUAL(optind, 4); /* what follows two dashes is no option */
  char* optional[] = {program, b, word, NULL};
  optind = 0;
  CHECK_EQUAL(next_letter(3, optional, "b::"), 'b');
  CHECK(optarg == NULL);
  CHECK_EQUAL(next_letter(3, optional, "b::"), -1);
  CHECK_EQUAL(optind, 2);
}

static void words(void) {
  char program[] = "p", size[24], apart[] = "--size", number[16], verbose[] = "--verb", two[] = "--ver", file[] = "f";
  int seen = 0, index = -1;
  const struct option all[] = {{"size", required_argument, NULL, 's'},
                               {"verbose", no_argument, &seen, 5},
                               {"version", no_argument, NULL, 'V'},
                               {NULL, 0, NULL, 0}};
  snprintf(size, sizeof size, "--size=%d", rank_);
  snprintf(number, sizeof number, "%d", rank_);
  char* together[] = {program, file, size, verbose, two, NULL};
  char* separate[] = {program, verbose, apart, number, two, NULL};
  char** mine = rank_ % 2 == 0 ? together : separate;
  optind = 0;
  opterr = 0;
  int got[4];
  for (int i = 0; i < 4; ++i) {
    got[i] = getopt_long(5, mine, "v", all, &index);
    if (got[i] == 's') CHECK_EQUAL(atoi(optarg), rank_);
    if (got[i] == 0) CHECK_EQUAL(index, 1);
    let_others_run();
  }
  CHECK_EQUAL(got[0], rank_ % 2 == 0 ? 's' : 0);
  CHECK_EQUAL(got[1], rank_ % 2 == 0 ? 0 : 's');
  CHECK_EQUAL(got[2], '?'); /* it begins two words */
  CHECK_EQUAL(got[3], -1);
  CHECK_EQUAL(seen, 5);
  CHECK_EQUAL(optind, rank_ % 2 == 0 ? 4 : 5);
  char one_dash[] = "-version";
  char* only[] = {program, one_dash, NULL};
  optind = 0;
  CHECK_EQUAL(getopt_long_only(2, only, "v", all, NULL), 'V');
  let_others_run();
  CHECK_EQUAL(getopt_long_only(2, only, "v", all, NULL), -1);
}

int main(int argc, char** argv) {
  begin(&argc, &argv);
  letters();
  errors();
  orders();
  words();
  return end();
}
