/* SPDX-License-Identifier: Apache-2.0 */
/* Error handlers, classes, codes and texts; wrong arguments of all kinds, which are reported and do no harm. */
#include <stdint.h>

#include "check.h"

static int right(void) { return (rank_ + 1) % size_; }
static int left(void) { return (rank_ + size_ - 1) % size_; }

static int class_of(int code) {
  int class = -1;
  MPI_Error_class(code, &class);
  return class;
}
#define REFUSED(call, wanted) CHECK_EQUAL(class_of(call), wanted)
#define REFUSED_UNLESS_MPICH(call, wanted) CHECK_UNLESS_MPICH(class_of(call) == (wanted))

static int handled, handled_class;
static MPI_Comm handled_in;
static void count_error(MPI_Comm* comm, int* code, ...) {
  ++handled;
  handled_in = *comm;
  handled_class = class_of(*code);
}

static void handlers(void) {
  MPI_Errhandler own, got;
  MPI_Comm copy, part;
  int v = 0;
  MPI_Comm_get_errhandler(MPI_COMM_SELF, &got);
  CHECK(got == MPI_ERRORS_ARE_FATAL);
  MPI_Errhandler_free(&got);
  CHECK(got == MPI_ERRHANDLER_NULL);
  MPI_Comm_create_errhandler(count_error, &own);
  MPI_Comm_dup(MPI_COMM_WORLD, &copy);
  MPI_Comm_set_errhandler(copy, own);
  MPI_Comm_get_errhandler(copy, &got);
  CHECK(got == own);
  MPI_Errhandler_free(&got);
  MPI_Errhandler_free(&own); /* the communicator keeps it */
  CHECK(own == MPI_ERRHANDLER_NULL);
  REFUSED_UNLESS_MPICH(MPI_Send(&v, 1, MPI_INT, size_, 0, copy), MPI_ERR_RANK);
  CHECK(handled == 1 && handled_in == copy && handled_class == MPI_ERR_RANK);
  CHECK_EQUAL(MPI_Comm_call_errhandler(copy, MPI_ERR_OTHER), MPI_SUCCESS);
  CHECK(handled == 2 && handled_class == MPI_ERR_OTHER);
  MPI_Comm_dup(copy, &part); /* a duplicate has the same handler */
  MPI_Comm_call_errhandler(part, MPI_ERR_TAG);
  CHECK(handled == 3 && handled_in == part && handled_class == MPI_ERR_TAG);
  MPI_Comm_free(&part);
  MPI_Comm_split(copy, 0, rank_, &part);
  MPI_Comm_call_errhandler(part, MPI_ERR_ARG);
  CHECK(handled == 4 && handled_in == part && handled_class == MPI_ERR_ARG);
  MPI_Comm_free(&part);
  MPI_Comm_set_errhandler(copy, MPI_ERRORS_RETURN);
  REFUSED(MPI_Send(&v, 1, MPI_INT, size_, 0, copy), MPI_ERR_RANK);
  CHECK_EQUAL(handled, 4);
  MPI_Comm_get_errhandler(copy, &got);
  CHECK(got == MPI_ERRORS_RETURN);
  MPI_Errhandler_free(&got);
  MPI_Comm_set_errhandler(copy, MPI_ERRORS_ABORT);
  MPI_Comm_get_errhandler(copy, &got);
  CHECK(got == MPI_ERRORS_ABORT);
  MPI_Comm_free(&copy);
}

/* Communicators between two groups, and what they are merged into, have the handler of what they are made of. */
static void inherited(void) {
  MPI_Comm half, inter, merged;
  MPI_Errhandler got;
  if (size_ < 2) return;
  MPI_Comm_split(MPI_COMM_WORLD, rank_ % 2, 0, &half);
  MPI_Intercomm_create(half, 0, MPI_COMM_WORLD, 1 - rank_ % 2, 4, &inter);
  MPI_Comm_get_errhandler(inter, &got);
  CHECK(got == MPI_ERRORS_RETURN);
  MPI_Errhandler_free(&got);
  MPI_Intercomm_merge(inter, 0, &merged);
  MPI_Comm_get_errhandler(merged, &got);
  CHECK_UNLESS_MPICH(got == MPI_ERRORS_RETURN);
  MPI_Errhandler_free(&got);
  MPI_Comm_free(&merged);
  MPI_Comm_free(&inter);
  MPI_Comm_free(&half);
}

