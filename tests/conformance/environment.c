/* SPDX-License-Identifier: Apache-2.0 */
/* Versions, names, time, memory, info objects, handles as integers. */
#include "check.h"

static void versions(void) {
  char text[MPI_MAX_LIBRARY_VERSION_STRING], name[MPI_MAX_PROCESSOR_NAME];
  int version = 0, subversion = -1, length = -1, major = 0, minor = -1;
  MPI_Get_version(&version, &subversion);
  CHECK(version >= 4 && subversion >= 0);
  MPI_Abi_get_version(&major, &minor);
  CHECK(major == MPI_ABI_VERSION && minor == MPI_ABI_SUBVERSION);
  MPI_Get_library_version(text, &length);
  CHECK(length > 0 && (size_t)length == strlen(text));
  MPI_Get_processor_name(name, &length);
  CHECK(length > 0 && (size_t)length == strlen(name));
}

static void times(void) {
  const double first = MPI_Wtime(), tick = MPI_Wtick();
  double last = first;
  CHECK(tick > 0 && tick <= 1);
  for (int i = 0; i < 1000; ++i) {
    const double now = MPI_Wtime();
    CHECK(now >= last);
    last = now;
  }
  while (MPI_Wtime() == first) continue;
}

static void memory(void) {
  char* at = NULL;
  CHECK_EQUAL(MPI_Alloc_mem(100000, MPI_INFO_NULL, &at), MPI_SUCCESS);
  memset(at, 1, 100000);
  CHECK_EQUAL(MPI_Free_mem(at), MPI_SUCCESS);
  CHECK_EQUAL(MPI_Alloc_mem(0, MPI_INFO_NULL, &at), MPI_SUCCESS);
  MPI_Free_mem(at);
}

static int value_of(MPI_Info info, const char* key, char value[MPI_MAX_INFO_VAL]) {
  int flag = 0, length = MPI_MAX_INFO_VAL;
  value[0] = '\0';
  MPI_Info_get_string(info, key, &length, value, &flag);
  return flag;
}

/* What is known of the start. */
static void start(char** argv) {
  MPI_Info copy;
  char value[MPI_MAX_INFO_VAL];
  if (value_of(MPI_INFO_ENV, "maxprocs", value)) CHECK_EQUAL(atoi(value), size_);
  if (is_mpich()) return;
  CHECK(value_of(MPI_INFO_ENV, "command", value) && strcmp(value, argv[0]) == 0);
  CHECK(value_of(MPI_INFO_ENV, "argv", value) && strcmp(value, "") == 0);
  CHECK(value_of(MPI_INFO_ENV, "maxprocs", value));
  CHECK(value_of(MPI_INFO_ENV, "wdir", value) && value[0] == '/');
  CHECK(value_of(MPI_INFO_ENV, "host", value) && value[0] != '\0');
  CHECK(value_of(MPI_INFO_ENV, "arch", value) && value[0] != '\0');
  CHECK(!value_of(MPI_INFO_ENV, "nothing", value));
  MPI_Info_create_env(0, NULL, &copy);
  CHECK(value_of(copy, "maxprocs", value));
  CHECK_EQUAL(atoi(value), size_);
  MPI_Info_free(&copy);
}

