/* SPDX-License-Identifier: Apache-2.0 */
/* getopt of a program's own. The C library keeps where it is in the arguments in variables of the process; what is linked
   into a program is private to each of its copies, as ranks need. A program with a getopt of its own keeps that. */
#include <getopt.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define WEAK __attribute__((weak))

WEAK char* optarg;
WEAK int optind = 1;
WEAK int opterr = 1;
WEAK int optopt = '?';

enum order { move_others_behind, give_others_as_1, stop_at_others };

static struct {
  int begun;
  enum order order;
  char* rest; /* the letters of argv[optind] that have not been given */
  /* Arguments that are no options, passed by already: argv[others, others_end). */
  int others, others_end;
} at;

struct call {
  int argc;
  char** argv;
  const char* letters; /* without a sign of the order at their front */
  const struct option* words;
  int* index;
  int words_by_one_dash;
  int speaks;
};

static int is_other(const char* argument) { return argument[0] != '-' || argument[1] == '\0'; }

/* What a missing argument gives. */
static int missing(const struct call* c) { return c->letters[0] == ':' ? ':' : '?'; }

static void reverse(char** from, char** to) {
  while (from < to) {
    char* const kept = *from;
    *from++ = *--to;
    *to = kept;
  }
}

/* Moves the options argv[others_end, optind) in front of the others. */
static void move_others(char** argv) {
  reverse(argv + at.others, argv + at.others_end);
  reverse(argv + at.others_end, argv + optind);
  reverse(argv + at.others, argv + optind);
  at.others += optind - at.others_end;
  at.others_end = optind;
}

static void gather_others(char** argv) {
  if (at.others == at.others_end)
    at.others = at.others_end = optind;
  else if (at.others_end != optind)
    move_others(argv);
}

static void begin(const char* letters, int stops) {
  if (optind == 0) optind = 1;
  at.rest = NULL;
  at.others = at.others_end = optind;
  at.order = letters[0] == '-'                                                 ? give_others_as_1
             : letters[0] == '+' || stops || getenv("POSIXLY_CORRECT") != NULL ? stop_at_others
                                                                               : move_others_behind;
  at.begun = 1;
}

static int same_word(const struct option* a, const struct option* b) {
  return a->has_arg == b->has_arg && a->flag == b->flag && a->val == b->val;
}

static void say_ambiguous(const struct call* c, const char* dashes, size_t length) {
  fprintf(stderr, "%s: option '%s%s' is ambiguous; possibilities:", c->argv[0], dashes, at.rest);
  for (const struct option* o = c->words; o->name != NULL; ++o)
    if (strncmp(o->name, at.rest, length) == 0) fprintf(stderr, " '%s%s'", dashes, o->name);
  fputc('\n', stderr);
}

static int end_word(int answer, int about) {
  ++optind;
  at.rest = NULL;
  optopt = about;
  return answer;
}

/* The word is at.rest. -1: there is none such, and it may be letters. */
static int take_word(const struct call* c, const char* dashes) {
  const size_t length = strcspn(at.rest, "=");
  const struct option* found = NULL;
  int ambiguous = 0;
  for (const struct option* o = c->words; o->name != NULL; ++o) {
    if (strncmp(o->name, at.rest, length) != 0) continue;
    if (strlen(o->name) == length) { /* all of it */
      found = o;
      ambiguous = 0;
      break;
    }
    if (found == NULL)
      found = o;
    else if (c->words_by_one_dash || !same_word(found, o))
      ambiguous = 1;
  }
  if (ambiguous) {
    if (c->speaks) say_ambiguous(c, dashes, length);
    return end_word('?', 0);
  }
  if (found == NULL) {
    if (c->words_by_one_dash && dashes[1] == '\0' && strchr(c->letters, at.rest[0]) != NULL) return -1;
    if (c->speaks) fprintf(stderr, "%s: unrecognized option '%s%s'\n", c->argv[0], dashes, at.rest);
    return end_word('?', 0);
  }
  char* const behind = at.rest[length] == '=' ? at.rest + length + 1 : NULL;
  if (behind != NULL && found->has_arg == no_argument) {
    if (c->speaks) fprintf(stderr, "%s: option '%s%s' doesn't allow an argument\n", c->argv[0], dashes, found->name);
    return end_word('?', found->val);
  }
  if (behind == NULL && found->has_arg == required_argument && optind + 1 >= c->argc) {
    if (c->speaks) fprintf(stderr, "%s: option '%s%s' requires an argument\n", c->argv[0], dashes, found->name);
    return end_word(missing(c), found->val);
  }
  ++optind;
  at.rest = NULL;
  optarg = behind != NULL ? behind : found->has_arg == required_argument ? c->argv[optind++] : NULL;
  if (c->index != NULL) *c->index = (int)(found - c->words);
  if (found->flag == NULL) return found->val;
  *found->flag = found->val;
  return 0;
}

