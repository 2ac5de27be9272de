// SPDX-License-Identifier: Apache-2.0
// Locks with a chosen arbitration and a chosen way to wait. All have lock(cls), try_lock() and unlock(). The first
// template parameter is the wait policy (thread_wait.hpp). make_lock() chooses a lock by name.
// Who may call, guarantees: see the header of each kind. Guide: docs/locks.md.
#pragma once

#include "shoal/error.hpp"
#include "shoal/locks/any_lock.hpp"
#include "shoal/locks/bounded.hpp"
#include "shoal/locks/clh.hpp"
#include "shoal/locks/hierarchical.hpp"
#include "shoal/locks/mcs.hpp"
#include "shoal/locks/message.hpp"
#include "shoal/locks/mutex.hpp"
#include "shoal/locks/priority.hpp"
#include "shoal/locks/tas.hpp"
#include "shoal/locks/ticket.hpp"
