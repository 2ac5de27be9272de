/* SPDX-License-Identifier: Apache-2.0 */
/* All constructors of datatypes, with int and with large counts: what they say of themselves, where their elements lie,
   how they were made; packing, also in the external representation; the types of Fortran's kinds. */
#include "check.h"

enum { ROOM = 4096 };
static unsigned char from_[ROOM], to_[ROOM], packed_[ROOM];

static int class_of(int code) {
  int class;
  MPI_Error_class(code, &class);
  return class;
}

#include "narrow.h"
static int first_of_resized(void) { return 0; } /* it has no counts, and two addresses */

#include "types.inc"

#include "large.h"
#define TYPES_ARE_LARGE
static int first_of_resized_large(void) { return -3; } /* which are large counts */

#include "types.inc"

/* An array of structs whose end the compiler pads travels whole. */
static void padded_structs(void) {
  struct padded {
    double d;
    char c;
  } out[3] = {{1, 'a'}, {2, 'b'}, {3, 'c'}}, in[3] = {{0}};
  const int lengths[] = {1, 1};
  const MPI_Aint places[] = {0, offsetof(struct padded, c)};
  const MPI_Datatype types[] = {MPI_DOUBLE, MPI_CHAR};
  MPI_Datatype type;
  MPI_Aint lower = -1, extent = -1;
  MPI_Type_create_struct(2, lengths, places, types, &type);
  MPI_Type_commit(&type);
  MPI_Type_get_extent(type, &lower, &extent);
  CHECK_EQUAL(lower, 0);
  CHECK_EQUAL(extent, (MPI_Aint)sizeof(struct padded));
  MPI_Sendrecv(out, 3, type, 0, 0, in, 3, type, 0, 0, MPI_COMM_SELF, MPI_STATUS_IGNORE);
  for (int i = 0; i < 3; ++i) CHECK(in[i].d == out[i].d && in[i].c == out[i].c);
  MPI_Type_free(&type);
}

/* Bounds that were set in a member are those of a struct, whatever else is in it (lb_marker, ub_marker). */
static void structs_of_resized(void) {
  const int lengths[] = {1, 1};
  const MPI_Aint places[] = {0, 8};
  MPI_Datatype types[] = {MPI_DATATYPE_NULL, MPI_DOUBLE}, type;
  MPI_Aint lower = -1, extent = -1;
  if (is_mpich()) return; /* it takes the end of the last member */
  MPI_Type_create_resized(MPI_INT, -4, 24, &types[0]);
  MPI_Type_create_struct(2, lengths, places, types, &type);
  MPI_Type_get_extent(type, &lower, &extent);
  CHECK_EQUAL(lower, -4);
  CHECK_EQUAL(extent, 24);
  MPI_Type_free(&type);
  MPI_Type_free(&types[0]);
}

/* Many times a type with gaps: making it takes neither time nor memory for each. */
static void long_rows(void) {
  enum { MANY = 100000000, SOME = 1000 };
  struct part {
    int i;
    double d;
  };
  static struct part out[SOME], in[SOME];
  const int lengths[] = {1, 1};
  const MPI_Aint places[] = {0, 8};
  const MPI_Datatype types[] = {MPI_INT, MPI_DOUBLE};
  MPI_Datatype one, row, rows;
  MPI_Count size = 0;
  MPI_Type_create_struct(2, lengths, places, types, &one);
  MPI_Type_contiguous(MANY, one, &row);
  MPI_Type_contiguous(20, row, &rows);
  MPI_Type_size_x(rows, &size);
  CHECK_EQUAL(size, (MPI_Count)20 * MANY * 12);
  MPI_Type_free(&row);
  MPI_Type_free(&rows);
  MPI_Type_vector(SOME / 10, 5, 10, one, &row); /* five of ten */
  MPI_Type_commit(&row);
  for (int i = 0; i < SOME; ++i) out[i] = (struct part){i, i + 0.5}, in[i] = (struct part){-1, -1};
  MPI_Sendrecv(out, 1, row, 0, 0, in, 1, row, 0, 0, MPI_COMM_SELF, MPI_STATUS_IGNORE);
  for (int i = 0; i < SOME; ++i) CHECK(i % 10 < 5 ? in[i].i == i && in[i].d == i + 0.5 : in[i].i == -1);
  MPI_Type_free(&row);
  MPI_Type_free(&one);
}

/* Of a message that ends within a pair: value and index are an element each. */
static void elements_of_pairs(void) {
  MPI_Status st;
  int n = -1;
  memset(&st, 0, sizeof st);
  MPI_Status_set_elements(&st, MPI_BYTE, 20);
  MPI_Get_elements(&st, MPI_DOUBLE_INT, &n);
  CHECK_EQUAL(n, 3);
  MPI_Status_set_elements(&st, MPI_BYTE, 24);
  MPI_Get_elements(&st, MPI_DOUBLE_INT, &n);
  CHECK_EQUAL(n, 4);
}