/* A group of members and others makes no communicator. */
static void foreign_group(void) {
  MPI_Comm half, made;
  MPI_Group world;
  if (size_ < 2) return;
  MPI_Comm_split(MPI_COMM_WORLD, rank_ % 2, 0, &half);
  MPI_Comm_group(MPI_COMM_WORLD, &world);
  if (!is_mpich()) REFUSED(MPI_Comm_create_group(half, world, 3, &made), MPI_ERR_GROUP);
  MPI_Group_free(&world);
  MPI_Comm_free(&half);
}

static void codes(void) {
  int class, code, other, of = -1, length = -1, flag = 0, before;
  int* last;
  char text[MPI_MAX_ERROR_STRING];
  for (int c = MPI_SUCCESS; c <= MPI_ERR_ABI; ++c) {
    CHECK_EQUAL(class_of(c), c);
    CHECK_EQUAL(MPI_Error_string(c, text, &length), MPI_SUCCESS);
    CHECK(length > 0 && (size_t)length == strlen(text));
  }
  MPI_Comm_get_attr(MPI_COMM_WORLD, MPI_LASTUSEDCODE, &last, &flag);
  CHECK(flag && *last >= MPI_ERR_LASTCODE);
  before = *last;
  MPI_Add_error_class(&class);
  MPI_Add_error_code(class, &code);
  MPI_Add_error_code(class, &other);
  CHECK(class > MPI_ERR_LASTCODE && code > MPI_ERR_LASTCODE && code != class && other != code);
  MPI_Comm_get_attr(MPI_COMM_WORLD, MPI_LASTUSEDCODE, &last, &flag);
  CHECK_UNLESS_MPICH(flag && *last > before && *last >= code && *last >= class);
  MPI_Error_class(code, &of);
  CHECK_EQUAL(of, class);
  MPI_Error_class(class, &of);
  CHECK_EQUAL(of, class);
  MPI_Error_string(code, text, &length);
  CHECK(length == 0 && text[0] == '\0'); /* it has none yet */
  MPI_Add_error_string(code, "too few fish");
  MPI_Error_string(code, text, &length);
  CHECK(strcmp(text, "too few fish") == 0 && length == 12);
  MPI_Add_error_string(class, "fish");
  MPI_Error_string(class, text, &length);
  CHECK(strcmp(text, "fish") == 0);
  if (!is_mpich()) CHECK(MPI_Remove_error_class(class) != MPI_SUCCESS); /* it has codes */
  MPI_Remove_error_string(code);
  MPI_Error_string(code, text, &length);
  CHECK_EQUAL(length, 0);
  MPI_Remove_error_string(class);
  CHECK_EQUAL(MPI_Remove_error_code(code), MPI_SUCCESS);
  CHECK_EQUAL(MPI_Remove_error_code(other), MPI_SUCCESS);
  CHECK_EQUAL(MPI_Remove_error_class(class), MPI_SUCCESS);
  CHECK(MPI_Remove_error_class(MPI_ERR_RANK) != MPI_SUCCESS);
}

static int last_used_code(void) {
  int *last = NULL, flag = 0;
  MPI_Comm_get_attr(MPI_COMM_WORLD, MPI_LASTUSEDCODE, &last, &flag);
  return flag ? *last : -1;
}

