#include "placement_peers.h"

#include <algorithm>
#include <bit>
#include <cstring>

namespace peers {

// --- Kueue

Kueue::Kueue(const Site& site)
    : by_node_(site.nodes()), by_leaf_(site.leaves()), by_pod_(site.pods()) {}

// Requires: sorted, most workers first, and together they suffice.
void Kueue::take(std::vector<Domain>& domains, uint32_t workers, std::vector<Domain>& picked) {
  std::ranges::sort(domains, [](const Domain& a, const Domain& b) {
    if (a.workers != b.workers) return a.workers > b.workers;
    return a.index < b.index;
  });
  for (size_t i = 0; workers > 0; ++i) {
    size_t best = i;
    if (domains[i].workers >= workers) {  // the smallest that suffices, the first of equal ones
      for (size_t j = i; j < domains.size() && domains[j].workers >= workers; ++j)
        if (domains[j].workers < domains[best].workers) best = j;
    }
    const uint32_t some = std::min(workers, domains[best].workers);
    picked.push_back({.workers = some, .index = domains[best].index});
    workers -= some;
  }
}

bool Kueue::place(const Site& site, uint32_t workers, uint32_t devices,
                  std::vector<uint32_t>& out) {
  out.clear();
  std::ranges::fill(by_leaf_, 0U);
  std::ranges::fill(by_pod_, 0U);
  // A gang's workers want a node each here, so a node counts once.
  for (uint32_t n = 0; n < site.nodes(); ++n) by_node_[n] = site.free[n] >= devices ? 1 : 0;
  for (uint32_t l = 0; l < site.leaves(); ++l) {
    uint32_t sum = 0;
    for (uint32_t i = 0; i < site.leaf_nodes; ++i) sum += by_node_[l * site.leaf_nodes + i];
    by_leaf_[l] = sum;
    by_pod_[l / site.pod_leaves] += sum;
  }
  uint32_t all = 0;
  for (const uint32_t p : by_pod_) all += p;
  if (all < workers) return false;

  const auto listed = [](const std::vector<uint32_t>& counts, std::vector<Domain>& domains,
                         uint32_t first, uint32_t end) {
    domains.clear();
    for (uint32_t d = first; d < end; ++d) domains.push_back({.workers = counts[d], .index = d});
  };
  picked_leaves_.clear();
  picked_pods_.clear();
  listed(by_leaf_, leaves_, 0, site.leaves());
  const uint32_t most = *std::ranges::max_element(by_leaf_);
  if (most >= workers) {
    take(leaves_, workers, picked_leaves_);
  } else {
    listed(by_pod_, pods_, 0, site.pods());
    take(pods_, workers, picked_pods_);
    leaves_.clear();
    for (const Domain& pod : picked_pods_) {
      std::vector<Domain> below;
      listed(by_leaf_, below, pod.index * site.pod_leaves, (pod.index + 1) * site.pod_leaves);
      take(below, pod.workers, picked_leaves_);
    }
  }
  for (const Domain& leaf : picked_leaves_) {
    // Of a leaf's nodes those with fewest free devices come first among equal counts.
    nodes_.clear();
    for (uint32_t i = 0; i < site.leaf_nodes; ++i) {
      const uint32_t n = leaf.index * site.leaf_nodes + i;
      if (by_node_[n] > 0) nodes_.push_back({.workers = 1, .pods = site.free[n], .index = n});
    }
    std::ranges::sort(nodes_, [](const Domain& a, const Domain& b) {
      return a.pods != b.pods ? a.pods < b.pods : a.index < b.index;
    });
    for (uint32_t i = 0; i < leaf.workers; ++i) out.push_back(nodes_[i].index);
  }
  return true;
}

// --- Slurm

SlurmTree::SlurmTree(const Site& site)
    : available_((site.nodes() + 63) / 64), serves_(site.nodes()) {
  const auto add = [&](uint32_t first, uint32_t end) {
    const size_t at = switches_.size();
    switches_.resize(at + available_.size(), 0);
    for (uint32_t n = first; n < end; ++n) switches_[at + n / 64] |= uint64_t{1} << n % 64;
  };
  const uint32_t pod_nodes = site.leaf_nodes * site.pod_leaves;
  for (uint32_t l = 0; l < site.leaves(); ++l) add(l * site.leaf_nodes, (l + 1) * site.leaf_nodes);
  for (uint32_t p = 0; p < site.pods(); ++p) add(p * pod_nodes, (p + 1) * pod_nodes);
  add(0, site.nodes());
  count_.resize(switches_.size() / available_.size());
}

bool SlurmTree::place(const Site& site, uint32_t workers, uint32_t devices,
                      std::vector<uint32_t>& out) {
  out.clear();
  for (uint32_t n = 0; n < site.nodes(); ++n) serves_[n] = site.free[n] >= devices ? 1 : 0;
  for (size_t w = 0; w < available_.size(); ++w) {
    uint64_t bits = 0;
    for (size_t i = 0; i < 8; ++i) {
      uint64_t bytes = 0;
      std::memcpy(&bytes, &serves_[w * 64 + i * 8], 8);
      bits |=
          bytes * 0x0102'0408'1020'4080 >> 56 << (8 * i);  // eight bytes of 0 or 1 to eight bits
    }
    available_[w] = bits;
  }
  const size_t words = available_.size();
  for (size_t s = 0; s < count_.size(); ++s) {
    const uint64_t* bits = &switches_[s * words];
    uint64_t sum = 0;
    for (size_t w = 0; w < words; ++w)
      sum += static_cast<uint64_t>(std::popcount(bits[w] & available_[w]));
    count_[s] = static_cast<uint32_t>(sum);
  }
  const uint32_t leaves = site.leaves(), pods = site.pods();
  const auto smallest = [&](uint32_t first, uint32_t end) {
    uint32_t best = UINT32_MAX;
    for (uint32_t s = first; s < end; ++s)
      if (count_[s] >= workers && (best == UINT32_MAX || count_[s] < count_[best])) best = s;
    return best;
  };
  uint32_t first = 0, end = leaves;  // leaves below the switch that is chosen
  if (const uint32_t leaf = smallest(0, leaves); leaf != UINT32_MAX) {
    first = leaf, end = leaf + 1;
  } else if (const uint32_t pod = smallest(leaves, leaves + pods); pod != UINT32_MAX) {
    first = (pod - leaves) * site.pod_leaves, end = first + site.pod_leaves;
  } else if (count_.back() < workers) {
    return false;
  }
  std::vector<char> used(leaves, 0), used_pod(pods, 0);
  for (uint32_t rest = workers; rest > 0;) {
    const auto better = [&](uint32_t a, uint32_t b) {  // a before b
      const uint32_t pa = a / site.pod_leaves, pb = b / site.pod_leaves;
      if (used_pod[pa] != used_pod[pb]) return used_pod[pa] != 0;  // nearer to what is taken
      const bool fa = count_[a] >= rest, fb = count_[b] >= rest;
      if (fa && fb) return count_[a] < count_[b];
      if (fa != fb) return fa;
      const uint32_t ca = count_[leaves + pa], cb = count_[leaves + pb];
      const bool qa = ca >= rest, qb = cb >= rest;
      if (qa && qb && ca != cb) return ca < cb;
      if (qa != qb) return qa;
      if (!qa && ca != cb) return ca > cb;
      return count_[a] > count_[b];
    };
    uint32_t best = UINT32_MAX;
    for (uint32_t l = first; l < end; ++l) {
      if (used[l] != 0 || count_[l] == 0) continue;
      if (best == UINT32_MAX || better(l, best)) best = l;
    }
    used[best] = 1;
    used_pod[best / site.pod_leaves] = 1;
    for (uint32_t i = 0; i < site.leaf_nodes && rest > 0; ++i) {
      const uint32_t n = best * site.leaf_nodes + i;
      if ((available_[n / 64] >> n % 64 & 1) == 0) continue;
      out.push_back(n);
      --rest;
    }
  }
  return true;
}

}  // namespace peers