/* Sizes that differ from this machine's, and values that have no room. */
static void external_sizes(void) {
  const struct {
    MPI_Datatype type;
    MPI_Aint size;
  } all[] = {{MPI_LONG, 4},         {MPI_UNSIGNED_LONG, 4}, {MPI_LONG_LONG, 8}, {MPI_WCHAR, 2},
             {MPI_LONG_DOUBLE, 16}, {MPI_LONG_INT, 8},      {MPI_AINT, 8}};
  MPI_Aint size = 0, at = 0;
  unsigned char packed[64];
  const long numbers[] = {-2, 0x01020304}, large = 1L << 40;
  long back[2] = {0};
  long double wide = -1.5L, wide_back = 0;
  if (is_mpich()) return; /* long double and wide characters are as in memory there */
  for (unsigned i = 0; i < sizeof all / sizeof *all; ++i) {
    MPI_Pack_external_size("external32", 1, all[i].type, &size);
    CHECK_EQUAL(size, all[i].size);
  }
  MPI_Pack_external("external32", numbers, 2, MPI_LONG, packed, sizeof packed, &at);
  CHECK_EQUAL(at, 8);
  CHECK(memcmp(packed, "\xff\xff\xff\xfe\1\2\3\4", 8) == 0);
  at = 0;
  MPI_Unpack_external("external32", packed, 8, &at, back, 2, MPI_LONG);
  CHECK(back[0] == -2 && back[1] == 0x01020304);
  at = 0;
  MPI_Pack_external("external32", &wide, 1, MPI_LONG_DOUBLE, packed, sizeof packed, &at);
  CHECK(memcmp(packed, "\xbf\xff\x80\0\0\0\0\0\0\0\0\0\0\0\0", 16) == 0); /* IEEE binary128 */
  at = 0;
  MPI_Unpack_external("external32", packed, 16, &at, &wide_back, 1, MPI_LONG_DOUBLE);
  CHECK(wide_back == wide);
  MPI_Comm_set_errhandler(MPI_COMM_SELF, MPI_ERRORS_RETURN);
  MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
  at = 0;
  CHECK_EQUAL(class_of(MPI_Pack_external("external32", &large, 1, MPI_LONG, packed, sizeof packed, &at)),
              MPI_ERR_CONVERSION);
  MPI_Comm_set_errhandler(MPI_COMM_SELF, MPI_ERRORS_ARE_FATAL);
  MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_ARE_FATAL);
}

/* A predefined type's name is that which this rank gave it. */
static void names(void) {
  char before[MPI_MAX_OBJECT_NAME], given[MPI_MAX_OBJECT_NAME], got[MPI_MAX_OBJECT_NAME];
  int length;
  MPI_Type_get_name(MPI_INT, before, &length);
  CHECK(strcmp(before, "MPI_INT") == 0);
  MPI_Barrier(MPI_COMM_WORLD);
  snprintf(given, sizeof given, "of rank %d", rank_);
  MPI_Type_set_name(MPI_INT, given);
  MPI_Barrier(MPI_COMM_WORLD);
  MPI_Type_get_name(MPI_INT, got, &length);
  CHECK(strcmp(got, given) == 0 && (size_t)length == strlen(given));
  MPI_Type_set_name(MPI_INT, before);
}

static void predefined(void) {
  static const struct {
    MPI_Datatype type;
    int size;
  } all[] = {{MPI_CHAR, 1},           {MPI_SIGNED_CHAR, 1},
             {MPI_UNSIGNED_CHAR, 1},  {MPI_BYTE, 1},
             {MPI_PACKED, 1},         {MPI_SHORT, sizeof(short)},
             {MPI_INT, sizeof(int)},  {MPI_LONG, sizeof(long)},
             {MPI_UNSIGNED, 4},       {MPI_UNSIGNED_LONG, sizeof(long)},
             {MPI_LONG_LONG, 8},      {MPI_UNSIGNED_LONG_LONG, 8},
             {MPI_FLOAT, 4},          {MPI_DOUBLE, 8},
             {MPI_INT8_T, 1},         {MPI_INT16_T, 2},
             {MPI_INT32_T, 4},        {MPI_INT64_T, 8},
             {MPI_UINT8_T, 1},        {MPI_UINT16_T, 2},
             {MPI_UINT32_T, 4},       {MPI_UINT64_T, 8},
             {MPI_AINT, 8},           {MPI_COUNT, 8},
             {MPI_OFFSET, 8},         {MPI_C_BOOL, 1},
             {MPI_WCHAR, 4},          {MPI_C_FLOAT_COMPLEX, 8},
             {MPI_2INT, 8},           {MPI_C_DOUBLE_COMPLEX, 16},
             {MPI_FLOAT_INT, 8},      {MPI_DOUBLE_INT, 12},
             {MPI_LONG_INT, 12},      {MPI_SHORT_INT, 6},
             {MPI_UNSIGNED_SHORT, 2}, {MPI_LONG_DOUBLE, sizeof(long double)}};
  for (unsigned i = 0; i < sizeof all / sizeof *all; ++i) {
    int size = -1, n[4], combiner = -1, length = 0;
    MPI_Count large = -1;
    char name[MPI_MAX_OBJECT_NAME];
    MPI_Type_size(all[i].type, &size);
    CHECK_EQUAL(size, all[i].size);
    MPI_Type_size_x(all[i].type, &large);
    CHECK_EQUAL(large, size);
    MPI_Type_get_envelope(all[i].type, &n[0], &n[1], &n[2], &combiner);
    CHECK_EQUAL(combiner, MPI_COMBINER_NAMED);
    MPI_Type_get_name(all[i].type, name, &length);
    CHECK(strncmp(name, "MPI_", 4) == 0);
  }
  struct {
    double d;
    int i;
  } pair;
  MPI_Count lb = -1, extent = -1;
  MPI_Type_get_extent_x(MPI_DOUBLE_INT, &lb, &extent);
  CHECK(lb == 0 && extent == sizeof pair);
  MPI_Type_get_true_extent_x(MPI_DOUBLE_INT, &lb, &extent);
  CHECK(lb == 0 && extent == 12);
}

