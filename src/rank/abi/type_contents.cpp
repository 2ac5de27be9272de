// SPDX-License-Identifier: Apache-2.0
// Datatypes: how they were made, names, attributes, duplicates, and those of Fortran's kinds (MPI 5.0, 5.1, 7.7, 19.1).
#include <algorithm>
#include <limits>
#include <map>
#include <mutex>
#include <utility>
#include <vector>

#include "rank/abi/arguments.hpp"
#include "rank/abi/text_argument.hpp"
#include "rank/datatype/constructors.hpp"

using namespace shoal::rank;       // NOLINT: the functions of a C interface
using namespace shoal::rank::abi;  // NOLINT

namespace {

constexpr auto k_types = attribute_key::kind::datatype;

// Of a type that is not predefined.
const type_origin& origin_of(MPI_Datatype type) {
  const datatype& t = type_of(type);
  if (t.origin().combiner == MPI_COMBINER_NAMED) throw mpi_error(MPI_ERR_TYPE, "a predefined datatype has no contents");
  return t.origin();
}

// A handle of its own for each that is not predefined.
MPI_Datatype opened(const type_origin& o, std::size_t i) {
  if (o.types[i].get() != nullptr) o.types[i]->add_reference();
  return o.handles[i];
}

template <class To>
void copy_out(const std::vector<std::int64_t>& from, std::int64_t most, To* to, const char* what) {
  if (most < static_cast<std::int64_t>(from.size()))
    throw mpi_error(MPI_ERR_ARG, fmt::format("there are {} {}, and room for {}; ask MPI_Type_get_envelope", from.size(),
                                             what, most));
  for (std::size_t i = 0; i < from.size(); ++i) output(to + i) = static_cast<To>(from[i]);
}

void copy_types(const type_origin& o, std::int64_t most, MPI_Datatype* to) {
  if (most < static_cast<std::int64_t>(o.handles.size()))
    throw mpi_error(MPI_ERR_ARG, fmt::format("there are {} datatypes, and room for {}; ask MPI_Type_get_envelope",
                                             o.handles.size(), most));
  for (std::size_t i = 0; i < o.handles.size(); ++i) output(to + i) = opened(o, i);
}

datatype& changeable(MPI_Datatype type) { return const_cast<datatype&>(type_of(type)); }

attribute_set& attributes_of(const caller& c, MPI_Datatype type) {
  type_of(type);
  return c.me.type_attributes[type];
}

// The datatype for a precision and a range: that of an intrinsic type, but it tells them. Programs get the same one for
// the same question, and it stays.
MPI_Datatype numbered(int combiner, std::vector<std::int64_t> asked, MPI_Datatype intrinsic) {
  static std::mutex mutex;
  static std::map<std::pair<int, std::vector<std::int64_t>>, datatype> all;
  const std::lock_guard hold(mutex);
  type_origin o;
  o.combiner = combiner;
  o.integers = asked;
  const predefined_type& like = *type_of(intrinsic).predefined();
  return handle_of_type(all.try_emplace({combiner, std::move(asked)}, like, std::move(o)).first->second);
}

MPI_Datatype real_of(int precision, int range) {
  if (precision == MPI_UNDEFINED && range == MPI_UNDEFINED)
    throw mpi_error(MPI_ERR_ARG, "a precision or a range is needed");
  const auto fits = [&](int digits, int exponent) {
    return (precision == MPI_UNDEFINED || precision <= digits) && (range == MPI_UNDEFINED || range <= exponent);
  };
  if (fits(6, 37)) return MPI_REAL4;
  if (fits(15, 307)) return MPI_REAL8;
  if constexpr (std::numeric_limits<long double>::digits10 == 18)
    if (fits(18, 4931)) return MPI_LONG_DOUBLE;  // Fortran's kind 10, for which MPI has no name
  if (fits(33, 4931)) return MPI_REAL16;
  throw mpi_error(MPI_ERR_ARG, "no real type has this precision and range");
}

}  // namespace

