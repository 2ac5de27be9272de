// SPDX-License-Identifier: Apache-2.0
// Errors: what becomes of them, error handlers, classes and codes (MPI 5.0, chapter 9).
#include <fmt/format.h>

#include <algorithm>
#include <cstdlib>
#include <cstring>

#include "base/log.hpp"
#include "rank/abi/entry.hpp"
#include "rank/abi/hosting.hpp"
#include "rank/abi/making.hpp"
#include "rank/abi/text_argument.hpp"

namespace shoal::rank::abi {
namespace {

struct class_text {
  int code;
  const char* name;
  const char* text;
};

constexpr class_text k_classes[] = {
    {MPI_SUCCESS, "MPI_SUCCESS", "no error"},
    {MPI_ERR_BUFFER, "MPI_ERR_BUFFER", "a wrong buffer"},
    {MPI_ERR_COUNT, "MPI_ERR_COUNT", "a wrong count"},
    {MPI_ERR_TYPE, "MPI_ERR_TYPE", "a wrong datatype"},
    {MPI_ERR_TAG, "MPI_ERR_TAG", "a wrong tag"},
    {MPI_ERR_COMM, "MPI_ERR_COMM", "a wrong communicator"},
    {MPI_ERR_RANK, "MPI_ERR_RANK", "a wrong rank"},
    {MPI_ERR_REQUEST, "MPI_ERR_REQUEST", "a wrong request"},
    {MPI_ERR_ROOT, "MPI_ERR_ROOT", "a wrong root"},
    {MPI_ERR_GROUP, "MPI_ERR_GROUP", "a wrong group"},
    {MPI_ERR_OP, "MPI_ERR_OP", "a wrong operation"},
    {MPI_ERR_TOPOLOGY, "MPI_ERR_TOPOLOGY", "a wrong topology"},
    {MPI_ERR_DIMS, "MPI_ERR_DIMS", "wrong dimensions"},
    {MPI_ERR_ARG, "MPI_ERR_ARG", "a wrong argument"},
    {MPI_ERR_UNKNOWN, "MPI_ERR_UNKNOWN", "an unknown error"},
    {MPI_ERR_TRUNCATE, "MPI_ERR_TRUNCATE", "a message is longer than its receive"},
    {MPI_ERR_OTHER, "MPI_ERR_OTHER", "an error that has no class of its own"},
    {MPI_ERR_INTERN, "MPI_ERR_INTERN", "an error inside the library"},
    {MPI_ERR_PENDING, "MPI_ERR_PENDING", "a request that has not completed"},
    {MPI_ERR_IN_STATUS, "MPI_ERR_IN_STATUS", "an error that the status tells"},
    {MPI_ERR_ACCESS, "MPI_ERR_ACCESS", "access to a file is refused"},
    {MPI_ERR_AMODE, "MPI_ERR_AMODE", "a wrong mode of a file"},
    {MPI_ERR_ASSERT, "MPI_ERR_ASSERT", "a wrong assertion of a window"},
    {MPI_ERR_BAD_FILE, "MPI_ERR_BAD_FILE", "a wrong name of a file"},
    {MPI_ERR_BASE, "MPI_ERR_BASE", "a wrong base address"},
    {MPI_ERR_CONVERSION, "MPI_ERR_CONVERSION", "data cannot be converted"},
    {MPI_ERR_DISP, "MPI_ERR_DISP", "a wrong displacement"},
    {MPI_ERR_DUP_DATAREP, "MPI_ERR_DUP_DATAREP", "a data representation that there is already"},
    {MPI_ERR_FILE_EXISTS, "MPI_ERR_FILE_EXISTS", "the file exists"},
    {MPI_ERR_FILE_IN_USE, "MPI_ERR_FILE_IN_USE", "the file is in use"},
    {MPI_ERR_FILE, "MPI_ERR_FILE", "a wrong file handle"},
    {MPI_ERR_INFO_KEY, "MPI_ERR_INFO_KEY", "a wrong key of an info object"},
    {MPI_ERR_INFO_NOKEY, "MPI_ERR_INFO_NOKEY", "a key that the info object does not have"},
    {MPI_ERR_INFO_VALUE, "MPI_ERR_INFO_VALUE", "a wrong value of an info object"},
    {MPI_ERR_INFO, "MPI_ERR_INFO", "a wrong info object"},
    {MPI_ERR_IO, "MPI_ERR_IO", "an error of input or output"},
    {MPI_ERR_KEYVAL, "MPI_ERR_KEYVAL", "a wrong attribute key"},
    {MPI_ERR_LOCKTYPE, "MPI_ERR_LOCKTYPE", "a wrong kind of lock"},
    {MPI_ERR_NAME, "MPI_ERR_NAME", "a name that nobody has published"},
    {MPI_ERR_NO_MEM, "MPI_ERR_NO_MEM", "there is not enough memory"},
    {MPI_ERR_NOT_SAME, "MPI_ERR_NOT_SAME", "arguments differ between ranks"},
    {MPI_ERR_NO_SPACE, "MPI_ERR_NO_SPACE", "there is not enough room on the disk"},
    {MPI_ERR_NO_SUCH_FILE, "MPI_ERR_NO_SUCH_FILE", "there is no such file"},
    {MPI_ERR_PORT, "MPI_ERR_PORT", "a wrong port"},
    {MPI_ERR_QUOTA, "MPI_ERR_QUOTA", "the quota is used up"},
    {MPI_ERR_READ_ONLY, "MPI_ERR_READ_ONLY", "the file cannot be written"},
    {MPI_ERR_RMA_ATTACH, "MPI_ERR_RMA_ATTACH", "memory cannot be attached to the window"},
    {MPI_ERR_RMA_CONFLICT, "MPI_ERR_RMA_CONFLICT", "conflicting accesses to a window"},
    {MPI_ERR_RMA_RANGE, "MPI_ERR_RMA_RANGE", "memory outside of the window"},
    {MPI_ERR_RMA_SHARED, "MPI_ERR_RMA_SHARED", "memory cannot be shared"},
    {MPI_ERR_RMA_SYNC, "MPI_ERR_RMA_SYNC", "wrong synchronization of a window"},
    {MPI_ERR_SERVICE, "MPI_ERR_SERVICE", "a wrong service name"},
    {MPI_ERR_SIZE, "MPI_ERR_SIZE", "a wrong size"},
    {MPI_ERR_SPAWN, "MPI_ERR_SPAWN", "processes cannot be started"},
    {MPI_ERR_UNSUPPORTED_DATAREP, "MPI_ERR_UNSUPPORTED_DATAREP", "a data representation that is not supported"},
    {MPI_ERR_UNSUPPORTED_OPERATION, "MPI_ERR_UNSUPPORTED_OPERATION", "an operation that is not supported"},
    {MPI_ERR_WIN, "MPI_ERR_WIN", "a wrong window"},
    {MPI_ERR_RMA_FLAVOR, "MPI_ERR_RMA_FLAVOR", "a window of the wrong kind"},
    {MPI_ERR_PROC_ABORTED, "MPI_ERR_PROC_ABORTED", "a process has ended"},
    {MPI_ERR_VALUE_TOO_LARGE, "MPI_ERR_VALUE_TOO_LARGE", "a value does not fit"},
    {MPI_ERR_SESSION, "MPI_ERR_SESSION", "a wrong session"},
    {MPI_ERR_ERRHANDLER, "MPI_ERR_ERRHANDLER", "a wrong error handler"},
    {MPI_ERR_ABI, "MPI_ERR_ABI", "another binary interface"},
};

const class_text* find_class(int code) noexcept {
  const auto* const at = std::ranges::find(k_classes, code, &class_text::code);
  return at == std::end(k_classes) ? nullptr : at;
}

// Of a program without a host, which may add some before it has a rank.
error_codes& added() {
  static error_codes of_process;
  rank_state* const me = current_rank() != nullptr ? current_rank() : rank_of_thread();
  return me == nullptr || me == unhosted_rank() ? of_process : me->added_errors;
}

void check_class(int error_class) {
  if (find_class(error_class) == nullptr && !added().find(error_class, nullptr, nullptr))
    throw mpi_error(MPI_ERR_ARG, fmt::format("{} is no error class", error_class));
}

std::string name_of(int code) {
  const class_text* const known = find_class(code);
  return known != nullptr ? known->name : fmt::format("error {}", code);
}

}  // namespace

int last_used_code() { return std::max<int>(added().last(), MPI_ERR_LASTCODE); }

int raise(rank_state& me, communicator* where, int code, const std::string& text, const char* function) {
  // What has no communicator is MPI_COMM_SELF's. One that has been freed serves operations that have not ended.
  communicator* const of_errors = where != nullptr ? where : me.self.get();
  const error_handler_ref& own = of_errors != nullptr ? of_errors->member(me).errors : me.initial_errors;
  const error_handler_ref handler = own.is_none() ? me.initial_errors : own;
  MPI_Comm comm = MPI_COMM_SELF;
  if (of_errors != nullptr && of_errors->has(me)) comm = handle_of_communicator(me, *of_errors);
  return raise_to(me, handler, &comm, code, text,
                  where == nullptr ? function + 1 : std::string(function + 1) + " in " + where->shown_name());
}

int raise_to(rank_state& me, const error_handler_ref& handler, void* handle, int code, const std::string& text,
             const std::string& call) {
  if (handler.handle() == MPI_ERRORS_RETURN) return code;
  if (error_handler* const o = handler.object(); o != nullptr) {
    int returned = code;  // which the handler may change
    (*o)(handle, &returned);
    return returned;
  }
  me.job.abort_job(me.job, code, fmt::format("rank {}: {}: {} ({})", me.world, call, text, name_of(code)));
  return code;
}

int raise_anywhere(int code, const std::string& text, const char* function) {
  if (rank_state* const me = current_rank(); me != nullptr) return raise(*me, nullptr, code, text, function);
  if (rank_of_thread() == nullptr) {
    base::write_line("", fmt::format("{}: {} ({})", function + 1, text, name_of(code)));
    std::exit(code);
  }
  struct raised {
    int code;
    const std::string& text;
    const char* function;
  } mine{code, text, function};
  return call_as_rank(
      [](void* raw) {
        const auto& r = *static_cast<raised*>(raw);
        return raise(*current_rank(), nullptr, r.code, r.text, r.function);
      },
      &mine, function);
}

void release_last_memory() noexcept {
  rank_state* const me = current_rank() != nullptr ? current_rank() : rank_of_thread();
  if (me != nullptr) me->job.release_last_memory();
}

error_handler_ref checked_handler(MPI_Errhandler h) {
  if (is_predefined(h)) {
    if (h != MPI_ERRORS_ARE_FATAL && h != MPI_ERRORS_RETURN && h != MPI_ERRORS_ABORT)
      throw mpi_error(MPI_ERR_ERRHANDLER, "no handle of an error handler");
  } else {
    object_of<error_handler>(h);
  }
  return error_handler_ref(h);
}

MPI_Errhandler new_handle(const error_handler_ref& own, const rank_state& me) {
  MPI_Errhandler h = own.is_none() ? me.initial_errors.handle() : own.handle();
  if (h == MPI_ERRHANDLER_NULL) h = MPI_ERRORS_ARE_FATAL;
  if (!is_predefined(h)) object_of<error_handler>(h).references.fetch_add(1, std::memory_order_relaxed);
  return h;
}

void check_stage(rank_state& me, const char* function) {
  if (me.sessions != 0) return;
  me.job.abort_job(me.job, MPI_ERR_OTHER,
                   fmt::format("rank {} calls {} {}", me.world, function + 1,
                               me.stage == life::before_init ? "before MPI_Init" : "after MPI_Finalize"));
}

}  // namespace shoal::rank::abi

