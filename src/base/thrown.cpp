// SPDX-License-Identifier: Apache-2.0
#include "base/thrown.hpp"

#include <cxxabi.h>
#include <fmt/format.h>

#include <exception>
#include <typeinfo>

#include "base/demangle.hpp"
#include "shoal/error.hpp"

namespace shoal::base {
namespace {

std::string current_type() {
  const auto* const type = abi::__cxa_current_exception_type();
  return type != nullptr ? demangled(type->name()) : "an unknown type";
}

}  // namespace

thrown describe_thrown() {
  try {
    throw;
  } catch (const error& e) {
    return {"shoal::error", e.what()};
  } catch (const std::exception& e) {
    return {demangled(typeid(e).name()), e.what()};
  } catch (const char* text) {
    return {"const char*", text != nullptr ? text : ""};
  } catch (const std::string& text) {
    return {"std::string", text};
  } catch (int number) {
    return {"int", fmt::format("{}", number)};
  } catch (...) {
    return {current_type(), {}};
  }
}

std::string sentence_of_thrown() {
  try {
    throw;
  } catch (const std::exception& e) {
    return e.what();
  } catch (...) {
    const thrown t = describe_thrown();
    return fmt::format("an exception that is no std::exception: {}{}{}", t.type, t.message.empty() ? "" : " ",
                       t.message);
  }
}

}  // namespace shoal::base