/* What one rank adds the others do not see: each numbers its own. */
static void own_codes(void) {
  const int before = last_used_code();
  int classes[3] = {0, 0, 0}, first = 0, class;
  char text[MPI_MAX_ERROR_STRING];
  if (rank_ == 0)
    for (int i = 0; i < 3; ++i) MPI_Add_error_class(&classes[i]);
  MPI_Barrier(MPI_COMM_WORLD);
  if (rank_ != 0) {
    CHECK_EQUAL(last_used_code(), before);
    MPI_Add_error_class(&classes[0]);
  }
  first = classes[0];
  MPI_Bcast(&first, 1, MPI_INT, 0, MPI_COMM_WORLD);
  CHECK_EQUAL(classes[0], first); /* all ranks have added as many before */
  snprintf(text, sizeof text, "of rank %d", rank_);
  MPI_Add_error_string(classes[0], text);
  MPI_Barrier(MPI_COMM_WORLD);
  char got[MPI_MAX_ERROR_STRING];
  MPI_Error_string(classes[0], got, &class);
  CHECK(strcmp(got, text) == 0);
  MPI_Barrier(MPI_COMM_WORLD);
  MPI_Remove_error_string(classes[0]);
  for (int i = 2; i >= 0; --i)
    if (classes[i] != 0) CHECK_EQUAL(MPI_Remove_error_class(classes[i]), MPI_SUCCESS);
}

static void messages(void) {
  int v[4] = {1, 2, 3, 4};
  MPI_Request r;
  MPI_Datatype loose;
  MPI_Status st;
  int flag;
  MPI_Type_contiguous(2, MPI_INT, &loose);
  REFUSED(MPI_Send(v, -1, MPI_INT, 0, 0, MPI_COMM_WORLD), MPI_ERR_COUNT);
  REFUSED(MPI_Send_c(v, -1, MPI_INT, 0, 0, MPI_COMM_WORLD), MPI_ERR_COUNT);
  REFUSED(MPI_Send(v, 1, MPI_INT, size_, 0, MPI_COMM_WORLD), MPI_ERR_RANK);
  REFUSED(MPI_Send(v, 1, MPI_INT, MPI_ANY_SOURCE, 0, MPI_COMM_WORLD), MPI_ERR_RANK);
  REFUSED(MPI_Send(v, 1, MPI_INT, 0, -7, MPI_COMM_WORLD), MPI_ERR_TAG);
  REFUSED(MPI_Send(v, 1, MPI_INT, 0, MPI_ANY_TAG, MPI_COMM_WORLD), MPI_ERR_TAG);
  REFUSED(MPI_Send(v, 1, MPI_DATATYPE_NULL, 0, 0, MPI_COMM_WORLD), MPI_ERR_TYPE);
  REFUSED(MPI_Send(v, 1, loose, 0, 0, MPI_COMM_WORLD), MPI_ERR_TYPE); /* not committed */
  REFUSED(MPI_Send(NULL, 1, MPI_INT, 0, 0, MPI_COMM_WORLD), MPI_ERR_BUFFER);
  REFUSED(MPI_Send(v, 1, MPI_INT, 0, 0, MPI_COMM_NULL), MPI_ERR_COMM);
  REFUSED(MPI_Recv(v, 1, MPI_INT, size_, 0, MPI_COMM_WORLD, &st), MPI_ERR_RANK);
  REFUSED(MPI_Recv(v, 1, MPI_INT, -9, 0, MPI_COMM_WORLD, &st), MPI_ERR_RANK);
  REFUSED(MPI_Recv(v, 1, MPI_INT, 0, -9, MPI_COMM_WORLD, &st), MPI_ERR_TAG);
  REFUSED(MPI_Recv(v, -2, MPI_INT, 0, 0, MPI_COMM_WORLD, &st), MPI_ERR_COUNT);
  REFUSED(MPI_Isend(v, 1, MPI_INT, size_, 0, MPI_COMM_WORLD, &r), MPI_ERR_RANK);
  REFUSED(MPI_Irecv(v, 1, MPI_INT, size_, 0, MPI_COMM_WORLD, &r), MPI_ERR_RANK);
  REFUSED(MPI_Send_init(v, 1, MPI_INT, size_, 0, MPI_COMM_WORLD, &r), MPI_ERR_RANK);
  REFUSED(MPI_Sendrecv(v, 1, MPI_INT, size_, 0, v + 1, 1, MPI_INT, 0, 0, MPI_COMM_WORLD, &st), MPI_ERR_RANK);
  REFUSED(MPI_Iprobe(size_, 0, MPI_COMM_WORLD, &flag, &st), MPI_ERR_RANK);
  REFUSED(MPI_Probe(0, -9, MPI_COMM_WORLD, &st), MPI_ERR_TAG);
  REFUSED(MPI_Bsend(v, 1, MPI_INT, rank_, 0, MPI_COMM_WORLD), MPI_ERR_BUFFER); /* none attached */
  MPI_Type_free(&loose);
}

