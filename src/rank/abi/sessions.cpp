// SPDX-License-Identifier: Apache-2.0
// Sessions: their process sets, groups of these, and communicators of groups without a parent (MPI 5.0, 7.4.2 and 11.3).
// Start and end of a session are in life_cycle.cpp.
#include "rank/abi/session.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstring>
#include <string_view>

#include "rank/abi/arguments.hpp"
#include "rank/abi/making.hpp"

using namespace shoal::rank;       // NOLINT: the functions of a C interface
using namespace shoal::rank::abi;  // NOLINT

namespace shoal::rank::abi {

std::string thread_level_of(const info_pairs& hints) {
  constexpr std::string_view k_levels[] = {"MPI_THREAD_SINGLE", "MPI_THREAD_FUNNELED", "MPI_THREAD_SERIALIZED",
                                           "MPI_THREAD_MULTIPLE"};
  const auto asked = std::ranges::find(hints, "thread_level", [](const auto& pair) { return pair.first; });
  if (asked == hints.end() || std::ranges::find(k_levels, asked->second) == std::end(k_levels))
    return "MPI_THREAD_MULTIPLE";
  return asked->second;
}

}  // namespace shoal::rank::abi

namespace {

constexpr std::string_view k_sets[] = {"mpi://WORLD", "mpi://SELF"};

// Runs f(caller, session); an error goes to the session's handler.
template <class F>
int enter_session(MPI_Session handle, const F& f, const char* function = __builtin_FUNCTION()) {
  int raised = MPI_SUCCESS;
  const int code = enter(
      [&](caller& c) {
        session& in = object_of<session>(handle);
        try {
          f(c, in);
        } catch (const mpi_error& e) {
          raised = raise_to(c.me, in.errors, &handle, e.code(), e.what(), std::string(function + 1) + " of a session");
        }
      },
      function);
  return code != MPI_SUCCESS ? code : raised;
}

// nullptr: there is no such set.
group_ref members_of(const rank_state& me, const char* set) {
  if (set == nullptr) throw mpi_error(MPI_ERR_ARG, "the name of the process set is null");
  if (k_sets[0] == set) return me.job.world().local_ref();
  if (k_sets[1] == set) return group::of_range(me.world, 1);
  return nullptr;
}

void make_info(info_pairs pairs, MPI_Info* result) {
  output(result) = handle_of<MPI_Info>(*new info(std::move(pairs)));
}

// Runs f(caller), which makes a communicator; an error goes to the handler that it is to have.
template <class F>
int make_of_groups(MPI_Errhandler errhandler, MPI_Comm* result, const F& f,
                   const char* function = __builtin_FUNCTION()) {
  int raised = MPI_SUCCESS;
  const int code = enter(
      [&](caller& c) {
        const error_handler_ref errors = checked_handler(errhandler);
        MPI_Comm& made = output(result);
        made = MPI_COMM_NULL;
        try {
          made = f(c);
          if (made != MPI_COMM_NULL) communicator_of(c.me, made).member(c.me).errors = errors;
        } catch (const mpi_error& e) {
          raised = raise_to(c.me, errors, &made, e.code(), e.what(), function + 1);
        }
      },
      function);
  return code != MPI_SUCCESS ? code : raised;
}

// Those who make a communicator find each other by it. Equal ones of different texts do no harm unless a rank makes
// both at once, by two threads, with the same leader.
int tag_of(const char* text) {
  if (text == nullptr) throw mpi_error(MPI_ERR_ARG, "the tag is null");
  std::uint32_t hash = 2166136261U;  // FNV-1a
  for (const char* at = text; *at != '\0'; ++at) hash = (hash ^ static_cast<unsigned char>(*at)) * 16777619U;
  return static_cast<int>(hash & k_tag_upper_bound);
}

struct freed_at_end {
  MPI_Comm comm;
  ~freed_at_end() { PMPI_Comm_free(&comm); }
};

void set_hints(caller& c, MPI_Comm made, MPI_Info hints) {
  if (made != MPI_COMM_NULL) communicator_of(c.me, made).member(c.me).hints = pairs_of(hints);
}

}  // namespace

