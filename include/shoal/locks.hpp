// SPDX-License-Identifier: Apache-2.0
// Locks with a chosen arbitration: who goes next, and how the others wait. All have lock(cls), try_lock() and unlock();
// the first template parameter of each says how threads wait (thread_wait.hpp). make_lock() chooses by name.
// Who may call, and what each guarantees: the header of each kind. docs/locks.md is the guide.
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
