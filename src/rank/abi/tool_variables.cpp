// SPDX-License-Identifier: Apache-2.0
// The tool interface (MPI 5.0, chapter 15): the lengths of a rank's queues as performance variables. There are no control
// variables, categories, events: their numbers are 0, and what needs one is refused as an invalid index or handle.
// Any thread of a rank may call; errors are codes only. Test: tests/conformance/tool_interface.c.
#include <algorithm>
#include <atomic>
#include <cstring>
#include <memory>
#include <mutex>
#include <new>
#include <set>
#include <string_view>
#include <type_traits>

#include "rank/abi/entry.hpp"
#include "rank/abi/hosting.hpp"

using namespace shoal::rank;       // NOLINT: the functions of a C interface
using namespace shoal::rank::abi;  // NOLINT

struct MPI_ABI_T_pvar_handle {
  int variable;
};
struct MPI_ABI_T_pvar_session {
  std::mutex mutex;  // threads of a rank
  std::set<MPI_T_pvar_handle> handles;
};

namespace {

struct variable {
  std::string_view name;
  std::string_view text;
  int var_class;
  unsigned long long (*value)(const rank_state&);
};

constexpr variable k_variables[] = {
    {"unexpected_queue_length", "messages that have arrived and wait for a receive", MPI_T_PVAR_CLASS_LEVEL,
     [](const rank_state& r) -> unsigned long long { return r.queues.messages(); }},
    {"posted_queue_length", "receives that wait for a message", MPI_T_PVAR_CLASS_LEVEL,
     [](const rank_state& r) -> unsigned long long { return r.queues.receives(); }},
    {"eager_bytes", "bytes that the rank has sent within its process and that no receive has taken yet",
     MPI_T_PVAR_CLASS_LEVEL,
     [](const rank_state& r) -> unsigned long long { return r.eager_bytes.load(std::memory_order_relaxed); }},
};
constexpr int k_count = static_cast<int>(std::size(k_variables));

// Of this process: the interface has no rank before MPI_Init. Partners: the threads that start and end it.
std::atomic<int> started{0};

int unless_started(int otherwise = MPI_SUCCESS) noexcept {
  return started.load(std::memory_order_acquire) > 0 ? otherwise : MPI_T_ERR_NOT_INITIALIZED;
}

// As much as there is room for; the length counts the zero.
void give(std::string_view text, char* to, int* length) noexcept {
  if (length == nullptr) return;
  if (to != nullptr && *length > 0) {
    const std::size_t n = std::min(text.size(), static_cast<std::size_t>(*length) - 1);
    std::memcpy(to, text.data(), n);
    to[n] = '\0';
  }
  *length = static_cast<int>(text.size()) + 1;
}

template <class T>
void give(T* to, std::type_identity_t<T> value) noexcept {
  if (to != nullptr) *to = value;
}

int count_of_none(int* to) noexcept {
  if (to == nullptr) return MPI_T_ERR_INVALID;
  const int code = unless_started();
  if (code == MPI_SUCCESS) *to = 0;
  return code;
}

int check(MPI_T_pvar_session session, MPI_T_pvar_handle handle) {
  if (const int code = unless_started(); code != MPI_SUCCESS) return code;
  if (session == MPI_T_PVAR_SESSION_NULL) return MPI_T_ERR_INVALID_SESSION;
  const std::lock_guard hold(session->mutex);
  return session->handles.contains(handle) ? int{MPI_SUCCESS} : int{MPI_T_ERR_INVALID_HANDLE};
}

// The queues belong to the rank's worker: a thread asks there.
int read(const variable& of, void* into) {
  if (into == nullptr) return MPI_T_ERR_INVALID;
  if (current_rank() == nullptr && rank_of_thread() == nullptr) return MPI_T_ERR_NOT_ACCESSIBLE;
  return enter_any_time([&](caller& c) { *static_cast<unsigned long long*>(into) = of.value(c.me); },
                        "PMPI_T_pvar_read");
}

}  // namespace

