#include "policy/quota.h"

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

namespace fairlead::policy {
namespace {

constexpr DeviceId kH100 = 0;

// Teams in the order of Organisation: a parent before its children, each subtree together.
Organisation organisation_of(const std::vector<std::pair<TeamId, Limits>>& teams) {
  Organisation org;
  org.devices = {{.name = "H100", .models = {"H100"}}};
  for (const auto& [parent, limits] : teams) {
    Team team;
    team.parent = parent;
    team.limits = {limits};
    org.teams.push_back(std::move(team));
  }
  for (TeamId t = 0; t < org.teams.size(); ++t) {
    TeamId end = t + 1;
    while (end < org.teams.size() && org.teams[end].parent >= t) ++end;
    org.teams[t].end = end;
  }
  return org;
}

Limits owns(int64_t own, Milli lend = Milli::unlimited(), Milli borrow = Milli::unlimited()) {
  return {.own = devices(own), .lend = lend, .borrow = borrow};
}

struct HeadroomRow {
  std::string_view name;
  Limits product = owns(96);
  Limits search = owns(32);
  Limits research = owns(160);
  int64_t search_holds = 0, ads_holds = 0, research_holds = 0;
  int64_t want_search = 0, want_research = 0;
};

TEST(Quota, HeadroomFollowsLendingAndBorrowing) {
  const HeadroomRow rows[] = {
      {.name = "without limits everybody may have everything",
       .want_search = 256,
       .want_research = 256},
      {.name = "what is kept is nobody else's",
       .product = owns(96, devices(64)),
       .want_search = 256,
       .want_research = 256 - 32},
      {.name = "what is kept by a child is kept from the parent's siblings too",
       .search = owns(32, devices(0)),
       .want_search = 256,
       .want_research = 256 - 32},
      {.name = "a borrow limit caps what is had above what is owned",
       .research = owns(160, Milli::unlimited(), devices(16)),
       .want_search = 256,
       .want_research = 176},
      {.name = "a kept part that is used is used once",
       .product = owns(96, devices(64)),
       .search_holds = 40,
       .want_search = 216,
       .want_research = 256 - 40},
      {.name = "the part a sibling keeps inside is not there for the other",
       .search = owns(32, devices(0)),
       .ads_holds = 224,
       .want_search = 32,
       .want_research = 0},
      {.name = "a limit above holds for all below",
       .product = owns(96, Milli::unlimited(), devices(4)),
       .search_holds = 50,
       .ads_holds = 50,
       .want_search = 0,
       .want_research = 156},
      {.name = "below zero once the limit was lowered",
       .product = owns(96, Milli::unlimited(), devices(0)),
       .search_holds = 100,
       .want_search = -4,
       .want_research = 156},
  };
  for (const HeadroomRow& row : rows) {
    SCOPED_TRACE(row.name);
    enum : TeamId { acme, product, ads, search, research };
    Quota quota(organisation_of({{acme, owns(256)},
                                 {acme, row.product},
                                 {product, owns(0)},
                                 {product, row.search},
                                 {acme, row.research}}));
    quota.charge(search, kH100, devices(row.search_holds));
    quota.charge(ads, kH100, devices(row.ads_holds));
    quota.charge(research, kH100, devices(row.research_holds));
    EXPECT_EQ(to_text(quota.headroom(search, kH100)), to_text(devices(row.want_search)));
    EXPECT_EQ(to_text(quota.headroom(research, kH100)), to_text(devices(row.want_research)));
  }
}

TEST(Quota, EntitlementIsAMatterOfLevel) {
  enum : TeamId { acme, product, ads, search };
  Quota quota(organisation_of(
      {{acme, owns(256)}, {acme, owns(96)}, {product, owns(0)}, {product, owns(32)}}));
  quota.charge(ads, kH100, devices(100));
  const Quota::Claim claim{search, kH100, devices(32)};
  EXPECT_TRUE(quota.entitled(claim, product));  // against ads
  EXPECT_FALSE(quota.entitled(claim, acme));    // against those outside: product is over
  EXPECT_FALSE(quota.entitled({search, kH100, devices(33)}, product));
  EXPECT_EQ(quota.borrowed(product, kH100), devices(4));
}

// The definitions, word by word, from the leaves up.
struct Naive {
  const Organisation& org;
  const std::vector<Milli>& direct;
  Milli capacity;

