# SPDX-License-Identifier: Apache-2.0
# Makes functions out of the snippets of the guides: those marked `cpp task` become the body of a main task, `cpp run` the
# body of main(), `cpp pool` that of a task in a pool, `cpp thread` that of a thread of the program.
/^```cpp task/ { printf "void task_snippet_%d() {\n", tasks++; inside = 1; next }
/^```cpp run/ { printf "int run_snippet_%d(int argc, char** argv) {\n", runs++; inside = 1; next }
/^```cpp pool/ { printf "void pool_snippet_%d() {\n", pools++; inside = 1; next }
/^```cpp thread/ { printf "void thread_snippet_%d() {\n", threads++; inside = 1; next }
/^```/ { if (inside) print "}\n"; inside = 0; next }
inside { print }
function list(name, type, count,   i) {
  printf "inline constexpr %s = {\n", type
  for (i = 0; i < count; i++) printf "  %s_snippet_%d,\n", name, i
  print "};"
}
END {
  list("task", "void (*k_task_snippets[])()", tasks)
  list("run", "int (*k_run_snippets[])(int, char**)", runs)
  list("pool", "void (*k_pool_snippets[])()", pools)
  list("thread", "void (*k_thread_snippets[])()", threads)
}
