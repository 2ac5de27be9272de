# SPDX-License-Identifier: Apache-2.0
# Makes wrappers from functions.txt and the preprocessed mpi.h of a library: one for each function that the library
# declares.
#   awk -v part=header -f wrappers.awk functions.txt mpi.i     numbers, names and addresses of the calls
#   awk -v part=source -f wrappers.awk functions.txt mpi.i     the wrappers
FNR == 1 { file++ }

file == 1 {
  if ($0 ~ /^#/ || NF == 0) next
  for (i = 2; i <= NF; i++) {
    n = split($i, pair, ":")
    if (pair[1] in class) { print "functions.txt names " pair[1] " twice" > "/dev/stderr"; exit 1 }
    class[pair[1]] = $1
    if (n == 2) twin[pair[1]] = pair[2]
  }
  next
}

/^#/ { next }
{ text = text " " $0 }

function trimmed(s) { gsub(/^[ \t]+|[ \t]+$/, "", s); return s }

function class_of(name,    plain) {
  if (name in class) return class[name]
  plain = name
  if (sub(/_c$/, "", plain) && plain in class) return class[plain]
  return "request"
}

function twin_of(name,    plain) {
  if (name in twin) return twin[name]
  plain = name
  sub(/_c$/, "", plain)
  return twin[plain] "_c"
}

# Splits the parameters of a prototype at the outermost commas: param[1..n], with their names in arg[1..n].
function parameters(list,    i, c, depth, word, n, bare) {
  n = 0; depth = 0; word = ""
  list = list ","
  for (i = 1; i <= length(list); i++) {
    c = substr(list, i, 1)
    if (c == "(" || c == "[") depth++
    if (c == ")" || c == "]") depth--
    if (c == "," && depth == 0) { param[++n] = trimmed(word); word = "" } else word = word c
  }
  if (n == 1 && (param[1] == "void" || param[1] == "")) return 0
  for (i = 1; i <= n; i++) {
    bare = param[i]
    sub(/(\[[^]]*\])+$/, "", bare)
    bare = trimmed(bare)
    if (match(bare, /[A-Za-z_][A-Za-z_0-9]*$/) == 0 || bare !~ /[ *]/) {
      print "cannot read the parameter '" param[i] "'" > "/dev/stderr"; exit 1
    }
    arg[i] = substr(bare, RSTART)
    kind[i] = trimmed(substr(bare, 1, RSTART - 1))
  }
  return n
}

function first_of_kind(wanted, n,    i) {
  for (i = 1; i <= n; i++) if (kind[i] == wanted) return arg[i]
  return ""
}

# Persistent requests do not count: completion makes them inactive and does not free them.
function leaves_request(name) { return name !~ /_init(_c)?$/ && name != "Start" && name != "Cancel" }

function joined(n,    i, s) {
  s = ""
  for (i = 1; i <= n; i++) s = s (i == 1 ? "" : ", ") arg[i]
  return s
}

function wrapper(result, name, list,    n, how, args, number, pmpi, object, head) {
  n = parameters(list)
  how = class_of(name)
  args = joined(n)
  number = "number::" name
  pmpi = "PMPI_" name "(" args ")"
  # Defines both names: the Fortran functions of some libraries call PMPI_.
  printf "\nstatic %s first_%s(%s) {\n  find_library();\n  return %s;\n}\n", result, name, list, pmpi
  printf "constinit std::atomic<library::t_%s> library::%s{first_%s};\n", name, name, name
  printf "asm(\".globl PMPI_%s\\n.type PMPI_%s, %%function\\n.set PMPI_%s, MPI_%s\");\n", name, name, name, name
  head = "SHOAL_EXPORT " result " MPI_" name "(" list ") {\n"
  if (how == "pass") { printf "%s  return %s;\n}\n", head, pmpi; return }
  if (how == "always") { printf "%s  return always::%s(%s);\n}\n", head, name, args; return }
  # A separate function, so that programs without the lock only pay for reading a pointer.
  printf "[[gnu::noinline]] static %s arbitrated_%s(%s) {\n", result, name, list
  if (how == "request") printf "  if (passes()) return measured([&] { return %s; });\n", pmpi
  if (how == "own" || how == "ownwaits") {
    printf "  return own::%s(%s);\n", name, args
  } else if (how == "twin") {
    printf "  return twin(%s, MPI_STATUS_IGNORE, [&](MPI_Request* twin_request) { return PMPI_%s(%s, twin_request); });\n", number, twin_of(name), args
  } else if (how == "twin_status") {
    printf "  return twin(%s, %s, [&](MPI_Request* twin_request) { return PMPI_%s(%s, twin_request); });\n", number, arg[n], twin_of(name), joined(n - 1)
  } else if (how == "section" || how == "window" || how == "file") {
    object = first_of_kind("MPI_Comm", n)
    if (object == "") { print name " has no communicator" > "/dev/stderr"; exit 1 }
    if (how == "section") printf "  return section(%s, %s, [&] { return %s; });\n", number, object, pmpi
    else printf "  return make_%s(%s, %s, %s, [&] { return %s; });\n", how, number, object, arg[n], pmpi
  } else if (how == "onwindow" || how == "onfile") {
    object = first_of_kind(how == "onwindow" ? "MPI_Win" : "MPI_File", n)
    printf "  return section_on(%s, %s, [&] { return %s; });\n", number, object, pmpi
  } else if (how == "waits") {
    printf "  return waits(%s, [&] { return %s; });\n", number, pmpi
  } else if (how == "request" && n > 0 && kind[n] == "MPI_Request *" && leaves_request(name)) {
    printf "  return shoal::mpi_threads::started(%s, %s, [&] { return %s; });\n", number, arg[n], pmpi
  } else if (how == "request") {
    printf "  return shoal::mpi_threads::request(%s, [&] { return %s; });\n", number, pmpi
  } else {
    print "functions.txt: there is no class " how > "/dev/stderr"; exit 1
  }
  print "}"
  printf "%s  if (%s()) [[likely]] return %s;\n  return arbitrated_%s(%s);\n}\n", head, how == "request" ? "passes_unmeasured" : "passes", pmpi, name, args
}