static void hardware(void) {
  MPI_Info info, abi;
  MPI_Comm part, shared;
  int n = 0, same = -1;
  char key[MPI_MAX_INFO_KEY], value[MPI_MAX_INFO_VAL];
  CHECK_EQUAL(MPI_Get_hw_resource_info(&info), MPI_SUCCESS);
  MPI_Info_get_nkeys(info, &n);
  for (int i = 0; i < n; ++i) {
    MPI_Info_get_nthkey(info, i, key);
    CHECK(value_of(info, key, value) && (strcmp(value, "true") == 0 || strcmp(value, "false") == 0));
  }
  MPI_Info_free(&info);
  MPI_Info_create(&info);
  MPI_Info_set(info, "mpi_hw_resource_type", "mpi_shared_memory");
  MPI_Comm_split_type(MPI_COMM_WORLD, MPI_COMM_TYPE_RESOURCE_GUIDED, rank_, info, &part);
  if (!is_mpich()) {
    MPI_Comm_split_type(MPI_COMM_WORLD, MPI_COMM_TYPE_SHARED, rank_, MPI_INFO_NULL, &shared);
    MPI_Comm_compare(part, shared, &same);
    CHECK_EQUAL(same, MPI_CONGRUENT);
    MPI_Comm_free(&shared);
  }
  if (part != MPI_COMM_NULL) MPI_Comm_free(&part);
  MPI_Info_set(info, "mpi_hw_resource_type", "shoal://process"); /* other libraries do not know it */
  MPI_Comm_split_type(MPI_COMM_WORLD, MPI_COMM_TYPE_HW_GUIDED, rank_, info, &part);
  if (part != MPI_COMM_NULL) MPI_Comm_free(&part);
  MPI_Info_free(&info);
  CHECK_EQUAL(MPI_Abi_get_info(&abi), MPI_SUCCESS);
  CHECK(value_of(abi, "mpi_aint_size", value));
  CHECK_EQUAL(atoi(value), sizeof(MPI_Aint));
  MPI_Info_free(&abi);
  if (is_mpich()) return;
  CHECK_EQUAL(MPI_Abi_get_fortran_info(&abi), MPI_SUCCESS);
  CHECK(value_of(abi, "mpi_integer_size", value) && atoi(value) == 4);
  CHECK(value_of(abi, "mpi_real8_supported", value) && strcmp(value, "true") == 0);
  MPI_Info_free(&abi);
  int yes = -1, no = -1, set = 0;
  CHECK_EQUAL(MPI_Abi_get_fortran_booleans(sizeof(int), &yes, &no, &set), MPI_SUCCESS);
  CHECK(set && yes == 1 && no == 0);
  MPI_Comm_set_errhandler(MPI_COMM_SELF, MPI_ERRORS_RETURN);
  CHECK_EQUAL(MPI_Abi_set_fortran_booleans(sizeof(int), &yes, &no), MPI_ERR_ABI); /* they are set */
  CHECK_EQUAL(MPI_Abi_set_fortran_info(MPI_INFO_NULL), MPI_ERR_ABI);
  MPI_Comm_set_errhandler(MPI_COMM_SELF, MPI_ERRORS_ARE_FATAL);
  CHECK(MPI_File_fromint(MPI_File_toint(MPI_FILE_NULL)) == MPI_FILE_NULL);
  CHECK(MPI_Win_fromint(MPI_Win_toint(MPI_WIN_NULL)) == MPI_WIN_NULL);
}

static void infos(char** argv) {
  MPI_Info info, copy;
  char value[MPI_MAX_INFO_VAL], key[MPI_MAX_INFO_KEY], little[4] = "xxx";
  int n = -1, flag = -1, length = -1;
  MPI_Info_create(&info);
  MPI_Info_get_nkeys(info, &n);
  CHECK_EQUAL(n, 0);
  MPI_Info_set(info, "first", "1");
  MPI_Info_set(info, "second", "a longer value");
  MPI_Info_set(info, "first", "one"); /* takes the place of the old one */
  MPI_Info_get_nkeys(info, &n);
  CHECK_EQUAL(n, 2);
  MPI_Info_get_nthkey(info, 0, key);
  CHECK(strcmp(key, "first") == 0);
  MPI_Info_get_nthkey(info, 1, key);
  CHECK(strcmp(key, "second") == 0);
  MPI_Info_get(info, "first", MPI_MAX_INFO_VAL - 1, value, &flag);
  CHECK(flag && strcmp(value, "one") == 0);
  if (!is_mpich()) { /* which refuses to cut a value */
    MPI_Info_get(info, "second", 3, little, &flag);
    CHECK(flag && strcmp(little, "a l") == 0);
  }
  MPI_Info_get(info, "third", 3, little, &flag);
  CHECK_EQUAL(flag, 0);
  MPI_Info_get_valuelen(info, "second", &length, &flag);
  CHECK(flag && length == 14);
  length = 0;
  MPI_Info_get_string(info, "second", &length, value, &flag); /* asks for the length alone */
  CHECK(flag && length == 15);
  length = 4;
  MPI_Info_get_string(info, "second", &length, little, &flag);
  CHECK(flag && length == 15 && strcmp(little, "a l") == 0);
  MPI_Info_dup(info, &copy);
  MPI_Info_delete(info, "first");
  MPI_Info_get_nkeys(info, &n);
  CHECK_EQUAL(n, 1);
  MPI_Info_get(copy, "first", 10, value, &flag);
  CHECK(flag && strcmp(value, "one") == 0);
  MPI_Info_get_nthkey(copy, 0, key);
  CHECK(strcmp(key, "first") == 0);
  MPI_Info_free(&copy);
  CHECK(copy == MPI_INFO_NULL);
  MPI_Info_free(&info);
  MPI_Info_get_nkeys(MPI_INFO_ENV, &n);
  CHECK(n >= 0);
  CHECK_EQUAL(MPI_Info_create_env(1, argv, &info), MPI_SUCCESS);
  MPI_Info_free(&info);
}

