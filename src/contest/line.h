// Waiting jobs in a rule's order, by shape, so that a pass skips at once all whose gang does not
// fit any more: a pass costs O(shapes + jobs that are looked at), whatever waits.
#pragma once

#include <algorithm>
#include <set>
#include <tuple>
#include <vector>

#include "contest/arena.h"

namespace fairlead::contest {

enum class Next : uint8_t {
  go_on,       // to the next job
  taken,       // go on; the job waits no more
  skip_shape,  // go on, without this and all later jobs of its shape
  stop,
};

class Line {
 public:
  struct Place {
    int64_t key = 0;  // the rule's own; smallest first
    int64_t submit = 0;
    JobIndex job = 0;
    friend auto operator<=>(const Place&, const Place&) = default;
  };

  void add(const Arena& arena, JobIndex job, int64_t key = 0) {
    const Job& j = arena.job(job);
    if (shapes_.size() <= j.shape) shapes_.resize(j.shape + 1);
    shapes_[j.shape].insert({key, j.submit, job});
    ++size_;
  }
  bool empty() const { return size_ == 0; }
  size_t size() const { return size_; }

  // Whether `of` holds for a job of any shape that waits.
  template <class F>
  bool any_shape(F&& of) const {
    return std::ranges::any_of(
        shapes_, [&](const auto& shape) { return !shape.empty() && of(shape.begin()->job); });
  }

  // Calls `look(job)`, which returns a Next, in order.
  template <class F>
  void pass(F&& look) {
    using Shape = std::set<Place>;
    using Cursor = std::pair<Shape::iterator, Shape*>;
    const auto later = [](const Cursor& a, const Cursor& b) { return *b.first < *a.first; };
    std::vector<Cursor> heap;
    for (Shape& shape : shapes_)
      if (!shape.empty()) heap.emplace_back(shape.begin(), &shape);
    std::ranges::make_heap(heap, later);
    while (!heap.empty()) {
      std::ranges::pop_heap(heap, later);
      auto& [at, shape] = heap.back();
      const Next next = look(at->job);
      if (next == Next::stop) return;
      if (next == Next::taken) {
        at = shape->erase(at);
        --size_;
      } else {
        ++at;
      }
      if (next == Next::skip_shape || at == shape->end())
        heap.pop_back();
      else
        std::ranges::push_heap(heap, later);
    }
  }

 private:
  std::vector<std::set<Place>> shapes_;
  size_t size_ = 0;
};

}  // namespace fairlead::contest