static int take_letter(const struct call* c) {
  const char letter = *at.rest++;
  const char* const known = letter == ':' || letter == ';' ? NULL : strchr(c->letters, letter);
  char* const behind = *at.rest != '\0' ? at.rest : NULL;
  if (behind == NULL) {
    ++optind;
    at.rest = NULL;
  }
  if (known == NULL) {
    if (c->speaks) fprintf(stderr, "%s: invalid option -- '%c'\n", c->argv[0], letter);
    optopt = letter;  // NOLINT(bugprone-signed-char-misuse): as the C library does
    return '?';
  }
  if (known[1] != ':') return letter;
  at.rest = NULL;
  if (behind != NULL) {
    optarg = behind;
    ++optind;
  } else if (known[2] != ':') {
    if (optind >= c->argc) {
      if (c->speaks) fprintf(stderr, "%s: option requires an argument -- '%c'\n", c->argv[0], letter);
      optopt = letter;  // NOLINT(bugprone-signed-char-misuse): as the C library does
      return missing(c);
    }
    optarg = c->argv[optind++];
  }
  return letter;
}

static int parse(struct call c, int stops) {
  if (c.argc < 1) return -1;
  optarg = NULL;
  if (optind == 0 || !at.begun) begin(c.letters, stops);
  if (c.letters[0] == '-' || c.letters[0] == '+') ++c.letters;
  c.speaks = opterr != 0 && c.letters[0] != ':';
  if (at.rest != NULL && *at.rest != '\0') return take_letter(&c);

  /* A program may have set optind. */
  if (at.others_end > optind) at.others_end = optind;
  if (at.others > optind) at.others = optind;
  if (at.order == move_others_behind) {
    gather_others(c.argv);
    while (optind < c.argc && is_other(c.argv[optind])) ++optind;
    at.others_end = optind;
  }
  if (optind < c.argc && strcmp(c.argv[optind], "--") == 0) {
    ++optind;
    gather_others(c.argv);
    optind = at.others_end = c.argc;
  }
  if (optind >= c.argc) {
    if (at.others != at.others_end) optind = at.others;
    return -1;
  }
  char* const argument = c.argv[optind];
  if (is_other(argument)) {
    if (at.order == stop_at_others) return -1;
    optarg = argument;
    ++optind;
    return 1;
  }
  if (c.words != NULL && argument[1] == '-') {
    at.rest = argument + 2;
    return take_word(&c, "--");
  }
  at.rest = argument + 1;
  if (c.words_by_one_dash && (argument[2] != '\0' || strchr(c.letters, argument[1]) == NULL)) {
    const int answer = take_word(&c, "-");
    if (answer != -1) return answer;
  }
  return take_letter(&c);
}

WEAK int getopt(int argc, char* const* argv, const char* letters) {
  return parse((struct call){.argc = argc, .argv = (char**)argv, .letters = letters}, 0);
}

/* What getopt is for programs that ask for nothing but POSIX. */
int __posix_getopt(int argc, char* const* argv, const char* letters);
WEAK int __posix_getopt(int argc, char* const* argv, const char* letters) {
  return parse((struct call){.argc = argc, .argv = (char**)argv, .letters = letters}, 1);
}

WEAK int getopt_long(int argc, char* const* argv, const char* letters, const struct option* words, int* index) {
  return parse((struct call){.argc = argc, .argv = (char**)argv, .letters = letters, .words = words, .index = index},
               0);
}

WEAK int getopt_long_only(int argc, char* const* argv, const char* letters, const struct option* words, int* index) {
  return parse((struct call){.argc = argc,
                             .argv = (char**)argv,
                             .letters = letters,
                             .words = words,
                             .index = index,
                             .words_by_one_dash = words != NULL},
               0);
}
