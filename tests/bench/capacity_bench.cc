// The capacity index at 131,072 GPUs against Kueue's and Slurm's rules in the same harness.
//
//   capacity_bench [DECISIONS]     (default 100000 a rule and load, after half as many unmeasured)
//
// 16,384 nodes of 8, 512 leaves of 32, 32 pods of 16. Each rule fills its own cluster with the mix
// of jobs, then churns: a job of those that run ends, new ones arrive until the load is reached
// again. Times are of a decision and the change that books it, of one core, by the time-stamp
// counter less what reading it costs; a reading 50 us over ten times the median is a time
// slice of somebody else's, left out, and counted ("cut"). Leaves and pods are those that gangs of
// 8 nodes and more take, over the fewest that could hold them.
#include <algorithm>
#include <chrono>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <set>
#include <string>
#include <vector>

#include "base/rng.h"
#include "fabric/capacity_index.h"
#include "placement_peers.h"

namespace {

using namespace fairlead;

constexpr uint32_t kNodes = 16'384, kLeafNodes = 32, kPodLeaves = 16;
constexpr uint32_t kDevices = kNodes * 8;

uint64_t ticks() {
#if defined(__x86_64__)
  return __builtin_ia32_rdtsc();
#else
  return static_cast<uint64_t>(std::chrono::steady_clock::now().time_since_epoch().count());
#endif
}

struct Clock {
  double ns_per_tick = 1;
  double overhead_ns = 0;
  Clock() {
    const auto begun = std::chrono::steady_clock::now();
    const uint64_t first = ticks();
    while (std::chrono::steady_clock::now() - begun < std::chrono::milliseconds(100)) {
    }
    const uint64_t last = ticks();
    const std::chrono::duration<double, std::nano> took = std::chrono::steady_clock::now() - begun;
    ns_per_tick = took.count() / static_cast<double>(last - first);
    std::vector<uint64_t> empty;
    for (int i = 0; i < 10'000; ++i) {
      const uint64_t a = ticks();
      empty.push_back(ticks() - a);
    }
    std::ranges::sort(empty);
    overhead_ns = static_cast<double>(empty[empty.size() / 2]) * ns_per_tick;
  }
};

struct Job {
  uint32_t nodes = 1, devices = 8;
};

// Of 1,000 jobs: 390 of one GPU … 1 of 512 nodes.
struct MixRow {
  uint64_t per_mille;
  Job job;
};
constexpr MixRow kMix[] = {{390, {1, 1}}, {140, {1, 2}}, {120, {1, 4}}, {200, {1, 8}},
                           {60, {2, 8}},  {40, {4, 8}},  {25, {8, 8}},  {12, {16, 8}},
                           {7, {32, 8}},  {3, {64, 8}},  {2, {128, 8}}, {1, {512, 8}}};

Job draw(Rng& rng) {
  uint64_t at = rng.below(1000);
  for (const MixRow& row : kMix) {
    if (at < row.per_mille) return row.job;
    at -= row.per_mille;
  }
  return {};
}

// A rule with its cluster: where a job goes, by node.
struct Ours {
  CapacityIndex index;
  Placement placement;
  Ours() : index(DomainTree::regular(kNodes / kLeafNodes, {kPodLeaves}), nodes()) {}
  static std::vector<CapacityNode> nodes() {
    std::vector<CapacityNode> result;
    for (uint32_t n = 0; n < kNodes; ++n)
      result.push_back({.node = n, .leaf = n / kLeafNodes, .devices = 8});
    return result;
  }
  static Gang gang(const Job& job) {
    return {.workers = static_cast<int32_t>(job.nodes),
            .devices = static_cast<int32_t>(job.devices),
            .apart = job.nodes > 1};
  }
  bool place(const Job& job) {
    const Gang g = gang(job);
    if (!index.find(g, placement)) return false;
    index.take(placement, g);
    return true;
  }
  void copy_to(std::vector<uint32_t>& out) const {
    out.clear();
    for (const Grant& grant : placement.grants) out.push_back(grant.at);
  }
  void release(const Job& job, const std::vector<uint32_t>& nodes) {
    const Gang g = gang(job);
    for (const uint32_t n : nodes) index.give_back(Grant{.at = n}, g);
  }
  void check() const {
    if (index.counts() != index.recount()) std::abort();
  }
};

template <class Rule>
struct Peer {
  peers::Site site{
      .leaf_nodes = kLeafNodes, .pod_leaves = kPodLeaves, .free = std::vector<uint8_t>(kNodes, 8)};
  Rule rule{site};
  std::vector<uint32_t> out;
  bool place(const Job& job) {
    if (!rule.place(site, job.nodes, job.devices, out)) return false;
    for (const uint32_t n : out) site.free[n] = static_cast<uint8_t>(site.free[n] - job.devices);
    return true;
  }
  void copy_to(std::vector<uint32_t>& to) const { to = out; }
  void release(const Job& job, const std::vector<uint32_t>& nodes) {
    for (const uint32_t n : nodes) site.free[n] = static_cast<uint8_t>(site.free[n] + job.devices);
  }
  void check() const {}
};

struct Figures {
  std::vector<double> one, gang, back;  // ns: single nodes, gangs, releases
  int64_t lost = 0, cut = 0;
  double leaves = 0, leaves_least = 0, pods = 0, pods_least = 0;
};

double mean(const std::vector<double>& v) {
  double sum = 0;
  for (const double x : v) sum += x;
  return v.empty() ? 0 : sum / static_cast<double>(v.size());
}
double quantile(std::vector<double>& v, double q) {
  if (v.empty()) return 0;
  const auto at = v.begin() + static_cast<ptrdiff_t>(q * static_cast<double>(v.size() - 1));
  std::ranges::nth_element(v, at);
  return *at;
}

// Returns how many were left out.
int64_t cut_slices(std::vector<double>& v) {
  if (v.empty()) return 0;
  const double most = 50'000 + 10 * quantile(v, 0.5);
  return static_cast<int64_t>(std::erase_if(v, [&](double x) { return x > most; }));
}

void rate_quality(const Job& job, const std::vector<uint32_t>& nodes, Figures& f) {
  if (job.nodes < 8) return;
  std::set<uint32_t> leaves, pods;
  for (const uint32_t n : nodes) {
    leaves.insert(n / kLeafNodes);
    pods.insert(n / kLeafNodes / kPodLeaves);
  }
  f.leaves += static_cast<double>(leaves.size());
  f.pods += static_cast<double>(pods.size());
  f.leaves_least += std::ceil(job.nodes / static_cast<double>(kLeafNodes));
  f.pods_least += std::ceil(job.nodes / static_cast<double>(kLeafNodes * kPodLeaves));
}

template <class Cluster>
Figures run(const Clock& clock, double load, int64_t decisions) {
  struct Running {
    Job job;
    std::vector<uint32_t> nodes;
  };
  Cluster cluster;
  Rng rng(42);
  std::vector<Running> running;
  Figures f;
  int64_t used = 0;
  const auto target = static_cast<int64_t>(load * kDevices);
  const auto time = [&](auto&& work, std::vector<double>* into) {
    const uint64_t begun = ticks();
    work();
    const uint64_t took = ticks() - begun;
    if (into != nullptr)
      into->push_back(
          std::max(0.0, static_cast<double>(took) * clock.ns_per_tick - clock.overhead_ns));
  };
  const auto arrive = [&](bool measured) {
    const Job job = draw(rng);
    if (used + int64_t{job.nodes} * job.devices > kDevices) return;
    bool placed = false;
    auto* into = !measured ? nullptr : job.nodes == 1 ? &f.one : &f.gang;
    time([&] { placed = cluster.place(job); }, into);
    if (!placed) {
      if (measured) ++f.lost;
      return;
    }
    Running r{.job = job};
    cluster.copy_to(r.nodes);
    if (measured) rate_quality(job, r.nodes, f);
    used += int64_t{job.nodes} * job.devices;
    running.push_back(std::move(r));
  };
  const auto leave = [&](bool measured) {
    const size_t i = rng.below(running.size());
    time([&] { cluster.release(running[i].job, running[i].nodes); }, measured ? &f.back : nullptr);
    used -= int64_t{running[i].job.nodes} * running[i].job.devices;
    std::swap(running[i], running.back());
    running.pop_back();
  };
  while (used < target) arrive(false);
  const auto churn = [&](int64_t count, bool measured) {
    for (int64_t done = 0; done < count;) {
      while (used >= target) leave(measured);
      arrive(measured);
      ++done;
    }
  };
  churn(decisions / 2, false);
  churn(decisions, true);
  cluster.check();
  for (std::vector<double>* v : {&f.one, &f.gang, &f.back}) f.cut += cut_slices(*v);
  return f;
}

void show(const char* rule, double load, Figures& f, const Figures& ours) {
  const double one = mean(f.one);
  std::printf(
      "%-18s %4.0f %% %8.3f %8.0f %8.0f %8.0f %6.0f x %9.0f %9.0f %8.0f %6.2f %6.3f %5lld %5lld\n",
      rule, load * 100, 1000 / one, one, quantile(f.one, 0.5), quantile(f.one, 0.99),
      one / mean(ours.one), mean(f.gang), quantile(f.gang, 0.99), mean(f.back),
      f.leaves / f.leaves_least, f.pods / f.pods_least, static_cast<long long>(f.lost),
      static_cast<long long>(f.cut));
  std::fflush(stdout);
}

double machine_load() {
  double load = 0;
  std::ifstream("/proc/loadavg") >> load;
  return load;
}

}  // namespace

