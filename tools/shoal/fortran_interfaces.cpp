// SPDX-License-Identifier: Apache-2.0
#include "tools/shoal/fortran_interfaces.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <map>
#include <string_view>
#include <vector>

#include "base/comma_list.hpp"

namespace shoal::tools {
namespace {

struct c_function {
  std::string_view result;
  std::string_view name;
  std::string_view parameters;  // with parentheses
};

#define MPI_ABI_FUNCTION(result, name, parameters) {#result, #name, #parameters},
#define MPI_ABI_COUNTED(result, name, parameters) {#result, #name, #parameters},
constexpr c_function k_functions[] = {
#include "mpi-abi/functions/all.inc"
};
#include "mpi-abi/functions/end.inc"

struct fortran_function {
  std::string_view name;
  bool counted;
};

#define MPI_FORTRAN(count, texts, lower, name) {#name, false},
#define MPI_FORTRAN_COUNTED(count, texts, lower, name) {#name, true},
#define MPI_FORTRAN_BY_HAND(name) {#name, false},
#define MPI_FORTRAN_BY_HAND_COUNTED(name) {#name, true},
constexpr fortran_function k_procedures[] = {
#include "rank/fortran/functions.inc"
};

// Parameters that are other in Fortran than in C: of a function, or of all of them. "-": there is none.
struct other_parameter {
  std::string_view function;
  std::string_view name;
  std::string_view declaration;
};
constexpr other_parameter k_others[] = {
    {"", "argc", "-"},
    {"", "argv", "-"},
    {"", "...", "-"},
    {"Attr_put", "attribute_val", "integer, intent(in)"},
    {"Attr_get", "attribute_val", "integer"},
    {"Keyval_create", "extra_state", "integer, intent(in)"},
    {"Comm_set_attr", "attribute_val", "integer(8), intent(in)"},
    {"Type_set_attr", "attribute_val", "integer(8), intent(in)"},
    {"", "attribute_val", "integer(8)"},
    {"Grequest_start", "extra_state", "integer(8), target"},
    {"", "extra_state", "integer(8), intent(in)"},
    {"", "baseptr", "integer(8)"},
};

// What the new module leaves out.
constexpr std::string_view k_old[] = {"Attr_put", "Attr_get", "Attr_delete", "Keyval_create", "Keyval_free"};
// Functions with large counts that have other parameters than those without, but the same generic name.
constexpr std::string_view k_of_others[] = {"Type_get_envelope_c", "Type_get_contents_c"};
// Procedures for variables of the type C_PTR beside those of the list: their function, and the argument.
constexpr std::array<std::string_view, 2> k_with_pointers[] = {{"Alloc_mem", "baseptr"},
                                                               {"Buffer_detach", "buffer_addr"}};
// Of buffers and arrays. Without it gfortran takes it that a procedure forgets the address when it returns, so that no
// MPI_Wait can change a buffer.
constexpr std::string_view k_lasting = "target";
constexpr std::string_view k_logicals[] = {"flag", "reorder", "periods", "remain_dims", "commute", "high", "weighted"};
constexpr std::string_view k_no_error[] = {"Wtime", "Wtick", "Aint_add", "Aint_diff", "Pcontrol"};  // have no ierror

template <class T>
bool is_in(std::string_view word, const T& list) {
  return std::ranges::find(list, word) != std::end(list);
}

struct parameter {
  std::string type;  // of C, without const, asterisks and brackets
  std::string name;
  unsigned asterisks = 0;
  bool constant = false;
  std::string brackets;
};

parameter parse(std::string_view text) {
  parameter p;
  text = base::trim(text);
  if (const auto at = text.find('['); at != std::string_view::npos) {
    p.brackets = text.substr(at);
    text = base::trim(text.substr(0, at));
  }
  if (text.starts_with("const ")) {
    p.constant = true;
    text.remove_prefix(6);
  }
  const auto at = text.find_last_of(" *");
  p.name = at == std::string_view::npos ? text : text.substr(at + 1);
  std::string_view type = at == std::string_view::npos ? std::string_view() : base::trim(text.substr(0, at + 1));
  while (type.ends_with('*')) {
    ++p.asterisks;
    type = base::trim(type.substr(0, type.size() - 1));
  }
  p.type = type;
  return p;
}

std::vector<parameter> parameters_of(std::string_view list) {
  list = list.substr(1, list.size() - 2);
  std::vector<parameter> all;
  if (list == "void") return all;
  while (!list.empty()) {
    const auto end = std::min(list.find(','), list.size());
    all.push_back(parse(list.substr(0, end)));
    list.remove_prefix(std::min(end + 1, list.size()));
  }
  return all;
}

class writer {
public:
  explicit writer(fortran_module of) : new_(of == fortran_module::mpi_f08) {}