extern "C" {

int PMPI_Type_get_value_index(MPI_Datatype value_type, MPI_Datatype index_type, MPI_Datatype* pair_type) {
  return enter([&](caller&) {
    struct pair_of {
      MPI_Datatype value, index, pair;
    };
    static const pair_of k_pairs[] = {
        {MPI_FLOAT, MPI_INT, MPI_FLOAT_INT},     {MPI_DOUBLE, MPI_INT, MPI_DOUBLE_INT},
        {MPI_LONG, MPI_INT, MPI_LONG_INT},       {MPI_INT, MPI_INT, MPI_2INT},
        {MPI_SHORT, MPI_INT, MPI_SHORT_INT},     {MPI_LONG_DOUBLE, MPI_INT, MPI_LONG_DOUBLE_INT},
        {MPI_REAL, MPI_REAL, MPI_2REAL},         {MPI_DOUBLE_PRECISION, MPI_DOUBLE_PRECISION, MPI_2DOUBLE_PRECISION},
        {MPI_INTEGER, MPI_INTEGER, MPI_2INTEGER}};
    type_of(value_type);
    type_of(index_type);
    MPI_Datatype& result = output(pair_type);
    result = MPI_DATATYPE_NULL;  // there is none
    for (const pair_of& p : k_pairs)
      if (p.value == value_type && p.index == index_type) result = p.pair;
  });
}
MPI_ABI_ALIAS(Type_get_value_index)

int PMPI_Type_dup(MPI_Datatype type, MPI_Datatype* newtype) {
  return enter([&](caller& c) {
    MPI_Datatype& result = output(newtype);
    type_origin o;
    o.combiner = MPI_COMBINER_DUP;
    o.handles.push_back(type);
    o.types.emplace_back(&type_of(type));
    datatype& made = make_duplicate(type_of(type), std::move(o));
    result = handle_of_type(made);
    if (const auto at = c.me.type_attributes.find(type); at != c.me.type_attributes.end()) {
      attribute_set copied;
      copied.copy(c.me.keys, k_types, type, at->second);
      c.me.type_attributes[result] = std::move(copied);
    }
  });
}
MPI_ABI_ALIAS(Type_dup)

int PMPI_Type_free(MPI_Datatype* type) {
  return enter([&](caller& c) {
    const datatype& t = type_of(output(type));
    if (t.is_predefined()) throw mpi_error(MPI_ERR_TYPE, "a predefined datatype cannot be freed");
    if (const auto at = c.me.type_attributes.find(*type); at != c.me.type_attributes.end()) {
      at->second.erase_all(c.me.keys, k_types, *type);
      c.me.type_attributes.erase(*type);
    }
    t.drop_reference();
    *type = MPI_DATATYPE_NULL;
  });
}
MPI_ABI_ALIAS(Type_free)

int PMPI_Type_get_envelope(MPI_Datatype type, int* num_integers, int* num_addresses, int* num_datatypes,
                           int* combiner) {
  return enter([&](caller&) {
    const type_origin& o = type_of(type).origin();
    if (!o.counts.empty())
      throw mpi_error(MPI_ERR_TYPE, "the datatype was made with large counts; call MPI_Type_get_envelope_c");
    output(num_integers) = static_cast<int>(o.integers.size());
    output(num_addresses) = static_cast<int>(o.addresses.size());
    output(num_datatypes) = static_cast<int>(o.handles.size());
    output(combiner) = o.combiner;
  });
}
MPI_ABI_ALIAS(Type_get_envelope)

int PMPI_Type_get_envelope_c(MPI_Datatype type, MPI_Count* num_integers, MPI_Count* num_addresses,
                             MPI_Count* num_large_counts, MPI_Count* num_datatypes, int* combiner) {
  return enter([&](caller&) {
    const type_origin& o = type_of(type).origin();
    output(num_integers) = static_cast<MPI_Count>(o.integers.size());
    output(num_addresses) = static_cast<MPI_Count>(o.addresses.size());
    output(num_large_counts) = static_cast<MPI_Count>(o.counts.size());
    output(num_datatypes) = static_cast<MPI_Count>(o.handles.size());
    output(combiner) = o.combiner;
  });
}
MPI_ABI_ALIAS(Type_get_envelope_c)

int PMPI_Type_get_contents(MPI_Datatype type, int max_integers, int max_addresses, int max_datatypes, int* integers,
                           MPI_Aint* addresses, MPI_Datatype* datatypes) {
  return enter([&](caller&) {
    const type_origin& o = origin_of(type);
    if (!o.counts.empty())
      throw mpi_error(MPI_ERR_TYPE, "the datatype was made with large counts; call MPI_Type_get_contents_c");
    copy_out(o.integers, max_integers, integers, "integers");
    copy_out(o.addresses, max_addresses, addresses, "addresses");
    copy_types(o, max_datatypes, datatypes);
  });
}
MPI_ABI_ALIAS(Type_get_contents)

int PMPI_Type_get_contents_c(MPI_Datatype type, MPI_Count max_integers, MPI_Count max_addresses,
                             MPI_Count max_large_counts, MPI_Count max_datatypes, int* integers, MPI_Aint* addresses,
                             MPI_Count* large_counts, MPI_Datatype* datatypes) {
  return enter([&](caller&) {
    const type_origin& o = origin_of(type);
    copy_out(o.integers, max_integers, integers, "integers");
    copy_out(o.addresses, max_addresses, addresses, "addresses");
    copy_out(o.counts, max_large_counts, large_counts, "large counts");
    copy_types(o, max_datatypes, datatypes);
  });
}
MPI_ABI_ALIAS(Type_get_contents_c)

int PMPI_Type_set_name(MPI_Datatype type, const char* type_name) {
  return enter([&](caller& c) {
    datatype& t = changeable(type);
    (t.is_predefined() ? c.me.type_names[type] : t.name) = checked_text(type_name, MPI_MAX_OBJECT_NAME);
  });
}
MPI_ABI_ALIAS(Type_set_name)

int PMPI_Type_get_name(MPI_Datatype type, char* type_name, int* resultlen) {
  return enter([&](caller& c) {
    const datatype& t = type_of(type);
    const auto given = c.me.type_names.find(type);
    const std::string name = !t.is_predefined()               ? t.name
                             : given != c.me.type_names.end() ? given->second
                                                              : std::string(t.predefined()->name);
    give_text(name, type_name, MPI_MAX_OBJECT_NAME, resultlen);
  });
}
MPI_ABI_ALIAS(Type_get_name)

int PMPI_Type_create_keyval(MPI_Type_copy_attr_function* copy_fn, MPI_Type_delete_attr_function* delete_fn, int* keyval,
                            void* extra_state) {
  return enter([&](caller& c) {
    output(keyval) = c.me.keys.add({k_types, reinterpret_cast<attribute_key::copy_function*>(copy_fn),
                                    reinterpret_cast<attribute_key::delete_function*>(delete_fn), extra_state});
  });
}
MPI_ABI_ALIAS(Type_create_keyval)

int PMPI_Type_free_keyval(int* keyval) {
  return enter([&](caller& c) {
    c.me.keys.free(output(keyval), k_types);
    *keyval = MPI_KEYVAL_INVALID;
  });
}
MPI_ABI_ALIAS(Type_free_keyval)

int PMPI_Type_set_attr(MPI_Datatype type, int keyval, void* value) {
  return enter([&](caller& c) { attributes_of(c, type).set(c.me.keys, k_types, type, keyval, value); });
}
MPI_ABI_ALIAS(Type_set_attr)

int PMPI_Type_get_attr(MPI_Datatype type, int keyval, void* value, int* flag) {
  return enter([&](caller& c) {
    c.me.keys.at(keyval, k_types);
    const attribute_set::entry* const e = attributes_of(c, type).find(keyval);
    output(flag) = e != nullptr ? 1 : 0;
    if (e != nullptr) *reinterpret_cast<void**>(&output(static_cast<char*>(value))) = e->value;
  });
}
MPI_ABI_ALIAS(Type_get_attr)

int PMPI_Type_delete_attr(MPI_Datatype type, int keyval) {
  return enter([&](caller& c) { attributes_of(c, type).erase(c.me.keys, k_types, type, keyval); });
}
MPI_ABI_ALIAS(Type_delete_attr)

int PMPI_Type_match_size(int typeclass, int size, MPI_Datatype* result) {
  return enter([&](caller&) {
    struct match {
      int of, size;
      MPI_Datatype type;
    };
    const match all[] = {{MPI_TYPECLASS_REAL, 2, MPI_REAL2},        {MPI_TYPECLASS_REAL, 4, MPI_REAL4},
                         {MPI_TYPECLASS_REAL, 8, MPI_REAL8},        {MPI_TYPECLASS_REAL, 16, MPI_REAL16},
                         {MPI_TYPECLASS_INTEGER, 1, MPI_INTEGER1},  {MPI_TYPECLASS_INTEGER, 2, MPI_INTEGER2},
                         {MPI_TYPECLASS_INTEGER, 4, MPI_INTEGER4},  {MPI_TYPECLASS_INTEGER, 8, MPI_INTEGER8},
                         {MPI_TYPECLASS_COMPLEX, 8, MPI_COMPLEX8},  {MPI_TYPECLASS_COMPLEX, 16, MPI_COMPLEX16},
                         {MPI_TYPECLASS_COMPLEX, 32, MPI_COMPLEX32}};
    for (const match& m : all)
      if (m.of == typeclass && m.size == size) {
        output(result) = m.type;
        return;
      }
    throw mpi_error(MPI_ERR_ARG, fmt::format("no type of this class has {} bytes", size));
  });
}
MPI_ABI_ALIAS(Type_match_size)

int PMPI_Type_create_f90_integer(int r, MPI_Datatype* newtype) {
  return enter([&](caller&) {
    if (r > 18) throw mpi_error(MPI_ERR_ARG, fmt::format("no integer type has the range {}", r));
    output(newtype) = numbered(MPI_COMBINER_F90_INTEGER, {r},
                               r <= 2   ? MPI_INTEGER1
                               : r <= 4 ? MPI_INTEGER2
                               : r <= 9 ? MPI_INTEGER4
                                        : MPI_INTEGER8);
  });
}
MPI_ABI_ALIAS(Type_create_f90_integer)

int PMPI_Type_create_f90_real(int p, int r, MPI_Datatype* newtype) {
  return enter([&](caller&) { output(newtype) = numbered(MPI_COMBINER_F90_REAL, {p, r}, real_of(p, r)); });
}
MPI_ABI_ALIAS(Type_create_f90_real)

int PMPI_Type_create_f90_complex(int p, int r, MPI_Datatype* newtype) {
  return enter([&](caller&) {
    const MPI_Datatype part = real_of(p, r);
    output(newtype) = numbered(MPI_COMBINER_F90_COMPLEX, {p, r},
                               part == MPI_REAL4         ? MPI_COMPLEX8
                               : part == MPI_REAL8       ? MPI_COMPLEX16
                               : part == MPI_LONG_DOUBLE ? MPI_C_LONG_DOUBLE_COMPLEX
                                                         : MPI_COMPLEX32);
  });
}
MPI_ABI_ALIAS(Type_create_f90_complex)
}
