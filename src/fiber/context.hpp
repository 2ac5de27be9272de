// SPDX-License-Identifier: Apache-2.0
// The switch: leaves one stack and continues on another, keeping the registers that the calling convention preserves
// over a call, and the rounding modes (MXCSR and the x87 control word).
// Who may call: fiber.hpp only. Guarantees: returns on a switch back to the context that it has written to `mine`.
// For x86-64 it is inline assembly instead of Boost.Context: with a switch that is a call and ends with a jump, the
// processor's return stack buffer is off by one, and each return into the task is mispredicted. Measured: a yield
// between two tasks takes half the time. Other architectures use Boost.Context.
// Tests: tests/unit/fiber/fiber_test.cpp.
#pragma once

#include <cstddef>
#include <cstdint>

#if !defined(__x86_64__)
#include <boost/context/detail/fcontext.hpp>
#include <cfenv>
#endif

namespace shoal::fiber {

/// Where a stack that is not running continues.
using fiber_context = void*;
using entry_function = void (*)() noexcept;

#if defined(__x86_64__)

/// For debuggers: what a context points to. 0: not known; 1: saved_registers, which begin with rsp, rip, rbx and rbp.
inline constexpr std::uint64_t k_saved_registers = 1;

/// Whether a stack may continue on another thread. Where it may not, compilers keep the thread pointer in a register over
/// calls, so that inlined code would go on with the variables of the thread that it has left.
inline constexpr bool k_may_change_thread = true;

/// The saved state of a stack, in the frame of its switch_context() or, before it has run, at its top.
struct alignas(16) saved_registers {
  void* stack_pointer;
  void (*go_on)() noexcept;
  void* rbx;
  void* rbp;
  std::uint32_t mxcsr;
  std::uint16_t x87_control;
};

/// A context that begins `entry`, which must not return, on a stack that ends at `top`. Rounds as the ABI begins.
inline fiber_context make_context(std::byte* top, std::size_t, entry_function entry) noexcept {
  const auto end = reinterpret_cast<std::uintptr_t>(top) & ~std::uintptr_t{15};
  auto* saved = reinterpret_cast<saved_registers*>(end - sizeof(saved_registers));
  // A function expects its stack pointer 8 below a multiple of 16, at its return address; this one has none.
  auto* return_address = reinterpret_cast<void**>(saved) - 1;
  *return_address = nullptr;
  *saved = {return_address, entry, nullptr, nullptr, 0x1f80, 0x037f};
  return saved;
}

[[gnu::always_inline]] inline void switch_context(fiber_context& mine, fiber_context next) noexcept {
  saved_registers here;
  saved_registers* from = &here;
  asm("" : "+r"(from));  // it is left for others to find while this stack does not run
  mine = from;
  auto* to = static_cast<saved_registers*>(next);
  // The compiler saves what is named as changed and still needed; rbx and rbp it does not let go. Stacks seldom round
  // differently, and the comparison is predicted, while loading a control register is not overlapped with anything.
  asm volatile(
      "movq %%rbx, 16(%%rdi)\n\t"
      "movq %%rbp, 24(%%rdi)\n\t"
      "leaq 2f(%%rip), %%rax\n\t"
      "movq %%rax, 8(%%rdi)\n\t"
      "movq %%rsp, (%%rdi)\n\t"
      "stmxcsr 32(%%rdi)\n\t"
      "fnstcw 36(%%rdi)\n\t"
      "movl 32(%%rdi), %%eax\n\t"
      "movzwl 36(%%rdi), %%ecx\n\t"
      "cmpl 32(%%rsi), %%eax\n\t"
      "jne 3f\n\t"
      "cmpw 36(%%rsi), %%cx\n\t"
      "jne 3f\n"
      "1:\n\t"
      "movq (%%rsi), %%rsp\n\t"
      "jmp *8(%%rsi)\n"
      "3:\n\t"
      "ldmxcsr 32(%%rsi)\n\t"
      "fldcw 36(%%rsi)\n\t"
      "jmp 1b\n"
      "2:\n\t"
      "movq 16(%%rsi), %%rbx\n\t"
      "movq 24(%%rsi), %%rbp"
      : "+D"(from), "+S"(to)
      :
      : "rax", "rcx", "rdx", "r8", "r9", "r10", "r11", "r12", "r13", "r14", "r15", "xmm0", "xmm1", "xmm2", "xmm3",
        "xmm4", "xmm5", "xmm6", "xmm7", "xmm8", "xmm9", "xmm10", "xmm11", "xmm12", "xmm13", "xmm14", "xmm15",
#if defined(__AVX512F__)
        "xmm16", "xmm17", "xmm18", "xmm19", "xmm20", "xmm21", "xmm22", "xmm23", "xmm24", "xmm25", "xmm26", "xmm27",
        "xmm28", "xmm29", "xmm30", "xmm31", "k1", "k2", "k3", "k4", "k5", "k6", "k7",
#endif
        "memory", "cc");
}

#else

inline constexpr std::uint64_t k_saved_registers = 0;
inline constexpr bool k_may_change_thread = false;

namespace detail {

// Boost.Context does not keep rounding modes here. Writing the register takes long, and stacks seldom round differently.
#if defined(__aarch64__)
using rounding = std::uint64_t;
inline constexpr rounding k_rounding_of_the_abi = 0;
inline rounding rounding_now() noexcept {
  rounding fpcr;
  asm volatile("mrs %0, fpcr" : "=r"(fpcr));
  return fpcr;
}
inline void round_as(rounding wanted) noexcept {
  if (rounding_now() != wanted) asm volatile("msr fpcr, %0" : : "r"(wanted));
}
#else
using rounding = int;
inline constexpr rounding k_rounding_of_the_abi = FE_TONEAREST;
inline rounding rounding_now() noexcept { return std::fegetround(); }
inline void round_as(rounding wanted) noexcept {
  if (rounding_now() != wanted) std::fesetround(wanted);
}
#endif

/// Where a stack goes on: at its top while it has not run, in the frame of switch_context when it has.
struct record {
  boost::context::detail::fcontext_t at = nullptr;
  entry_function entry = nullptr;
};
struct passed {
  record* left;
  record* reached;
};

inline void arrive(boost::context::detail::transfer_t from) noexcept {
  const passed p = *static_cast<passed*>(from.data);
  p.left->at = from.fctx;
  round_as(k_rounding_of_the_abi);
  p.reached->entry();
}

}  // namespace detail

inline fiber_context make_context(std::byte* top, std::size_t bytes, entry_function entry) noexcept {
  auto* made = reinterpret_cast<detail::record*>(top) - 1;
  made->at = boost::context::detail::make_fcontext(made, bytes - sizeof(detail::record), detail::arrive);
  made->entry = entry;
  return made;
}

inline void switch_context(fiber_context& mine, fiber_context next) noexcept {
  detail::record here;
  mine = &here;
  const detail::rounding mode = detail::rounding_now();
  detail::passed to{&here, static_cast<detail::record*>(next)};
  const auto back = boost::context::detail::jump_fcontext(to.reached->at, &to);
  static_cast<detail::passed*>(back.data)->left->at = back.fctx;
  detail::round_as(mode);
}

#endif

}  // namespace shoal::fiber