  const Limits& limits(TeamId t) const { return org.teams[t].limits[kH100]; }
  Milli kept(TeamId t) const { return limits(t).own - std::min(limits(t).own, limits(t).lend); }
  Milli limit(TeamId t) const { return t == kRoot ? capacity : limits(t).own + limits(t).borrow; }
  Milli inner(TeamId t) const {
    Milli sum = direct[t];
    for (TeamId c = 1; c < org.teams.size(); ++c)
      if (org.teams[c].parent == t) sum = sum + load(c);
    return sum;
  }
  Milli load(TeamId t) const { return std::max(kept(t), inner(t)); }
  Milli used(TeamId t) const {
    Milli sum = direct[t];
    for (TeamId c = 1; c < org.teams.size(); ++c)
      if (org.teams[c].parent == t) sum = sum + used(c);
    return sum;
  }
  Milli headroom(TeamId t) const {
    const Milli own = limit(t) - inner(t);
    if (t == kRoot) return own;
    return std::min(own, headroom(org.teams[t].parent) + std::max(Milli{}, kept(t) - inner(t)));
  }
};

Limits any_limits() {
  const auto amount = [] { return Milli{*rc::gen::inRange<int64_t>(0, 100'000)}; };
  Limits limits{.own = amount()};
  if (*rc::gen::arbitrary<bool>()) limits.lend = amount();
  if (*rc::gen::arbitrary<bool>()) limits.borrow = amount();
  return limits;
}

// A random tree in pre-order: each team's parent is on the path to the one before it.
Organisation any_organisation() {
  std::vector<std::pair<TeamId, Limits>> teams{{kRoot, any_limits()}};
  std::vector<TeamId> path{kRoot};
  const auto count = *rc::gen::inRange<size_t>(1, 12);
  while (teams.size() < count) {
    path.resize(*rc::gen::inRange<size_t>(1, path.size() + 1));
    path.push_back(static_cast<TeamId>(teams.size()));
    teams.emplace_back(path[path.size() - 2], any_limits());
  }
  return organisation_of(teams);
}

RC_GTEST_PROP(Quota, IsAlwaysWhatTheDefinitionsSay, ()) {
  Organisation org = any_organisation();
  Quota quota(org);
  std::vector<Milli> direct(org.teams.size());
  Milli capacity = org.teams[kRoot].limits[kH100].own;
  const auto steps = *rc::gen::inRange(1, 30);
  for (int step = 0; step < steps; ++step) {
    const auto team = *rc::gen::inRange<TeamId>(0, static_cast<TeamId>(org.teams.size()));
    const int what = *rc::gen::inRange(0, 8);
    if (what < 4) {
      const Milli amount{*rc::gen::inRange<int64_t>(0, 50'000)};
      quota.charge(team, kH100, amount);
      direct[team] = direct[team] + amount;
    } else if (what < 6) {
      const Milli amount{*rc::gen::inRange<int64_t>(0, direct[team].value + 1)};
      quota.refund(team, kH100, amount);
      direct[team] = direct[team] - amount;
    } else if (what == 6) {
      org.teams[team].limits[kH100] = any_limits();
      quota.set_limits(team, kH100, org.teams[team].limits[kH100]);
    } else {
      capacity = Milli{*rc::gen::inRange<int64_t>(0, 200'000)};
      quota.set_capacity(kH100, capacity);
    }
    const Naive naive{org, direct, capacity};
    for (TeamId t = 0; t < org.teams.size(); ++t) {
      RC_ASSERT(quota.inner(t, kH100) == naive.inner(t));
      RC_ASSERT(quota.load(t, kH100) == naive.load(t));
      RC_ASSERT(quota.used(t, kH100) == naive.used(t));
      RC_ASSERT(quota.headroom(t, kH100) == naive.headroom(t));
    }
  }
}

// What the headroom allows may be taken, and keeps every limit; one more does not.
RC_GTEST_PROP(Quota, HeadroomIsExact, ()) {
  const Organisation org = any_organisation();
  Quota quota(org);
  const auto over = [&] {
    for (TeamId t = 0; t < org.teams.size(); ++t)
      if (quota.inner(t, kH100) > quota.limit(t, kH100)) return true;
    return false;
  };
  RC_PRE(!over());  // random trees may keep more than there is
  const auto team = *rc::gen::inRange<TeamId>(0, static_cast<TeamId>(org.teams.size()));
  const Milli room = quota.headroom(team, kH100);
  RC_ASSERT(room.value >= 0);
  quota.charge(team, kH100, room);
  RC_ASSERT(!over());
  quota.charge(team, kH100, {1});
  RC_ASSERT(over());
}

}  // namespace
}  // namespace fairlead::policy
