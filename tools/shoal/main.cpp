// SPDX-License-Identifier: Apache-2.0
#include "tools/shoal/command_line.hpp"

int main(int argc, char** argv) { return shoal::tools::run_command_line({argv + 1, argv + argc}); }
