/* SPDX-License-Identifier: Apache-2.0 */
/* What the C library and the compiler keep between two calls is a rank's own: strtok's place, random numbers, the
   environment, the locale, static and thread-local variables. Other ranks run between the calls. */
#include <locale.h>
#include <stdint.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "check.h"

extern char** environ;

static void let_others_run(void) { MPI_Barrier(MPI_COMM_WORLD); }

static void tokens(void) {
  char text[64], wanted[16];
  snprintf(text, sizeof text, "%d,%d;%d", rank_, rank_ + 1, rank_ + 2);
  char* word = strtok(text, ",;");
  for (int i = 0; i < 3; ++i) {
    let_others_run();
    snprintf(wanted, sizeof wanted, "%d", rank_ + i);
    CHECK(word != NULL && strcmp(word, wanted) == 0);
    word = strtok(NULL, ",;");
  }
  CHECK(word == NULL);
}

/* The additive generator x(i) = x(i - 3) + x(i - 31), of which rand() gives the upper 31 bits. */
struct additive {
  uint32_t x[31];
  int at;
};

static uint32_t next_additive(struct additive* g) {
  const uint32_t sum = g->x[g->at] + g->x[(g->at + 28) % 31];
  g->x[g->at] = sum;
  g->at = (g->at + 1) % 31;
  return sum >> 1;
}

static struct additive begin_additive(uint32_t seed) {
  struct additive g = {{0}, 3};
  int64_t word = seed == 0 ? 1 : seed;
  for (int i = 0; i < 31; ++i) {
    g.x[i] = (uint32_t)word;
    word = 16807 * word % 2147483647;
  }
  for (int i = 0; i < 310; ++i) next_additive(&g);
  return g;
}

static void random_numbers(void) {
  struct additive wanted = begin_additive(1); /* without a seed */
  CHECK_EQUAL(rand(), next_additive(&wanted));
  let_others_run();
  CHECK_EQUAL(random(), next_additive(&wanted));
  srand((unsigned)rank_ + 5);
  wanted = begin_additive((uint32_t)rank_ + 5);
  for (int i = 0; i < 100; ++i) {
    CHECK_EQUAL(rand(), next_additive(&wanted));
    if (i % 20 == 0) let_others_run();
  }
  srandom((unsigned)rank_ * 1000);
  wanted = begin_additive((uint32_t)rank_ * 1000);
  let_others_run();
  CHECK_EQUAL(random(), next_additive(&wanted));
  static char state[64]; /* another state meanwhile */
  char* const before = initstate(3, state, sizeof state);
  const long other = random();
  let_others_run();
  CHECK(setstate(before) == state);
  CHECK_EQUAL(random(), next_additive(&wanted));
  setstate(state);
  initstate(3, state, sizeof state);
  CHECK_EQUAL(random(), other);
}

static uint64_t next_linear(uint64_t* x) {
  *x = (*x * 0x5deece66dULL + 0xb) & ((1ULL << 48) - 1);
  return *x;
}

static void numbers_of_48_bits(void) {
  const long seed = rank_ * 77 + 1;
  uint64_t x = (uint64_t)seed << 16 | 0x330e;
  srand48(seed);
  for (int i = 0; i < 20; ++i) {
    CHECK_EQUAL(lrand48(), next_linear(&x) >> 17);
    let_others_run();
    CHECK(drand48() == (double)next_linear(&x) / (double)(1ULL << 48));
    CHECK_EQUAL(mrand48(), (int32_t)(next_linear(&x) >> 16));
  }
  unsigned short own[3] = {(unsigned short)rank_, 2, 3};
  uint64_t y = (uint64_t)own[2] << 32 | (uint64_t)own[1] << 16 | own[0];
  CHECK_EQUAL(nrand48(own), next_linear(&y) >> 17);
}

static void environment(void) {
  char value[16], other[16], put[32];
  snprintf(value, sizeof value, "%d", rank_);
  CHECK(getenv("SHOALTEST_A") == NULL);
  let_others_run();
  CHECK_EQUAL(setenv("SHOALTEST_A", value, 1), 0);
  snprintf(put, sizeof put, "SHOALTEST_B=b%d", rank_);
  CHECK_EQUAL(putenv(put), 0);
  let_others_run();
  CHECK(getenv("SHOALTEST_A") != NULL && strcmp(getenv("SHOALTEST_A"), value) == 0);
  CHECK(getenv("SHOALTEST_B") == put + strlen("SHOALTEST_B="));
  CHECK_EQUAL(setenv("SHOALTEST_A", "other", 0), 0);
  CHECK(strcmp(getenv("SHOALTEST_A"), value) == 0);
  snprintf(other, sizeof other, "A=%d", rank_);
  int found = 0;
  for (char** e = environ; *e != NULL; ++e)
    if (strncmp(*e, "SHOALTEST_", 10) == 0 && strcmp(*e + 10, other) == 0) ++found;
  CHECK_EQUAL(found, 1);
  FILE* const of_shell = popen("test -n \"$PATH\" && echo \"$SHOALTEST_A$SHOALTEST_B\"", "r");
  char told[32] = "";
  CHECK(of_shell != NULL && fgets(told, sizeof told, of_shell) != NULL);
  snprintf(other, sizeof other, "%db%d\n", rank_, rank_);
  CHECK(strcmp(told, other) == 0);
  CHECK_EQUAL(pclose(of_shell), 0);
  CHECK_EQUAL(setenv("SHOALTEST_C", "it's $0", 1), 0);
  CHECK_EQUAL(system("test \"$SHOALTEST_C\" = \"it's \\$0\""), 0);
  if (rank_ % 2 == 0) unsetenv("SHOALTEST_A");
  let_others_run();
  CHECK((getenv("SHOALTEST_A") == NULL) == (rank_ % 2 == 0));
  CHECK_EQUAL(setenv("NO=NAME", "x", 1), -1);
  char* list[] = {put, NULL};
  environ = list;
  let_others_run();
  CHECK(getenv("SHOALTEST_A") == NULL && getenv("PATH") == NULL);
  CHECK(getenv("SHOALTEST_B") != NULL);
}

