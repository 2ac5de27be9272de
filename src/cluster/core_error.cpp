// SPDX-License-Identifier: Apache-2.0
#include "cluster/core_error.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <exception>
#include <new>
#include <string>

#include "base/shorten.hpp"
#include "base/thrown.hpp"
#include "shoal/error.hpp"
#include "shoal/remote_error.hpp"

namespace shoal::cluster {
namespace {

static_assert(SHOAL_INVALID_ARGUMENT == static_cast<int>(errc::invalid_argument));
static_assert(SHOAL_PEER_LOST == static_cast<int>(errc::peer_lost));
static_assert(SHOAL_REMOTE == static_cast<int>(errc::remote));
static_assert(SHOAL_INTERNAL == static_cast<int>(errc::internal));

int fill(shoal_error* to, int status, std::uint32_t node, std::string_view message) noexcept {
  if (to == nullptr) return status;
  to->status = status;
  to->node = node;
  to->message[base::copy_shortened(message, to->message, sizeof to->message - 1)] = '\0';
  return status;
}

std::uint32_t node_here() noexcept { return detail::t_port == nullptr ? 0 : detail::t_port->node; }

}  // namespace

int fail(shoal_error* to, int status, std::string_view message) noexcept {
  return fill(to, status, node_here(), message);
}

int fail_without_job(shoal_error* to) noexcept { return fill(to, SHOAL_NO_JOB, 0, detail::k_needs_job); }

int fail_as_thrown(shoal_error* to) noexcept {
  try {
    throw;
  } catch (const remote_error& e) {
    return fill(to, static_cast<int>(e.code()), e.node(), e.what());
  } catch (const error& e) {
    return fail(to, static_cast<int>(e.code()), e.what());
  } catch (const std::bad_alloc&) {
    return fail(to, SHOAL_OUT_OF_MEMORY, "there is no memory left on this node");
  } catch (const std::exception& e) {
    return fail(to, SHOAL_INTERNAL, e.what());
  } catch (...) {
    try {
      return fail(to, SHOAL_INTERNAL, base::sentence_of_thrown());
    } catch (...) {  // no memory for the sentence
      return fail(to, SHOAL_INTERNAL, "an exception was thrown that is no std::exception");
    }
  }
}

int status_of(array::refusal r, shoal_error* to, std::uint64_t array, std::uint64_t index,
              std::uint64_t count) noexcept {
  const auto message = [&](int status, const char* format, auto... values) noexcept {
    if (to == nullptr) return status;
    char text[sizeof to->message];
    const auto end = fmt::format_to_n(text, sizeof text, fmt::runtime(format), values...);
    return fail(to, status, {text, std::min(end.size, sizeof text)});
  };
  switch (r) {
    case array::refusal::none: return SHOAL_OK;
    case array::refusal::no_array:
      return message(SHOAL_NO_ARRAY, "there is no array {:#x}; it was freed, or never created", array);
    case array::refusal::out_of_range: {
      const auto* const layout = array::find(array);
      return message(SHOAL_OUT_OF_RANGE, "{} elements from index {} on are out of the range of an array of {} elements",
                     count, index, layout == nullptr ? 0 : layout->size);
    }
    case array::refusal::wrong_type:
      return message(SHOAL_WRONG_TYPE, "the elements of array {:#x} have another type or size", array);
    case array::refusal::no_such_verb:
      return message(SHOAL_NO_SUCH_VERB, "elements of this type do not have this verb");
    case array::refusal::no_operand: return message(SHOAL_NO_OPERAND, "a pointer that is needed is NULL");
    case array::refusal::unaligned:
      return message(SHOAL_UNALIGNED, "a pointer to elements is not aligned to their size");
  }
  return fail(to, SHOAL_INTERNAL, "an access was refused for a reason without a name");
}

}  // namespace shoal::cluster

const char* shoal_status_text(int status) {
  switch (status) {
    case SHOAL_OK: return "ok";
    case SHOAL_NO_JOB: return "no_job";
    case SHOAL_NO_ARRAY: return "no_array";
    case SHOAL_OUT_OF_RANGE: return "out_of_range";
    case SHOAL_WRONG_TYPE: return "wrong_type";
    case SHOAL_NO_SUCH_VERB: return "no_such_verb";
    case SHOAL_NO_OPERAND: return "no_operand";
    case SHOAL_UNALIGNED: return "unaligned";
    default: return shoal::to_string(static_cast<shoal::errc>(status)).data();  // a literal, ended by 0
  }
}