static void truncation(void) {
  int out[4] = {1, 2, 3, 4}, in[4] = {0, 0, -1, -1}, good = 0;
  MPI_Request r[2], s[2];
  MPI_Status st[2];
  MPI_Isend(out, 4, MPI_INT, right(), 9, MPI_COMM_WORLD, &s[0]);
  REFUSED(MPI_Recv(in, 2, MPI_INT, left(), 9, MPI_COMM_WORLD, &st[0]), MPI_ERR_TRUNCATE);
  CHECK(in[2] == -1 && in[3] == -1);
  MPI_Wait(&s[0], MPI_STATUS_IGNORE);
  MPI_Irecv(in, 2, MPI_INT, left(), 9, MPI_COMM_WORLD, &r[0]);
  MPI_Irecv(&good, 1, MPI_INT, left(), 10, MPI_COMM_WORLD, &r[1]);
  MPI_Isend(out, 4, MPI_INT, right(), 9, MPI_COMM_WORLD, &s[0]);
  MPI_Isend(out, 1, MPI_INT, right(), 10, MPI_COMM_WORLD, &s[1]);
  st[0].MPI_ERROR = st[1].MPI_ERROR = -5;
  MPI_Barrier(MPI_COMM_WORLD);
  CHECK_EQUAL(class_of(MPI_Waitall(2, r, st)), MPI_ERR_IN_STATUS);
  CHECK_EQUAL(class_of(st[0].MPI_ERROR), MPI_ERR_TRUNCATE);
  CHECK(st[1].MPI_ERROR == MPI_SUCCESS || st[1].MPI_ERROR == MPI_ERR_PENDING);
  if (st[1].MPI_ERROR == MPI_ERR_PENDING) MPI_Wait(&r[1], MPI_STATUS_IGNORE);
  CHECK_EQUAL(good, 1);
  MPI_Waitall(2, s, MPI_STATUSES_IGNORE);
  /* A large one, too, which the sender keeps until its receive is known. */
  enum { LARGE = 300000 };
  char *from = calloc(LARGE, 1), *to = calloc(LARGE, 1);
  MPI_Isend(from, LARGE, MPI_CHAR, right(), 11, MPI_COMM_WORLD, &s[0]);
  REFUSED(MPI_Recv(to, LARGE - 1, MPI_CHAR, left(), 11, MPI_COMM_WORLD, MPI_STATUS_IGNORE), MPI_ERR_TRUNCATE);
  MPI_Wait(&s[0], MPI_STATUS_IGNORE);
  free(from);
  free(to);
}

