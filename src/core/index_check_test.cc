// The capacity index, counted from scratch now and then.
#include <gtest/gtest.h>

#include "core/allocator.h"
#include "core/test_nodes.h"

namespace fairlead {
namespace {

TEST(IndexCheck, OneLookInSoManyCountsAnew) {
  SiteOfEights site(3);
  site.run(10, "n1", 4);
  for (int64_t at = 1; at < kRecountEvery; ++at) site.poll(at);
  ASSERT_NE(site.state().allocation, nullptr);
  EXPECT_EQ(site.state().allocation->checks.done, 0);
  site.poll(kRecountEvery);
  EXPECT_EQ(site.state().allocation->checks.done, 1);
  EXPECT_EQ(site.state().allocation->checks.failed, 0);
}

// Books that differ from those that the index was made of stand for an index that went wrong.
TEST(IndexCheck, OneThatIsWrongIsToldAndMadeAnew) {
  SiteOfEights site(3);
  site.run(10, "n1", 4);
  site.wait(1, 1, 8);
  site.poll(10);
  State books = site.state();
  Allocator allocator;
  const RunLengths lengths;
  allocator.look(books, lengths);
  EXPECT_EQ(allocator.recount(books), "");

  State others = books;
  others.node_free[0] = 7;
  EXPECT_EQ(allocator.recount(others), "n1: 4 h100 are free in the index, 7 by the books");
  allocator.check_index(others);
  EXPECT_EQ(allocator.checks().done, 1);
  EXPECT_EQ(allocator.checks().failed, 1);
  EXPECT_EQ(allocator.checks().last, "n1: 4 h100 are free in the index, 7 by the books");

  const Workload& asks = books.workloads.at(*books.queues.find("1"));
  EXPECT_TRUE(allocator.ask(books, lengths, asks, true)) << "what was looked at still answers";
  const Allocation next = allocator.look(books, lengths);
  EXPECT_EQ(next.plan.acts.size(), 1u);
  EXPECT_EQ(next.checks.failed, 1) << "the record outlives the index";
  EXPECT_EQ(allocator.recount(books), "");
}

}  // namespace
}  // namespace fairlead