using namespace shoal::rank;       // NOLINT: the functions of a C interface
using namespace shoal::rank::abi;  // NOLINT

namespace {

template <class F>
void make_handler(F* f, MPI_Errhandler* result) {
  if (f == nullptr) throw mpi_error(MPI_ERR_ARG, "the function of the error handler is null");
  MPI_Errhandler& made = output(result);
  auto* const o = new error_handler(reinterpret_cast<error_handler::function*>(f));
  o->references.store(1, std::memory_order_relaxed);
  made = handle_of<MPI_Errhandler>(*o);
}

}  // namespace

extern "C" {

int PMPI_Comm_create_errhandler(MPI_Comm_errhandler_function* f, MPI_Errhandler* errhandler) {
  return enter_anywhere([&] { make_handler(f, errhandler); });
}
MPI_ABI_ALIAS(Comm_create_errhandler)

int PMPI_Session_create_errhandler(MPI_Session_errhandler_function* f, MPI_Errhandler* errhandler) {
  return enter_anywhere([&] { make_handler(f, errhandler); });
}
MPI_ABI_ALIAS(Session_create_errhandler)

int PMPI_Comm_set_errhandler(MPI_Comm comm, MPI_Errhandler errhandler) {
  return enter(comm, [&](caller& c, communicator& in) { in.member(c.me).errors = checked_handler(errhandler); });
}
MPI_ABI_ALIAS(Comm_set_errhandler)

int PMPI_Comm_get_errhandler(MPI_Comm comm, MPI_Errhandler* errhandler) {
  return enter(comm,
               [&](caller& c, communicator& in) { output(errhandler) = new_handle(in.member(c.me).errors, c.me); });
}
MPI_ABI_ALIAS(Comm_get_errhandler)

int PMPI_Errhandler_free(MPI_Errhandler* errhandler) {
  return enter_anywhere([&] {
    MPI_Errhandler& h = output(errhandler);
    if (is_predefined(h)) {
      checked_handler(h);
    } else {
      const error_handler_ref last(h);
      object_of<error_handler>(h).references.fetch_sub(1, std::memory_order_relaxed);
    }
    h = MPI_ERRHANDLER_NULL;
  });
}
MPI_ABI_ALIAS(Errhandler_free)

int PMPI_Comm_call_errhandler(MPI_Comm comm, int errorcode) {
  return enter(comm, [&](caller& c, communicator& in) {
    raise(c.me, &in, errorcode, "the program has called the error handler", c.function);
  });
}
MPI_ABI_ALIAS(Comm_call_errhandler)

int PMPI_Error_class(int errorcode, int* errorclass) {
  return enter_anywhere([&] {
    int& result = output(errorclass);
    if (find_class(errorcode) != nullptr)
      result = errorcode;
    else if (!added().find(errorcode, &result, nullptr))
      throw mpi_error(MPI_ERR_ARG, fmt::format("{} is no error code", errorcode));
  });
}
MPI_ABI_ALIAS(Error_class)

int PMPI_Error_string(int errorcode, char* string, int* resultlen) {
  return enter_anywhere([&] {
    std::string text;
    if (const class_text* const known = find_class(errorcode); known != nullptr)
      text = fmt::format("{}: {}", known->name, known->text);
    else if (!added().find(errorcode, nullptr, &text))
      throw mpi_error(MPI_ERR_ARG, fmt::format("{} is no error code", errorcode));
    give_text(text, string, MPI_MAX_ERROR_STRING, resultlen);
  });
}
MPI_ABI_ALIAS(Error_string)

int PMPI_Add_error_class(int* errorclass) {
  return enter_anywhere([&] { output(errorclass) = added().add_class(); });
}
MPI_ABI_ALIAS(Add_error_class)

int PMPI_Add_error_code(int errorclass, int* errorcode) {
  return enter_anywhere([&] {
    check_class(errorclass);
    output(errorcode) = added().add_code(errorclass);
  });
}
MPI_ABI_ALIAS(Add_error_code)

int PMPI_Add_error_string(int errorcode, const char* string) {
  return enter_anywhere([&] { added().set_text(errorcode, checked_text(string, MPI_MAX_ERROR_STRING)); });
}
MPI_ABI_ALIAS(Add_error_string)

int PMPI_Remove_error_class(int errorclass) {
  return enter_anywhere([&] { added().remove(errorclass); });
}
MPI_ABI_ALIAS(Remove_error_class)

int PMPI_Remove_error_code(int errorcode) {
  return enter_anywhere([&] { added().remove(errorcode); });
}
MPI_ABI_ALIAS(Remove_error_code)

int PMPI_Remove_error_string(int errorcode) {
  return enter_anywhere([&] { added().set_text(errorcode, {}); });
}
MPI_ABI_ALIAS(Remove_error_string)
}