static void collectives(void) {
  int v[2] = {0, 0}, w[2];
  MPI_Request r;
  REFUSED(MPI_Bcast(v, 1, MPI_INT, size_, MPI_COMM_WORLD), MPI_ERR_ROOT);
  REFUSED(MPI_Bcast(v, 1, MPI_INT, -1, MPI_COMM_WORLD), MPI_ERR_ROOT);
  REFUSED(MPI_Bcast(v, -1, MPI_INT, 0, MPI_COMM_WORLD), MPI_ERR_COUNT);
  REFUSED(MPI_Bcast(v, 1, MPI_DATATYPE_NULL, 0, MPI_COMM_WORLD), MPI_ERR_TYPE);
  REFUSED(MPI_Ibcast(v, 1, MPI_INT, size_, MPI_COMM_WORLD, &r), MPI_ERR_ROOT);
  REFUSED(MPI_Allreduce(v, w, 1, MPI_INT, MPI_OP_NULL, MPI_COMM_WORLD), MPI_ERR_OP);
  REFUSED(MPI_Allreduce(v, w, 1, MPI_FLOAT, MPI_BAND, MPI_COMM_WORLD), MPI_ERR_OP);
  REFUSED(MPI_Reduce(v, w, 1, MPI_INT, MPI_SUM, size_, MPI_COMM_WORLD), MPI_ERR_ROOT);
  REFUSED(MPI_Gather(v, 1, MPI_INT, w, 1, MPI_INT, -3, MPI_COMM_WORLD), MPI_ERR_ROOT);
  REFUSED(MPI_Barrier(MPI_COMM_NULL), MPI_ERR_COMM);
  MPI_Comm made;
  REFUSED(MPI_Intercomm_create(MPI_COMM_SELF, 0, MPI_COMM_WORLD, size_, 1, &made), MPI_ERR_RANK);
  /* Only the leader knows that it is wrong, and tells the others. */
  if (!is_mpich()) REFUSED(MPI_Intercomm_create(MPI_COMM_WORLD, 0, MPI_COMM_SELF, 1, 1, &made), MPI_ERR_RANK);
  REFUSED(MPI_Neighbor_alltoall(v, 1, MPI_INT, w, 1, MPI_INT, MPI_COMM_WORLD), MPI_ERR_TOPOLOGY);
}

static void objects(void) {
  MPI_Group group, part;
  MPI_Comm comm = MPI_COMM_WORLD;
  MPI_Datatype t;
  MPI_Op op = MPI_SUM;
  MPI_Request r = MPI_REQUEST_NULL;
  MPI_Info info;
  int v = 0, flag, twice[2] = {0, 0}, far[1] = {size_};
  MPI_Comm_group(MPI_COMM_WORLD, &group);
  REFUSED(MPI_Group_incl(group, 1, far, &part), MPI_ERR_RANK);
  if (size_ > 1) REFUSED_UNLESS_MPICH(MPI_Group_incl(group, 2, twice, &part), MPI_ERR_RANK);
  REFUSED(MPI_Group_size(MPI_GROUP_NULL, &v), MPI_ERR_GROUP);
  MPI_Group_free(&group);
  REFUSED(MPI_Comm_size(MPI_COMM_NULL, &v), MPI_ERR_COMM);
  REFUSED(MPI_Comm_free(&comm), MPI_ERR_COMM);
  REFUSED_UNLESS_MPICH(MPI_Comm_remote_size(MPI_COMM_WORLD, &v), MPI_ERR_COMM);
  REFUSED(MPI_Comm_split_type(MPI_COMM_WORLD, 99, 0, MPI_INFO_NULL, &comm), MPI_ERR_ARG);
  REFUSED(MPI_Cart_rank(MPI_COMM_WORLD, &v, &v), MPI_ERR_TOPOLOGY);
  REFUSED(MPI_Type_contiguous(-1, MPI_INT, &t), MPI_ERR_COUNT);
  REFUSED(MPI_Type_contiguous(1, MPI_DATATYPE_NULL, &t), MPI_ERR_TYPE);
  t = MPI_INT;
  REFUSED(MPI_Type_free(&t), MPI_ERR_TYPE);
  REFUSED(MPI_Op_free(&op), MPI_ERR_OP);
  REFUSED(MPI_Start(&r), MPI_ERR_REQUEST);
  REFUSED(MPI_Request_free(&r), MPI_ERR_REQUEST);
  REFUSED(MPI_Comm_get_attr(MPI_COMM_WORLD, MPI_KEYVAL_INVALID, &v, &flag), MPI_ERR_KEYVAL);
  MPI_Info_create(&info);
  REFUSED(MPI_Info_delete(info, "nothing"), MPI_ERR_INFO_NOKEY);
  REFUSED(MPI_Info_set(info, "", "value"), MPI_ERR_INFO_KEY);
  MPI_Info_free(&info);
  REFUSED_UNLESS_MPICH(MPI_Info_free(&info), MPI_ERR_INFO);
  REFUSED(MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRHANDLER_NULL), MPI_ERR_ERRHANDLER);
}