static void locales(void) {
  const size_t in_c = MB_CUR_MAX;
  CHECK_EQUAL(in_c, 1);
  CHECK(strcmp(setlocale(LC_ALL, NULL), "C") == 0);
  let_others_run();
  if (setlocale(LC_CTYPE, "C.UTF-8") == NULL) return; /* everywhere the same */
  CHECK(MB_CUR_MAX > 1);
  let_others_run();
  if (rank_ % 2 == 0) CHECK(setlocale(LC_ALL, "C") != NULL);
  for (int i = 0; i < 3; ++i) {
    let_others_run();
    CHECK((MB_CUR_MAX == 1) == (rank_ % 2 == 0));
    CHECK((strcmp(setlocale(LC_CTYPE, NULL), "C") == 0) == (rank_ % 2 == 0));
    CHECK(strcmp(setlocale(LC_NUMERIC, NULL), "C") == 0);
  }
  CHECK(setlocale(LC_ALL, "no_SUCH.locale") == NULL);
  char* const all = strdup(setlocale(LC_ALL, NULL));
  CHECK(setlocale(LC_ALL, "C") != NULL);
  CHECK(setlocale(LC_ALL, all) != NULL);
  CHECK((MB_CUR_MAX == 1) == (rank_ % 2 == 0));
  free(all);
}

static void times_of_day(void) {
  const time_t day = 86400 * (time_t)(rank_ + 1);
  const struct tm* const t = gmtime(&day);
  let_others_run();
  CHECK_EQUAL(t->tm_yday, rank_ + 1);
}

/* The C library reads some of the environment by itself. Time zones are one for a process: the last rank that changes
   it decides, so all ranks have the same here. */
static void of_the_environment(void) {
  const time_t noon = 12 * 3600;
  struct tm t;
  let_others_run();
  CHECK_EQUAL(setenv("TZ", "XXX-5", 1), 0);
  let_others_run();
  tzset();
  CHECK_EQUAL(localtime_r(&noon, &t)->tm_hour, 17);
  let_others_run();
  CHECK_EQUAL(unsetenv("TZ"), 0);
  let_others_run();
  CHECK_EQUAL(setenv("LC_ALL", rank_ % 2 == 0 ? "C" : "C.UTF-8", 1), 0);
  let_others_run();
  const char* const made = setlocale(LC_ALL, "");
  if (made != NULL) CHECK((strcmp(made, "C") == 0) == (rank_ % 2 == 0)); /* NULL: there is no C.UTF-8 */
  CHECK(setlocale(LC_ALL, "C") != NULL);
  CHECK_EQUAL(unsetenv("LC_ALL"), 0);
}

/* A program that a rank becomes has the environment of the rank. */
static void become(const char* name) {
  char value[16], script[64];
  int status = -1;
  snprintf(value, sizeof value, "%d", rank_);
  snprintf(script, sizeof script, "test \"$SHOALTEST_D\" = %d", rank_);
  CHECK_EQUAL(setenv("SHOALTEST_D", value, 1), 0);
  let_others_run();
  const pid_t child = fork();
  if (child == 0) {
    if (strcmp(name, "execl") == 0) execl("/bin/sh", "sh", "-c", script, (char*)NULL);
    if (strcmp(name, "execlp") == 0) execlp("sh", "sh", "-c", script, (char*)NULL);
    char* const words[] = {"sh", "-c", script, NULL};
    if (strcmp(name, "execv") == 0) execv("/bin/sh", words);
    if (strcmp(name, "execvp") == 0) execvp("sh", words);
    _exit(99);
  }
  CHECK(child > 0);
  CHECK_EQUAL(waitpid(child, &status, 0), child);
  CHECK_EQUAL(status, 0);
}

static int counted(void) {
  static int calls = 0;
  return ++calls;
}

static _Thread_local int of_thread = 4;
static int of_file = 3;

static void variables(void) {
  for (int i = 0; i < rank_; ++i) counted();
  of_thread += rank_;
  of_file *= rank_;
  let_others_run();
  CHECK_EQUAL(counted(), rank_ + 1);
  CHECK_EQUAL(of_thread, 4 + rank_);
  CHECK_EQUAL(of_file, 3 * rank_);
}

int main(int argc, char** argv) {
  begin(&argc, &argv);
  tokens();
  random_numbers();
  numbers_of_48_bits();
  of_the_environment();
  become("execl");
  become("execlp");
  become("execv");
  become("execvp");
  environment();
  locales();
  times_of_day();
  variables();
  return end();
}