END {
  while (match(text, /__attribute__ *\(\([^()]*(\([^()]*\)[^()]*)*\)\)/)) {
    text = substr(text, 1, RSTART - 1) " " substr(text, RSTART + RLENGTH)
  }
  count = split(text, statements, ";")
  print "// Made by wrappers.awk."
  if (part == "header") print "#pragma once\n#include <atomic>\nnamespace shoal::mpi_threads {\nstruct number {\n  enum : int {"
  else print "#include \"tools/mpi-threads/library/wrapping.hpp\"\nusing namespace shoal::mpi_threads;\nstatic void find_library();"
  for (s = 1; s <= count; s++) {
    line = trimmed(statements[s])
    sub(/^extern[ \t]+/, "", line)
    gsub(/[ \t]+/, " ", line)
    if (line !~ /^(int|double|MPI_[A-Za-z]+) MPI_[A-Z][A-Za-z0-9_]* ?\(.*\)$/) continue
    split(line, words, " ")
    name = substr(line, length(words[1]) + 2)
    list = name
    sub(/ ?\(.*/, "", name)
    sub(/^[^(]*\(/, "", list)
    sub(/\)$/, "", list)
    name = substr(name, 5)
    if (name ~ /^T_/ || class_of(name) == "skip" || name in seen) continue
    seen[name] = 1
    names[++total] = name
    if (part == "source") wrapper(words[1], name, list)
  }
  if (total < 200) { print "mpi.h declares only " total " functions: it could not be read" > "/dev/stderr"; exit 1 }
  if (part == "header") {
    for (i = 1; i <= total; i++) print "    " names[i] ","
    print "    k_count\n  };\n};\ninline constexpr const char* k_names[] = {"
    for (i = 1; i <= total; i++) print "    \"" names[i] "\","
    print "};\n// What waits in the library for other processes.\ninline constexpr const char* k_waiting[] = {"
    for (i = 1; i <= total; i++) if (class_of(names[i]) ~ /waits$/) print "    \"" names[i] "\","
    print "};\n// The library\x27s functions. Partner of all: find_library(), relaxed: any value does, the first one finds the others."
    print "namespace library {"
    for (i = 1; i <= total; i++) {
      printf "using t_%s = decltype(&::PMPI_%s);\nextern std::atomic<t_%s> %s;\n", names[i], names[i], names[i], names[i]
    }
    print "}\n}  // namespace shoal::mpi_threads"
    for (i = 1; i <= total; i++) {
      printf "#define PMPI_%s (*shoal::mpi_threads::library::%s.load(std::memory_order_relaxed))\n", names[i], names[i]
    }
  } else {
    print "\nstatic void find_library() {"
    for (i = 1; i <= total; i++) {
      printf "  library::%s.store(reinterpret_cast<library::t_%s>(in_library(\"PMPI_%s\")), std::memory_order_relaxed);\n", names[i], names[i], names[i]
    }
    print "}"
  }
}
