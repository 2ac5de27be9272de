// SPDX-License-Identifier: Apache-2.0
// Everything a program of the first two models includes: tasks, global arrays, loops over the cluster.
#pragma once

#include "shoal/array.hpp"
#include "shoal/error.hpp"
#include "shoal/future.hpp"
#include "shoal/loop.hpp"
#include "shoal/on.hpp"
#include "shoal/parallel_for.hpp"
#include "shoal/partition.hpp"
#include "shoal/pool.hpp"
#include "shoal/profile.hpp"
#include "shoal/random.hpp"
#include "shoal/range.hpp"
#include "shoal/remote_error.hpp"
#include "shoal/run.hpp"
#include "shoal/spmd.hpp"
#include "shoal/steal_policy.hpp"
#include "shoal/sync.hpp"
#include "shoal/task.hpp"
#include "shoal/task_flow.hpp"
#include "shoal/task_graph.hpp"