/* What no memory holds, and no number tells. */
static void absurd(void) {
  const int dims[3] = {1 << 30, 1 << 30, 1 << 30}, periods[3] = {0, 0, 0};
  int free_dims[3] = {1 << 30, 1 << 30, 0}, v = 0;
  MPI_Comm grid;
  MPI_Datatype type;
  MPI_Request request;
  if (is_mpich()) return;
  REFUSED(MPI_Cart_create(MPI_COMM_WORLD, 3, dims, periods, 0, &grid), MPI_ERR_DIMS);
  REFUSED(MPI_Dims_create(4, 3, free_dims), MPI_ERR_DIMS);
  REFUSED(MPI_Type_contiguous_c((MPI_Count)1 << 62, MPI_DOUBLE, &type), MPI_ERR_COUNT);
  REFUSED(MPI_Type_vector_c((MPI_Count)1 << 40, (MPI_Count)1 << 30, 8, MPI_DOUBLE, &type), MPI_ERR_COUNT);
  REFUSED(MPI_Type_vector_c(3, 1, (MPI_Count)1 << 61, MPI_DOUBLE, &type), MPI_ERR_COUNT);
  REFUSED(
      MPI_Sendrecv_replace_c(&v, (MPI_Count)1 << 60, MPI_INT, rank_, 0, rank_, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE),
      MPI_ERR_NO_MEM);
  REFUSED(MPI_Psend_init(&v, 1 << 30, (MPI_Count)1 << 60, MPI_INT, rank_, 0, MPI_COMM_WORLD, MPI_INFO_NULL, &request),
          MPI_ERR_COUNT);
}

/* Arrays of processes whose numbers do not fit, and a graph whose indices fall. */
static void shapes(void) {
  int sizes[2] = {8, 8}, parts[2] = {2, 2}, negative[2] = {-1, -4}, grid[2] = {2, 2};
  int distribs[2] = {MPI_DISTRIBUTE_BLOCK, MPI_DISTRIBUTE_CYCLIC}, unknown[2] = {MPI_DISTRIBUTE_BLOCK, 77};
  int args[2] = {MPI_DISTRIBUTE_DFLT_DARG, MPI_DISTRIBUTE_DFLT_DARG};
  const int c = MPI_ORDER_C;
  MPI_Datatype t;
  MPI_Comm graph;
  if (is_mpich()) return; /* it checks few of them, and fails */
  REFUSED(MPI_Type_create_darray(4, 0, 2, sizes, distribs, args, negative, c, MPI_INT, &t), MPI_ERR_ARG);
  CHECK(MPI_Type_create_darray(4, 4, 2, sizes, distribs, args, grid, c, MPI_INT, &t) != MPI_SUCCESS);
  REFUSED(MPI_Type_create_darray(4, 0, 2, sizes, distribs, args, grid, 12345, MPI_INT, &t), MPI_ERR_ARG);
  REFUSED(MPI_Type_create_darray(4, 0, 2, sizes, unknown, args, grid, c, MPI_INT, &t), MPI_ERR_ARG);
  REFUSED(MPI_Type_create_darray(4, 0, 2, negative, distribs, args, grid, c, MPI_INT, &t), MPI_ERR_ARG);
  REFUSED(MPI_Type_create_darray(3, 0, 2, sizes, distribs, args, grid, c, MPI_INT, &t), MPI_ERR_ARG);
  MPI_Count huge[3] = {(MPI_Count)1 << 40, (MPI_Count)1 << 40, 2}, one[3] = {1, 1, 1}, none[3] = {0, 0, 0};
  REFUSED(MPI_Type_create_subarray_c(3, huge, one, none, c, MPI_INT, &t), MPI_ERR_COUNT);
  REFUSED(MPI_Type_create_subarray(2, sizes, parts, sizes, c, MPI_INT, &t), MPI_ERR_ARG); /* starts behind the end */
  const int falling[2] = {1, 0}, edges[1] = {0};
  if (size_ >= 2) REFUSED(MPI_Graph_create(MPI_COMM_WORLD, 2, falling, edges, 0, &graph), MPI_ERR_ARG);
}

