/* SPDX-License-Identifier: Apache-2.0 */
/* Attributes of communicators and datatypes, by the functions of MPI 4 and by those of MPI 1; infos of communicators. */
#include "check.h"

struct counts {
  int copied, erased;
};
struct failing_counts {
  struct counts of; /* first: the other functions see it */
  int fails;
};

static int copy_value(MPI_Comm comm, int key, void* extra, void* value, void* result, int* flag) {
  (void)comm, (void)key;
  ++((struct counts*)extra)->copied;
  *(void**)result = (char*)value + 1;
  *flag = 1;
  return MPI_SUCCESS;
}
static int copy_none(MPI_Comm comm, int key, void* extra, void* value, void* result, int* flag) {
  (void)comm, (void)key, (void)value, (void)result;
  ++((struct counts*)extra)->copied;
  *flag = 0;
  return MPI_SUCCESS;
}
static int copy_fails(MPI_Comm comm, int key, void* extra, void* value, void* result, int* flag) {
  (void)comm, (void)key, (void)extra, (void)value, (void)result;
  *flag = 0;
  return MPI_ERR_OTHER;
}
static int erase_value(MPI_Comm comm, int key, void* value, void* extra) {
  (void)comm, (void)key, (void)value;
  ++((struct counts*)extra)->erased;
  return MPI_SUCCESS;
}
static int erase_and_fail(MPI_Comm comm, int key, void* value, void* extra) {
  erase_value(comm, key, value, extra);
  return ((struct failing_counts*)extra)->fails ? MPI_ERR_ARG : MPI_SUCCESS;
}
static int refuse(MPI_Comm comm, int key, void* value, void* extra) {
  (void)comm, (void)key, (void)value;
  return *(int*)extra ? MPI_ERR_OTHER : MPI_SUCCESS;
}

static char data[8];

static void of_communicators(void) {
  struct counts c = {0, 0}, d = {0, 0};
  int key, other, dup, plain, flag = -1;
  void* value = NULL;
  MPI_Comm comm, copy;
  MPI_Request r;
  MPI_Comm_create_keyval(copy_value, erase_value, &key, &c);
  MPI_Comm_create_keyval(copy_none, erase_value, &other, &d);
  MPI_Comm_create_keyval(MPI_COMM_DUP_FN, MPI_COMM_NULL_DELETE_FN, &dup, NULL);
  MPI_Comm_create_keyval(MPI_COMM_NULL_COPY_FN, MPI_COMM_NULL_DELETE_FN, &plain, NULL);
  MPI_Comm_dup(MPI_COMM_WORLD, &comm);
  MPI_Comm_get_attr(comm, key, &value, &flag);
  CHECK_EQUAL(flag, 0);
  MPI_Comm_set_attr(comm, key, data);
  MPI_Comm_set_attr(comm, other, data);
  MPI_Comm_set_attr(comm, dup, data + 4);
  MPI_Comm_set_attr(comm, plain, data);
  MPI_Comm_set_attr(comm, key, data + 1); /* the old value is deleted */
  CHECK_EQUAL(c.erased, 1);
  for (int form = 0; form < 3; ++form) {
    if (form == 0) MPI_Comm_dup(comm, &copy);
    if (form == 1) {
      MPI_Comm_idup(comm, &copy, &r);
      MPI_Comm_set_attr(comm, dup, data + 6); /* the copy is of before */
      MPI_Wait(&r, MPI_STATUS_IGNORE);
    }
    if (form == 2) MPI_Comm_dup_with_info(comm, MPI_INFO_NULL, &copy);
    CHECK(c.copied == form + 1 && d.copied == form + 1);
    MPI_Comm_get_attr(copy, key, &value, &flag);
    CHECK(flag && value == data + 2);
    MPI_Comm_get_attr(copy, dup, &value, &flag);
    CHECK(flag && value == data + (form == 2 ? 6 : 4));
    MPI_Comm_get_attr(copy, other, &value, &flag);
    CHECK_EQUAL(flag, 0);
    MPI_Comm_get_attr(copy, plain, &value, &flag);
    CHECK_EQUAL(flag, 0);
    MPI_Comm_free(&copy);
    CHECK_EQUAL(c.erased, form + 2);
  }
  MPI_Comm_split(comm, 0, 0, &copy); /* only duplicates copy */
  MPI_Comm_get_attr(copy, key, &value, &flag);
  CHECK_EQUAL(flag, 0);
  MPI_Comm_free(&copy);
  MPI_Comm_delete_attr(comm, other);
  CHECK_EQUAL(d.erased, 1);
  MPI_Comm_free_keyval(&key); /* in use until its attributes are gone */
  CHECK_EQUAL(key, MPI_KEYVAL_INVALID);
  MPI_Comm_free(&comm);
  CHECK(c.erased == 5 && d.erased == 1);
  MPI_Comm_free_keyval(&other);
  MPI_Comm_free_keyval(&dup);
  MPI_Comm_free_keyval(&plain);
}