static void integers(void) {
  MPI_Comm copy;
  MPI_Group group;
  MPI_Datatype type;
  MPI_Op op = MPI_SUM;
  MPI_Errhandler handler = MPI_ERRORS_RETURN;
  MPI_Request request = MPI_REQUEST_NULL;
  int v = 0;
  MPI_Comm_dup(MPI_COMM_WORLD, &copy);
  MPI_Comm_group(copy, &group);
  MPI_Type_contiguous(2, MPI_INT, &type);
  CHECK_EQUAL(MPI_Comm_toint(MPI_COMM_WORLD), 0x101);
  CHECK(MPI_Comm_fromint(0x101) == MPI_COMM_WORLD);
  CHECK(MPI_Comm_fromint(MPI_Comm_toint(copy)) == copy);
  CHECK(MPI_Group_fromint(MPI_Group_toint(group)) == group);
  CHECK(MPI_Type_fromint(MPI_Type_toint(type)) == type);
  CHECK_EQUAL(MPI_Type_toint(MPI_INT), 0x209);
  CHECK(MPI_Op_fromint(MPI_Op_toint(op)) == op);
  CHECK(MPI_Errhandler_fromint(MPI_Errhandler_toint(handler)) == handler);
  CHECK(MPI_Request_fromint(MPI_Request_toint(request)) == request);
  CHECK(MPI_Message_fromint(MPI_Message_toint(MPI_MESSAGE_NULL)) == MPI_MESSAGE_NULL);
  CHECK(MPI_Info_fromint(MPI_Info_toint(MPI_INFO_ENV)) == MPI_INFO_ENV);
  MPI_Irecv(&v, 1, MPI_INT, MPI_PROC_NULL, 0, copy, &request);
  CHECK(MPI_Request_fromint(MPI_Request_toint(request)) == request);
  MPI_Wait(&request, MPI_STATUS_IGNORE);
  MPI_Type_free(&type);
  MPI_Group_free(&group);
  MPI_Comm_free(&copy);
}

static void names(void) {
  MPI_Comm copy, parent;
  MPI_Datatype type;
  char name[MPI_MAX_OBJECT_NAME];
  int length = -1;
  MPI_Comm_get_name(MPI_COMM_WORLD, name, &length);
  CHECK(strcmp(name, "MPI_COMM_WORLD") == 0 && length == 14);
  MPI_Comm_get_name(MPI_COMM_SELF, name, &length);
  CHECK(strcmp(name, "MPI_COMM_SELF") == 0);
  MPI_Comm_dup(MPI_COMM_WORLD, &copy);
  MPI_Comm_get_name(copy, name, &length);
  CHECK(name[0] == '\0' && length == 0); /* a duplicate has no name */
  MPI_Comm_set_name(copy, "the copy");
  MPI_Comm_get_name(copy, name, &length);
  CHECK(strcmp(name, "the copy") == 0 && length == 8);
  MPI_Comm_disconnect(&copy);
  MPI_Type_get_name(MPI_DOUBLE, name, &length);
  CHECK(strcmp(name, "MPI_DOUBLE") == 0 && length == 10);
  MPI_Type_contiguous(2, MPI_INT, &type);
  MPI_Type_get_name(type, name, &length);
  CHECK(name[0] == '\0' && length == 0);
  MPI_Type_set_name(type, "pair");
  MPI_Type_get_name(type, name, &length);
  CHECK(strcmp(name, "pair") == 0);
  MPI_Type_free(&type);
  MPI_Comm_get_parent(&parent);
  CHECK(parent == MPI_COMM_NULL);
}

int main(int argc, char** argv) {
  begin(&argc, &argv);
  versions();
  times();
  memory();
  infos(argv);
  start(argv);
  hardware();
  integers();
  names();
  return end();
}