extern "C" {

int PMPI_Session_get_num_psets(MPI_Session handle, MPI_Info, int* npset_names) {
  return enter_session(handle, [&](caller&, session&) { output(npset_names) = static_cast<int>(std::size(k_sets)); });
}
MPI_ABI_ALIAS(Session_get_num_psets)

int PMPI_Session_get_nth_pset(MPI_Session handle, MPI_Info, int n, int* pset_len, char* pset_name) {
  return enter_session(handle, [&](caller&, session&) {
    if (n < 0 || n >= static_cast<int>(std::size(k_sets)))
      throw mpi_error(MPI_ERR_ARG, fmt::format("process set {} is not in 0 to {}", n, std::size(k_sets) - 1));
    const std::string_view name = k_sets[n];
    const int room = output(pset_len);
    *pset_len = static_cast<int>(name.size()) + 1;
    if (room <= 0) return;
    const std::size_t stored = std::min(name.size(), static_cast<std::size_t>(room) - 1);
    std::memcpy(&output(pset_name), name.data(), stored);
    pset_name[stored] = '\0';
  });
}
MPI_ABI_ALIAS(Session_get_nth_pset)

int PMPI_Session_get_pset_info(MPI_Session handle, const char* pset_name, MPI_Info* result) {
  return enter_session(handle, [&](caller& c, session&) {
    const group_ref members = members_of(c.me, pset_name);
    if (members == nullptr) throw mpi_error(MPI_ERR_ARG, fmt::format("there is no process set {}", pset_name));
    make_info({{"mpi_size", std::to_string(members->size())}}, result);
  });
}
MPI_ABI_ALIAS(Session_get_pset_info)

int PMPI_Session_get_info(MPI_Session handle, MPI_Info* info_used) {
  return enter_session(handle, [&](caller&, session& in) {
    make_info({{"thread_level", in.thread_level}}, info_used);
  });
}
MPI_ABI_ALIAS(Session_get_info)

// Of a set that there is not, MPI_GROUP_NULL.
int PMPI_Group_from_session_pset(MPI_Session handle, const char* pset_name, MPI_Group* newgroup) {
  return enter_session(handle, [&](caller& c, session&) {
    MPI_Group& made = output(newgroup);
    made = MPI_GROUP_NULL;
    const group_ref members = members_of(c.me, pset_name);
    if (members == nullptr) return;
    members.get()->add_reference();
    made = handle_of<MPI_Group>(*members.get());
  });
}
MPI_ABI_ALIAS(Group_from_session_pset)

int PMPI_Session_set_errhandler(MPI_Session handle, MPI_Errhandler errhandler) {
  return enter_session(handle, [&](caller&, session& in) { in.errors = checked_handler(errhandler); });
}
MPI_ABI_ALIAS(Session_set_errhandler)

int PMPI_Session_get_errhandler(MPI_Session handle, MPI_Errhandler* errhandler) {
  return enter_session(handle, [&](caller& c, session& in) { output(errhandler) = new_handle(in.errors, c.me); });
}
MPI_ABI_ALIAS(Session_get_errhandler)

int PMPI_Session_call_errhandler(MPI_Session handle, int errorcode) {
  return enter_session(handle, [&](caller& c, session& in) {
    raise_to(c.me, in.errors, &handle, errorcode, "the program has called the error handler", c.function + 1);
  });
}
MPI_ABI_ALIAS(Session_call_errhandler)

int PMPI_Comm_create_from_group(MPI_Group group_handle, const char* stringtag, MPI_Info hints,
                                MPI_Errhandler errhandler, MPI_Comm* newcomm) {
  return make_of_groups(errhandler, newcomm, [&](caller& c) {
    const group_ref members = checked_group(group_handle);
    if (members->size() == 0) return MPI_COMM_NULL;
    if (members->rank_of(c.me.world) < 0) throw mpi_error(MPI_ERR_GROUP, "this rank is no member of the group");
    const MPI_Comm made = create_of(c, c.me.job.world(), members, {making::of_groups, tag_of(stringtag)});
    set_hints(c, made, hints);
    return made;
  });
}
MPI_ABI_ALIAS(Comm_create_from_group)

int PMPI_Intercomm_create_from_groups(MPI_Group local_group, int local_leader, MPI_Group remote_group,
                                      int remote_leader, const char* stringtag, MPI_Info hints,
                                      MPI_Errhandler errhandler, MPI_Comm* newintercomm) {
  return make_of_groups(errhandler, newintercomm, [&](caller& c) {
    const group_ref local = checked_group(local_group);
    if (local->size() == 0) return MPI_COMM_NULL;
    if (local->rank_of(c.me.world) < 0) throw mpi_error(MPI_ERR_GROUP, "this rank is no member of the local group");
    const int tag = tag_of(stringtag);
    const MPI_Comm between = create_of(c, c.me.job.world(), local, {making::sides, tag});
    int remote = -1;  // known to the leader
    if (local_leader >= 0 && local_leader < local->size() && local->world_of(local_leader) == c.me.world) {
      const group_ref others = checked_group(remote_group);
      if (remote_leader >= 0 && remote_leader < others->size()) remote = others->world_of(remote_leader);
    }
    const freed_at_end guard{between};
    const MPI_Comm made =
        connect(c, communicator_of(c.me, between), local_leader, MPI_COMM_WORLD, remote, {making::bridge, tag});
    set_hints(c, made, hints);
    return made;
  });
}
MPI_ABI_ALIAS(Intercomm_create_from_groups)
}
