// SPDX-License-Identifier: Apache-2.0
// One object per node, reached from every task of its node without a message.
//   shoal::node_local<histogram> h(64);                        // constructs histogram(64) on every node
//   shoal::parallel_for(shoal::everywhere, n, [h = h.ref()](std::uint64_t i) { h->count(i); });   // this node's
// Who may call: tasks. Construction and destruction switch tasks; the handle's operators do not.
// Guarantees: the objects exist on all nodes from the end of construction to the beginning of destruction. Tasks of all
// workers of a node share its object: it brings its own protection. One load more than a pointer.
// Errors: an exception of a constructor arrives as shoal::remote_error; then no node has an object.
// Shown by tests/cluster/containers_test.cpp.
#pragma once

#include <concepts>
#include <cstdint>
#include <type_traits>
#include <utility>

#include "shoal/array.hpp"
#include "shoal/error.hpp"
#include "shoal/parallel_for.hpp"

namespace shoal {

/// A handle: trivially copyable, 8 bytes; valid while the node_local exists. Lambdas capture it, messages carry it.
template <class T>
class node_local_ref {
public:
  node_local_ref() = default;
  explicit node_local_ref(symmetric_ptr<T*> place) noexcept : place_(place) {}

  /// This node's object.
  T& operator*() const noexcept { return **place_.get(); }
  T* operator->() const noexcept { return *place_.get(); }
  symmetric_ptr<T*> place() const noexcept { return place_; }

private:
  symmetric_ptr<T*> place_;
};

/// Owns the objects of all nodes; move-only. Nothing may be in flight to them when it is destroyed.
template <class T>
class node_local {
public:
  /// Constructs T(arguments...) on every node. The arguments travel: trivially copyable.
  template <class... Arguments>
  requires std::constructible_from<T, const Arguments&...>
  explicit node_local(const Arguments&... arguments)
      : node_local(detail::allocation_label("node_local", {}), arguments...) {}
  /// The same, known in reports of memory by `label`.
  template <class... Arguments>
  requires std::constructible_from<T, const Arguments&...> node_local(const detail::allocation_label& label,
                                                                      const Arguments&... arguments)
      : places_(node_count(), distribution::partition, detail::allocation{{}, {}, &label}) {
    try {
      parallel_for(owners_of(places_), node_count(), [places = places_.ref(), arguments...](std::uint64_t) {
        *places.symmetric().get() = new T(arguments...);
      });
    } catch (...) {
      destroy();
      throw;
    }
  }
  node_local(node_local&&) noexcept = default;
  node_local& operator=(node_local&& other) noexcept {
    if (this != &other) {
      destroy();
      places_ = std::move(other.places_);
    }
    return *this;
  }
  ~node_local() { destroy(); }

  node_local_ref<T> ref() const noexcept { return node_local_ref<T>(places_->symmetric()); }
  operator node_local_ref<T>() const noexcept { return ref(); }
  /// This node's object.
  T& operator*() const noexcept { return *ref(); }
  T* operator->() const noexcept { return &*ref(); }

private:
  void destroy() noexcept {
    if (places_.size() == 0) return;
    try {
      parallel_for(owners_of(places_), node_count(), [places = places_.ref()](std::uint64_t) {
        delete std::exchange(*places.symmetric().get(), nullptr);
      });
    } catch (const error&) {
      // A node is lost, and the job ends; there is nothing to destroy.
    }
  }

  global_array<T*> places_;  // one per node
};

}  // namespace shoal