/* Functions that fail: the duplicate is not made, the attribute and its communicator stay. */
static int key_of_others;
/* A callback that sets an attribute of the same object. */
static int sets_another(MPI_Comm comm, int key, void* value, void* extra) {
  (void)key, (void)value, (void)extra;
  for (int i = 0; i < 8; ++i) {
    int another = MPI_KEYVAL_INVALID;
    MPI_Comm_create_keyval(MPI_COMM_NULL_COPY_FN, MPI_COMM_NULL_DELETE_FN, &another, NULL);
    MPI_Comm_set_attr(comm, another, &key_of_others);
  }
  return MPI_SUCCESS;
}
static void set_by_callbacks(void) {
  int key = MPI_KEYVAL_INVALID, one = 1, two = 2, flag = 0, *value = NULL;
  MPI_Comm comm;
  MPI_Comm_dup(MPI_COMM_SELF, &comm);
  MPI_Comm_create_keyval(MPI_COMM_NULL_COPY_FN, sets_another, &key, NULL);
  MPI_Comm_set_attr(comm, key, &one);
  MPI_Comm_set_attr(comm, key, &two);
  MPI_Comm_get_attr(comm, key, &value, &flag);
  CHECK(flag && value == &two);
  MPI_Comm_delete_attr(comm, key);
  MPI_Comm_get_attr(comm, key, &value, &flag);
  CHECK(!flag);
  MPI_Comm_free(&comm);
}

static void failing(void) {
  int key, copied, refusing, refuses = 1, flag = -1;
  void* value = NULL;
  MPI_Comm comm, copy = MPI_COMM_NULL;
  MPI_Comm_dup(MPI_COMM_WORLD, &comm);
  MPI_Comm_set_errhandler(comm, MPI_ERRORS_RETURN);
  MPI_Comm_create_keyval(copy_fails, MPI_COMM_NULL_DELETE_FN, &key, NULL);
  MPI_Comm_create_keyval(MPI_COMM_NULL_COPY_FN, refuse, &refusing, &refuses);
  MPI_Comm_set_attr(comm, key, data);
  CHECK(MPI_Comm_dup(comm, &copy) != MPI_SUCCESS);
  MPI_Comm_delete_attr(comm, key);
  /* What has been copied before is deleted, whatever its function says. */
  struct failing_counts c = {{0, 0}, 1};
  MPI_Comm_create_keyval(copy_value, erase_and_fail, &copied, &c);
  MPI_Comm_set_attr(comm, copied, data);
  MPI_Comm_set_attr(comm, key, data);
  for (int i = 0; i < 2; ++i) {
    CHECK_EQUAL(MPI_Comm_dup(comm, &copy), MPI_ERR_OTHER);
    CHECK(c.of.copied == i + 1 && (c.of.erased == i + 1 || is_mpich()));
  }
  MPI_Comm_delete_attr(comm, key);
  c.fails = 0;
  MPI_Comm_delete_attr(comm, copied);
  MPI_Comm_free_keyval(&copied);
  MPI_Comm_set_attr(comm, refusing, data);
  CHECK(MPI_Comm_delete_attr(comm, refusing) != MPI_SUCCESS);
  MPI_Comm_get_attr(comm, refusing, &value, &flag);
  CHECK(flag && value == data);
  refuses = 0;
  CHECK_EQUAL(MPI_Comm_delete_attr(comm, refusing), MPI_SUCCESS);
  MPI_Comm_free(&comm);
  MPI_Comm_free_keyval(&key);
  MPI_Comm_free_keyval(&refusing);
}

static void of_types(void) {
  struct counts c = {0, 0};
  int key, other, flag = -1;
  void* value = NULL;
  MPI_Datatype t, copy;
  /* The functions have the same parameters but for the first, a handle. */
  MPI_Type_create_keyval((MPI_Type_copy_attr_function*)(void (*)(void))copy_value,
                         (MPI_Type_delete_attr_function*)(void (*)(void))erase_value, &key, &c);
  MPI_Type_create_keyval(MPI_TYPE_DUP_FN, MPI_TYPE_NULL_DELETE_FN, &other, NULL);
  MPI_Type_contiguous(3, MPI_INT, &t);
  MPI_Type_set_attr(t, key, data);
  MPI_Type_set_attr(t, other, data + 3);
  MPI_Type_get_attr(t, key, &value, &flag);
  CHECK(flag && value == data);
  MPI_Type_dup(t, &copy);
  MPI_Type_get_attr(copy, key, &value, &flag);
  CHECK(flag && value == data + 1 && c.copied == 1);
  MPI_Type_get_attr(copy, other, &value, &flag);
  CHECK(flag && value == data + 3);
  MPI_Type_delete_attr(copy, key);
  CHECK_EQUAL(c.erased, 1);
  MPI_Type_get_attr(copy, key, &value, &flag);
  CHECK_EQUAL(flag, 0);
  MPI_Type_free(&copy);
  CHECK_EQUAL(c.erased, 1);
  MPI_Type_free(&t);
  CHECK_EQUAL(c.erased, 2);
  MPI_Type_set_attr(MPI_INT, key, data + 5); /* predefined ones can have some, too */
  MPI_Type_get_attr(MPI_INT, key, &value, &flag);
  CHECK(flag && value == data + 5);
  MPI_Type_delete_attr(MPI_INT, key);
  MPI_Type_free_keyval(&key);
  MPI_Type_free_keyval(&other);
  CHECK_EQUAL(key, MPI_KEYVAL_INVALID);
}