extern "C" {

int PMPI_T_init_thread(int required, int* provided) {
  static_cast<void>(required);
  if (provided == nullptr) return MPI_T_ERR_INVALID;
  *provided = MPI_THREAD_MULTIPLE;
  started.fetch_add(1, std::memory_order_acq_rel);
  return MPI_SUCCESS;
}
MPI_ABI_ALIAS(T_init_thread)

int PMPI_T_finalize(void) {
  if (const int code = unless_started(); code != MPI_SUCCESS) return code;
  started.fetch_sub(1, std::memory_order_acq_rel);
  return MPI_SUCCESS;
}
MPI_ABI_ALIAS(T_finalize)

int PMPI_T_pvar_get_num(int* num) {
  if (num == nullptr) return MPI_T_ERR_INVALID;
  const int code = unless_started();
  if (code == MPI_SUCCESS) *num = k_count;
  return code;
}
MPI_ABI_ALIAS(T_pvar_get_num)

int PMPI_T_pvar_get_info(int index, char* name, int* name_len, int* verbosity, int* var_class, MPI_Datatype* datatype,
                         MPI_T_enum* enumtype, char* desc, int* desc_len, int* bind, int* readonly, int* continuous,
                         int* atomic) {
  if (const int code = unless_started(); code != MPI_SUCCESS) return code;
  if (index < 0 || index >= k_count) return MPI_T_ERR_INVALID_INDEX;
  const variable& v = k_variables[index];
  give(v.name, name, name_len);
  give(v.text, desc, desc_len);
  give(verbosity, MPI_T_VERBOSITY_USER_BASIC);
  give(var_class, v.var_class);
  give(datatype, MPI_UNSIGNED_LONG_LONG);
  give(enumtype, MPI_T_ENUM_NULL);
  give(bind, MPI_T_BIND_NO_OBJECT);
  give(readonly, 1);
  give(continuous, 1);
  give(atomic, 0);
  return MPI_SUCCESS;
}
MPI_ABI_ALIAS(T_pvar_get_info)

int PMPI_T_pvar_get_index(const char* name, int var_class, int* index) {
  if (const int code = unless_started(); code != MPI_SUCCESS) return code;
  if (name == nullptr || index == nullptr) return MPI_T_ERR_INVALID;
  for (int i = 0; i < k_count; ++i)
    if (k_variables[i].name == name && k_variables[i].var_class == var_class) {
      *index = i;
      return MPI_SUCCESS;
    }
  return MPI_T_ERR_INVALID_NAME;
}
MPI_ABI_ALIAS(T_pvar_get_index)

int PMPI_T_pvar_session_create(MPI_T_pvar_session* session) {
  if (const int code = unless_started(); code != MPI_SUCCESS) return code;
  if (session == nullptr) return MPI_T_ERR_INVALID;
  *session = new (std::nothrow) MPI_ABI_T_pvar_session;
  return *session == nullptr ? int{MPI_T_ERR_OUT_OF_SESSIONS} : int{MPI_SUCCESS};
}
MPI_ABI_ALIAS(T_pvar_session_create)

int PMPI_T_pvar_session_free(MPI_T_pvar_session* session) {
  if (const int code = unless_started(); code != MPI_SUCCESS) return code;
  if (session == nullptr || *session == MPI_T_PVAR_SESSION_NULL) return MPI_T_ERR_INVALID_SESSION;
  for (MPI_T_pvar_handle h : (*session)->handles) delete h;
  delete *session;
  *session = MPI_T_PVAR_SESSION_NULL;
  return MPI_SUCCESS;
}
MPI_ABI_ALIAS(T_pvar_session_free)

int PMPI_T_pvar_handle_alloc(MPI_T_pvar_session session, int index, void*, MPI_T_pvar_handle* handle, int* count) {
  if (const int code = unless_started(); code != MPI_SUCCESS) return code;
  if (session == MPI_T_PVAR_SESSION_NULL) return MPI_T_ERR_INVALID_SESSION;
  if (index < 0 || index >= k_count) return MPI_T_ERR_INVALID_INDEX;
  if (handle == nullptr || count == nullptr) return MPI_T_ERR_INVALID;
  try {
    auto made = std::make_unique<MPI_ABI_T_pvar_handle>(MPI_ABI_T_pvar_handle{index});
    const std::lock_guard hold(session->mutex);
    session->handles.insert(made.get());
    *handle = made.release();
  } catch (const std::bad_alloc&) {
    return MPI_T_ERR_OUT_OF_HANDLES;
  }
  *count = 1;
  return MPI_SUCCESS;
}
MPI_ABI_ALIAS(T_pvar_handle_alloc)

int PMPI_T_pvar_handle_free(MPI_T_pvar_session session, MPI_T_pvar_handle* handle) {
  if (handle == nullptr) return MPI_T_ERR_INVALID_HANDLE;
  if (const int code = check(session, *handle); code != MPI_SUCCESS) return code;
  {
    const std::lock_guard hold(session->mutex);
    session->handles.erase(*handle);
  }
  delete *handle;
  *handle = MPI_T_PVAR_HANDLE_NULL;
  return MPI_SUCCESS;
}
MPI_ABI_ALIAS(T_pvar_handle_free)

int PMPI_T_pvar_read(MPI_T_pvar_session session, MPI_T_pvar_handle handle, void* buf) {
  if (const int code = check(session, handle); code != MPI_SUCCESS) return code;
  return read(k_variables[handle->variable], buf);
}
MPI_ABI_ALIAS(T_pvar_read)

// All are read-only, and always run.
int PMPI_T_pvar_readreset(MPI_T_pvar_session session, MPI_T_pvar_handle handle, void*) {
  const int code = check(session, handle);
  return code != MPI_SUCCESS ? code : MPI_T_ERR_PVAR_NO_WRITE;
}
MPI_ABI_ALIAS(T_pvar_readreset)

int PMPI_T_pvar_write(MPI_T_pvar_session session, MPI_T_pvar_handle handle, const void*) {
  const int code = check(session, handle);
  return code != MPI_SUCCESS ? code : MPI_T_ERR_PVAR_NO_WRITE;
}
MPI_ABI_ALIAS(T_pvar_write)

// Of all handles: those that can be, which is none.
int PMPI_T_pvar_reset(MPI_T_pvar_session session, MPI_T_pvar_handle handle) {
  if (session != MPI_T_PVAR_SESSION_NULL && handle == MPI_T_PVAR_ALL_HANDLES) return unless_started();
  const int code = check(session, handle);
  return code != MPI_SUCCESS ? code : MPI_T_ERR_PVAR_NO_WRITE;
}
MPI_ABI_ALIAS(T_pvar_reset)

int PMPI_T_pvar_start(MPI_T_pvar_session session, MPI_T_pvar_handle handle) {
  if (session != MPI_T_PVAR_SESSION_NULL && handle == MPI_T_PVAR_ALL_HANDLES) return unless_started();
  const int code = check(session, handle);
  return code != MPI_SUCCESS ? code : MPI_T_ERR_PVAR_NO_STARTSTOP;
}
MPI_ABI_ALIAS(T_pvar_start)

int PMPI_T_pvar_stop(MPI_T_pvar_session session, MPI_T_pvar_handle handle) {
  if (session != MPI_T_PVAR_SESSION_NULL && handle == MPI_T_PVAR_ALL_HANDLES) return unless_started();
  const int code = check(session, handle);
  return code != MPI_SUCCESS ? code : MPI_T_ERR_PVAR_NO_STARTSTOP;
}
MPI_ABI_ALIAS(T_pvar_stop)

int PMPI_T_cvar_get_num(int* num) { return count_of_none(num); }
MPI_ABI_ALIAS(T_cvar_get_num)
int PMPI_T_category_get_num(int* num) { return count_of_none(num); }
MPI_ABI_ALIAS(T_category_get_num)
int PMPI_T_category_changed(int* update_number) { return count_of_none(update_number); }
MPI_ABI_ALIAS(T_category_changed)
int PMPI_T_event_get_num(int* num) { return count_of_none(num); }
MPI_ABI_ALIAS(T_event_get_num)
int PMPI_T_source_get_num(int* num) { return count_of_none(num); }
MPI_ABI_ALIAS(T_source_get_num)

int PMPI_T_cvar_get_index(const char*, int*) { return unless_started(MPI_T_ERR_INVALID_NAME); }
MPI_ABI_ALIAS(T_cvar_get_index)
int PMPI_T_category_get_index(const char*, int*) { return unless_started(MPI_T_ERR_INVALID_NAME); }
MPI_ABI_ALIAS(T_category_get_index)
int PMPI_T_event_get_index(const char*, int*) { return unless_started(MPI_T_ERR_INVALID_NAME); }
MPI_ABI_ALIAS(T_event_get_index)
int PMPI_T_cvar_get_info(int, char*, int*, int*, MPI_Datatype*, MPI_T_enum*, char*, int*, int*, int*) {
  return unless_started(MPI_T_ERR_INVALID_INDEX);
}
MPI_ABI_ALIAS(T_cvar_get_info)
int PMPI_T_category_get_info(int, char*, int*, char*, int*, int*, int*, int*) {
  return unless_started(MPI_T_ERR_INVALID_INDEX);
}
MPI_ABI_ALIAS(T_category_get_info)
}
