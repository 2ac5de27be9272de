// SPDX-License-Identifier: Apache-2.0
#include "base/thrown.hpp"

#include <cxxabi.h>
#include <fmt/format.h>

#include <cstdlib>
#include <exception>
#include <typeinfo>

#include "shoal/error.hpp"

namespace shoal::base {
namespace {

std::string readable(const char* mangled) {
  int status = 0;
  char* text = abi::__cxa_demangle(mangled, nullptr, nullptr, &status);
  std::string result = status == 0 ? text : mangled;
  std::free(text);
  return result;
}

std::string current_type() {
  const auto* const type = abi::__cxa_current_exception_type();
  return type != nullptr ? readable(type->name()) : "an unknown type";
}

}  // namespace

thrown describe_thrown() {
  try {
    throw;
  } catch (const error& e) {
    return {"shoal::error", e.what()};
  } catch (const std::exception& e) {
    return {readable(typeid(e).name()), e.what()};
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