/* What has been freed, and what an error has left as it was. */
static void again(void) {
  int keyval, stale, v = 5, got = 0, flag = 0, position = 0, n = -1;
  MPI_Request r;
  MPI_Status st;
  MPI_Comm_create_keyval(MPI_COMM_NULL_COPY_FN, MPI_COMM_NULL_DELETE_FN, &keyval, NULL);
  stale = keyval;
  CHECK_EQUAL(MPI_Comm_free_keyval(&keyval), MPI_SUCCESS);
  CHECK_EQUAL(keyval, MPI_KEYVAL_INVALID);
  REFUSED_UNLESS_MPICH(MPI_Comm_free_keyval(&stale), MPI_ERR_KEYVAL);
  /* A persistent operation whose start has failed is inactive, and may start later. */
  MPI_Bsend_init(&v, 1, MPI_INT, rank_, 3, MPI_COMM_WORLD, &r);
  REFUSED(MPI_Start(&r), MPI_ERR_BUFFER);
  if (!is_mpich()) {
    CHECK_EQUAL(MPI_Test(&r, &flag, &st), MPI_SUCCESS);
    CHECK(flag && st.MPI_SOURCE == MPI_ANY_SOURCE);
    char room[MPI_BSEND_OVERHEAD + 64], *back;
    MPI_Buffer_attach(room, sizeof room);
    CHECK_EQUAL(MPI_Start(&r), MPI_SUCCESS);
    MPI_Recv(&got, 1, MPI_INT, rank_, 3, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    CHECK_EQUAL(got, 5);
    MPI_Wait(&r, MPI_STATUS_IGNORE);
    MPI_Buffer_detach(&back, &n);
  }
  MPI_Request_free(&r);
  /* Nothing may come from nowhere. */
  CHECK_EQUAL(MPI_Pack(NULL, 0, MPI_INT, NULL, 0, &position, MPI_COMM_WORLD), MPI_SUCCESS);
  CHECK_EQUAL(MPI_Unpack(NULL, 0, &position, NULL, 0, MPI_INT, MPI_COMM_WORLD), MPI_SUCCESS);
  CHECK_EQUAL(position, 0);
  REFUSED(MPI_Pack_size(-1, MPI_INT, MPI_COMM_WORLD, &n), MPI_ERR_COUNT);
}

/* Their errors are returned though nobody has asked for it. */
static void files(void) {
  MPI_File f = MPI_FILE_NULL;
  CHECK(MPI_File_open(MPI_COMM_WORLD, "/no such folder/file", MPI_MODE_RDONLY, MPI_INFO_NULL, &f) != MPI_SUCCESS);
  CHECK(MPI_File_delete("/no such folder/file", MPI_INFO_NULL) != MPI_SUCCESS);
}

int main(int argc, char** argv) {
  begin(&argc, &argv);
  files();
  handlers();
  MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
  MPI_Comm_set_errhandler(MPI_COMM_SELF, MPI_ERRORS_RETURN); /* also of calls without a communicator */
  inherited();
  foreign_group();
  codes();
  own_codes();
  messages();
  truncation();
  collectives();
  objects();
  shapes();
  again();
  absurd();
  return end();
}