int main(int argc, char** argv) {
  const int64_t decisions = argc > 1 ? std::atoll(argv[1]) : 100'000;
  const Clock clock;
  const CapacityIndex::Bytes bytes = Ours().index.bytes();
  std::printf("index of %u devices: %.1f KB; which node stands where: %.1f KB\n", kDevices,
              static_cast<double>(bytes.index) / 1000, static_cast<double>(bytes.names) / 1000);
  std::printf("load of the machine at the start: %.2f; one reading of the clock: %.0f ns\n\n",
              machine_load(), clock.overhead_ns);
  std::printf("%-25s %-43s %-19s %-8s %-13s\n", "", "one node: a second, ns", "gang, ns", "release",
              "over the least");
  std::printf("%-18s %6s %8s %8s %8s %8s %8s %9s %9s %8s %6s %6s %5s %5s\n", "rule", "load", "M/s",
              "mean", "p50", "p99", "of ours", "mean", "p99", "mean", "leaves", "pods", "lost",
              "cut");
  for (const double load : {0.80, 0.90, 0.95}) {
    Figures ours = run<Ours>(clock, load, decisions);
    show("index", load, ours, ours);
    Figures kueue = run<Peer<peers::Kueue>>(clock, load, decisions);
    show("Kueue TAS BestFit", load, kueue, ours);
    Figures slurm = run<Peer<peers::SlurmTree>>(clock, load, decisions);
    show("Slurm tree", load, slurm, ours);
  }
  std::printf("\nload of the machine at the end: %.2f\n", machine_load());
}
