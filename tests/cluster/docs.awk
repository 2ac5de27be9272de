# SPDX-License-Identifier: Apache-2.0
# Makes functions out of the snippets of a guide: those marked `cpp task` become the body of a main task, those marked
# `cpp run` the body of main().
/^```cpp task/ { printf "void task_snippet_%d() {\n", tasks++; inside = 1; next }
/^```cpp run/ { printf "int run_snippet_%d(int argc, char** argv) {\n", runs++; inside = 1; next }
/^```/ { if (inside) print "}\n"; inside = 0; next }
inside { print }
END {
  print "inline constexpr void (*k_task_snippets[])() = {"
  for (i = 0; i < tasks; i++) printf "  task_snippet_%d,\n", i
  print "};\ninline constexpr int (*k_run_snippets[])(int, char**) = {"
  for (i = 0; i < runs; i++) printf "  run_snippet_%d,\n", i
  print "};"
}