  std::string all() {
    std::map<std::string_view, const c_function*> known;
    for (const c_function& f : k_functions) known[f.name] = &f;
    for (const fortran_function& f : k_procedures) {
      if (new_ ? is_in(f.name, k_old) : f.name.ends_with("_c")) continue;
      const bool of_other = is_in(f.name, k_of_others);
      for (const std::string_view prefix : {"MPI_", "PMPI_"}) {
        const c_function& c = *known.at(f.name);
        const bool has_pointer =
            std::ranges::find(k_with_pointers, f.name, [](auto& p) { return p[0]; }) != std::end(k_with_pointers);
        const bool has_large = new_ && f.counted && is_overloaded(c);
        // A generic name only where there are several: it takes arrays of the declared rank alone.
        text_ += "interface";
        const bool has_other = new_ && is_in(std::string(f.name) + "_c", k_of_others);
        if (of_other || has_other || has_large || has_pointer)
          text_ += fmt::format(" {}{}", prefix, of_other ? f.name.substr(0, f.name.size() - 2) : f.name);
        text_ += "\n";
        if (!new_ || !has_pointer) procedure(prefix, c, false, false);
        if (has_pointer && (new_ || f.name != "Buffer_detach")) procedure(prefix, c, false, true);
        if (has_large) procedure(prefix, c, true, false);
        text_ += "end interface\n";
      }
    }
    return std::move(text_);
  }

private:
  // Whether the procedure with large counts has other types than that without.
  static bool is_overloaded(const c_function& f) {
    return f.parameters.find("MPI_ABI_COUNT") != std::string_view::npos ||
           f.parameters.find("MPI_ABI_PLACE") != std::string_view::npos;
  }

  void procedure(std::string_view prefix, const c_function& f, bool large, bool pointer) {
    std::vector<std::string> names;
    std::string declarations;
    for (parameter p : parameters_of(f.parameters)) {
      if (p.name == "indx") p.name = "index";
      const std::string declared = declaration(f.name, p, large, pointer);
      if (declared == "-") continue;
      declarations += "  " + declared + "\n";
      names.push_back(p.name);
    }
    const bool is_function = f.result != "int";
    if (!is_function && !is_in(f.name, k_no_error)) {
      names.emplace_back("ierror");
      declarations += new_ ? "  integer, optional, intent(out) :: ierror\n" : "  integer, intent(out) :: ierror\n";
    }
    const std::string name = fmt::format("{}{}{}", prefix, f.name, large ? "_c" : pointer ? "_cptr" : "");
    const std::string result = f.result == "double" ? "double precision function" : "integer(8) function";
    text_ += fmt::format(" {} {}({})\n  import\n{} end {}\n", is_function ? result : "subroutine", name,
                         fmt::join(names, ", "), declarations, is_function ? "function" : "subroutine");
  }

  std::string declaration(std::string_view function, const parameter& p, bool large, bool pointer) const {
    for (const auto& [of, argument] : k_with_pointers) {
      if (of == function && argument == p.name && (pointer || (new_ && large)))
        return "type(c_ptr), intent(out) :: " + p.name;
    }
    for (const other_parameter& o : k_others) {
      if ((o.function.empty() || o.function == function) && o.name == p.name)
        return o.declaration == "-" ? "-" : fmt::format("{} :: {}", o.declaration, p.name);
    }
    const bool by_value = p.asterisks == 0 && p.brackets.empty();
    const std::string intent = by_value || p.constant ? ", intent(in)" : "";
    if (p.type == "void")
      return fmt::format("{}type(*), dimension(*), {}{} :: {}", unchecked(p.name), k_lasting, intent, p.name);
    if (p.type == "char") return fmt::format("character(len=*){} :: {}", intent, p.name);
    if (p.type.ends_with("_function") || p.type.ends_with("_function_c")) return procedure_argument(p);
    if (p.type == "MPI_Status") return status(p, intent);
    const std::string shape = shape_of(p);
    // Programs with the old module give a scalar where an array is ignored or has one element.
    const std::string check = !new_ && shape == "(*)" ? unchecked(p.name) : "";
    return fmt::format("{}{}{}{}{} :: {}{}", check, type_of(p, large), intent, shape.empty() ? "" : ", ",
                       shape.empty() ? "" : k_lasting, p.name, shape);
  }

  static std::string unchecked(std::string_view name) {
    return fmt::format("!GCC$ ATTRIBUTES NO_ARG_CHECK :: {0}\n  !DIR$ IGNORE_TKR {0}\n  ", name);
  }

  std::string procedure_argument(const parameter& p) const {
    return new_ ? fmt::format("procedure({}) :: {}", p.type, p.name) : "external :: " + p.name;
  }

  std::string status(const parameter& p, const std::string& intent) const {
    const bool is_array = p.name.starts_with("array_of_");
    if (new_) return fmt::format("type(MPI_Status){} :: {}{}", intent, p.name, is_array ? "(*)" : "");
    return fmt::format("integer{} :: {}{}", intent, p.name, is_array ? "(8,*)" : "(8)");
  }

  std::string type_of(const parameter& p, bool large) const {
    if (p.type == "int") return is_in(p.name, k_logicals) ? "logical" : "integer";
    if (p.type == "MPI_ABI_COUNT" || p.type == "MPI_ABI_PLACE") return large ? "integer(8)" : "integer";
    if (p.type == "MPI_ABI_WIDE" || p.type == "MPI_Aint" || p.type == "MPI_Count" || p.type == "MPI_Offset")
      return "integer(8)";
    return new_ ? fmt::format("type({})", p.type) : "integer";
  }

  static std::string shape_of(const parameter& p) {
    if (p.brackets == "[][3]") return "(3,*)";
    return !p.brackets.empty() || p.name.ends_with("weights") ? "(*)" : "";
  }

  const bool new_;
  std::string text_;
};

}  // namespace

std::string fortran_interfaces(fortran_module of) { return writer(of).all(); }

}  // namespace shoal::tools
