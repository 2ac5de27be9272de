// SPDX-License-Identifier: Apache-2.0
// Tasks within one node: task_group, parallel_invoke, yield() and poll(). Tests: tests/unit/sched/task_test.cpp.
#pragma once

#include "shoal/parallel_invoke.hpp"
#include "shoal/task_group.hpp"