static void of_mpi_1(void) {
  struct counts c = {0, 0};
  int key, flag = -1;
  void* value = NULL;
  MPI_Keyval_create(copy_value, erase_value, &key, &c);
  MPI_Attr_put(MPI_COMM_SELF, key, data);
  MPI_Attr_get(MPI_COMM_SELF, key, &value, &flag);
  CHECK(flag && value == data);
  MPI_Attr_delete(MPI_COMM_SELF, key);
  CHECK_EQUAL(c.erased, 1);
  MPI_Attr_get(MPI_COMM_SELF, key, &value, &flag);
  CHECK_EQUAL(flag, 0);
  MPI_Keyval_free(&key);
  CHECK_EQUAL(key, MPI_KEYVAL_INVALID);
  MPI_Keyval_create(MPI_DUP_FN, MPI_NULL_DELETE_FN, &key, NULL);
  MPI_Keyval_free(&key);
}

/* The predefined ones, whose pointers stay what they are. */
static void predefined(void) {
  int *bound = NULL, *universe = NULL, *last = NULL, *clock = NULL, *io = NULL, flag = 0;
  MPI_Comm_get_attr(MPI_COMM_WORLD, MPI_TAG_UB, &bound, &flag);
  CHECK(flag && *bound >= 32767);
  MPI_Comm_get_attr(MPI_COMM_WORLD, MPI_UNIVERSE_SIZE, &universe, &flag);
  if (!flag) universe = NULL;
  MPI_Comm_get_attr(MPI_COMM_WORLD, MPI_LASTUSEDCODE, &last, &flag);
  CHECK(flag && *last >= MPI_ERR_LASTCODE);
  if (universe != NULL) CHECK(*universe >= 1 && *universe < MPI_ERR_LASTCODE);
  MPI_Comm_get_attr(MPI_COMM_WORLD, MPI_WTIME_IS_GLOBAL, &clock, &flag);
  CHECK(!flag || *clock == 0 || *clock == 1);
  MPI_Comm_get_attr(MPI_COMM_WORLD, MPI_IO, &io, &flag);
  CHECK(!flag || *io == MPI_ANY_SOURCE || *io == MPI_PROC_NULL || (*io >= 0 && *io < size_));
  CHECK_EQUAL(*last >= MPI_ERR_LASTCODE, 1);
}

static void infos_of_communicators(void) {
  MPI_Info info, got;
  MPI_Comm copy, third;
  MPI_Request r;
  int flag = 0, length = 8;
  char value[8] = "";
  MPI_Info_create(&info);
  MPI_Info_set(info, "mpi_assert_no_any_tag", "true");
  MPI_Comm_dup_with_info(MPI_COMM_WORLD, info, &copy);
  MPI_Comm_get_info(copy, &got);
  MPI_Info_get_string(got, "mpi_assert_no_any_tag", &length, value, &flag);
  CHECK(!flag || strcmp(value, "true") == 0); /* a library need not know the hint */
  MPI_Info_free(&got);
  MPI_Comm_set_info(copy, info);
  MPI_Comm_get_info(copy, &got);
  CHECK(got != MPI_INFO_NULL);
  MPI_Info_free(&got);
  MPI_Comm_idup_with_info(copy, info, &third, &r);
  MPI_Wait(&r, MPI_STATUS_IGNORE);
  MPI_Comm_get_info(third, &got);
  flag = 0;
  length = 8;
  MPI_Info_get_string(got, "mpi_assert_no_any_tag", &length, value, &flag);
  CHECK(!flag || strcmp(value, "true") == 0);
  MPI_Info_free(&got);
  MPI_Info_free(&info);
  MPI_Comm_free(&third);
  MPI_Comm_free(&copy);
}

static int order[3], ended;
static int note_end(MPI_Comm comm, int key, void* value, void* extra) {
  (void)comm, (void)key, (void)extra;
  if (ended < 3) order[ended] = *(int*)value;
  ++ended;
  return MPI_SUCCESS;
}

int main(int argc, char** argv) {
  static int values[3] = {1, 2, 3};
  int key[3];
  begin(&argc, &argv);
  of_communicators();
  set_by_callbacks();
  failing();
  of_types();
  of_mpi_1();
  predefined();
  infos_of_communicators();
  for (int i = 0; i < 3; ++i) {
    MPI_Comm_create_keyval(MPI_COMM_NULL_COPY_FN, note_end, &key[i], NULL);
    MPI_Comm_set_attr(MPI_COMM_SELF, key[i], &values[i]);
  }
  /* MPI_Finalize deletes those of MPI_COMM_SELF first, the last one set first. */
  const int result = end();
  return result != 0 || ended != 3 || order[0] != 3 || order[1] != 2 || order[2] != 1;
}