/* Larger than an int can say. */
static void huge(void) {
  MPI_Datatype gigabyte, huge_type;
  int size = 0;
  MPI_Count large = 0, lb = -1, extent = 0;
  MPI_Type_contiguous(1 << 30, MPI_CHAR, &gigabyte);
  MPI_Type_contiguous(5, gigabyte, &huge_type);
  MPI_Type_size(huge_type, &size);
  CHECK_EQUAL(size, MPI_UNDEFINED);
  MPI_Type_size_c(huge_type, &large);
  CHECK_EQUAL(large, (MPI_Count)5 << 30);
  MPI_Type_get_extent_c(huge_type, &lb, &extent);
  CHECK(lb == 0 && extent == (MPI_Count)5 << 30);
  MPI_Type_free(&huge_type);
  MPI_Type_free(&gigabyte);
  MPI_Type_contiguous_c((MPI_Count)1 << 40, MPI_DOUBLE, &huge_type);
  MPI_Type_size_x(huge_type, &large);
  CHECK_EQUAL(large, (MPI_Count)1 << 43);
  MPI_Type_free(&huge_type);
}

static void of_fortran(void) {
  MPI_Datatype t;
  int size = 0;
  MPI_Type_match_size(MPI_TYPECLASS_REAL, 8, &t);
  MPI_Type_size(t, &size);
  CHECK_EQUAL(size, 8);
  MPI_Type_match_size(MPI_TYPECLASS_INTEGER, 4, &t);
  MPI_Type_size(t, &size);
  CHECK_EQUAL(size, 4);
  MPI_Type_match_size(MPI_TYPECLASS_COMPLEX, 16, &t);
  MPI_Type_size(t, &size);
  CHECK_EQUAL(size, 16);
  if (is_mpich()) return; /* its wheel is built without Fortran */
  MPI_Type_create_f90_integer(9, &t);
  MPI_Type_size(t, &size);
  CHECK_EQUAL(size, 4);
  MPI_Type_create_f90_real(15, MPI_UNDEFINED, &t);
  MPI_Type_size(t, &size);
  CHECK_EQUAL(size, 8);
#if defined(__x86_64__)
  MPI_Type_create_f90_real(18, MPI_UNDEFINED, &t); /* Fortran's kind 10, C's long double */
  {
    const long double out = 1.25L;
    unsigned char packed[16];
    MPI_Aint at = 0;
    MPI_Pack_external("external32", &out, 1, t, packed, sizeof packed, &at);
    CHECK(packed[0] == 0x3f && packed[1] == 0xff && packed[2] == 0x40);
  }
#endif
  MPI_Type_create_f90_complex(6, 30, &t);
  MPI_Type_size(t, &size);
  CHECK_EQUAL(size, 8);
}

/* The types of pairs for MPI_MINLOC and MPI_MAXLOC. */
static void pairs(void) {
  MPI_Datatype pair = MPI_INT;
  CHECK_EQUAL(MPI_Type_get_value_index(MPI_DOUBLE, MPI_INT, &pair), MPI_SUCCESS);
  CHECK(pair == MPI_DOUBLE_INT);
  MPI_Type_get_value_index(MPI_INT, MPI_INT, &pair);
  CHECK(pair == MPI_2INT);
  MPI_Type_get_value_index(MPI_LONG_DOUBLE, MPI_INT, &pair);
  CHECK(pair == MPI_LONG_DOUBLE_INT);
  CHECK_EQUAL(MPI_Type_get_value_index(MPI_PACKED, MPI_INT, &pair), MPI_SUCCESS);
  CHECK(pair == MPI_DATATYPE_NULL);
}

int main(int argc, char** argv) {
  begin(&argc, &argv);
  for (int i = 0; i < ROOM; ++i) from_[i] = (unsigned char)(i * 37 + i / 256 + rank_);
  padded_structs();
  structs_of_resized();
  long_rows();
  elements_of_pairs();
  external_sizes();
  names();
  predefined();
  constructors();
  constructors_large();
  resized();
  resized_large();
  arrays();
  arrays_large();
  external();
  external_large();
  elements();
  elements_large();
  huge();
  pairs();
  of_fortran();
  return end();
}
