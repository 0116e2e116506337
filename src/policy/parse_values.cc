#include "policy/parse_values.h"

#include <algorithm>

namespace fairlead::policy {
namespace {

using lang::in_quotes;
using lang::Token;
using lang::TokenKind;

const std::vector<std::string> kDays = {"mon", "tue", "wed", "thu", "fri", "sat", "sun"};

}  // namespace

// 8H100, or a number with an exponent.
void ValueParser::refuse_glued(const Need& need) {
  const Token token = c_.next();
  const std::string_view unit = lang::unit_of(token.text);
  const std::string_view number = token.text.substr(0, token.text.size() - unit.size());
  const bool exponent = (unit[0] == 'e' || unit[0] == 'E') && lang::read_integer(unit.substr(1));
  if (exponent) {
    c_.problem("E109", fmt::format("{} is no whole number", in_quotes(token.text)),
               {token.span, ""},
               fmt::format("write all its digits, as in {}", in_quotes(need.example)));
    return;
  }
  const bool glued = lang::read_integer(number) && unit.find_first_of("%/") == unit.npos;
  c_.problem("E113",
             fmt::format("{} takes a number and a class of devices", in_quotes(need.subject)),
             {token.span, ""},
             fmt::format("write {}", in_quotes(glued ? fmt::format("{} {}", number, unit)
                                                     : std::string(need.example))));
}

std::optional<AmountNode> ValueParser::amount(const Need& need) {
  if (c_.peek().kind == TokenKind::quantity) {
    refuse_glued(need);
    return std::nullopt;
  }
  const auto count = c_.integer(need, 0, kDevicesMax);
  if (!count) return std::nullopt;
  const std::string example = fmt::format("{} {} H100", need.subject, count->value);
  const auto device = c_.name({need.subject, "a class of devices behind the number", example});
  if (!device) return std::nullopt;
  return AmountNode{devices(count->value), *device, join(count->span, device->span)};
}

bool ValueParser::amounts(std::vector<AmountNode>& into, const Need& need) {
  do {
    auto one = amount(need);
    if (!one) return false;
    const auto twice = std::ranges::find(into, one->device.value,
                                         [](const AmountNode& a) { return a.device.value; });
    if (twice != into.end()) {
      c_.problem("E105",
                 fmt::format("{} is written twice in {}", in_quotes(one->device.value),
                             in_quotes(need.subject)),
                 {one->span, "second time"}, "keep one of them", {{twice->span, "first time"}});
      continue;
    }
    into.push_back(std::move(*one));
  } while (c_.take(","));
  return true;
}

bool ValueParser::names(std::vector<Word>& into, const Need& need) {
  do {
    auto one = c_.name(need);
    if (!one) return false;
    const auto twice = std::ranges::find(into, one->value, [](const Word& w) { return w.value; });
    if (twice != into.end()) {
      c_.problem(
          "E105",
          fmt::format("{} is written twice in {}", in_quotes(one->value), in_quotes(need.subject)),
          {one->span, "second time"}, "keep one of them", {{twice->span, "first time"}});
      continue;
    }
    into.push_back(std::move(*one));
  } while (c_.take(","));
  return true;
}

std::optional<BudgetNode> ValueParser::budget() {
  const Span word = c_.last().span;
  const Need need{"budget", "money, or devices and `h`", "budget $1000 per 30d soft"};
  BudgetNode node;
  if (c_.peek().kind == TokenKind::quantity && c_.peek().text.starts_with('$')) {
    const auto money = c_.quantity(need, lang::Dimension::money);
    if (!money) return std::nullopt;
    node.micro_dollars = Number{money->value.value, money->span};
  } else {
    const Need hours{"budget", "money, or devices and `h`", "budget 5000 H100 h per 30d soft"};
    auto devices = amount(hours);
    if (!devices || !c_.word("h", hours)) return std::nullopt;
    node.device_hours = std::move(devices);
  }
  if (!c_.word("per", need)) return std::nullopt;
  const auto per = c_.time(need);
  if (!per) return std::nullopt;
  node.per = *per;
  static const std::vector<std::string> kKinds = {"soft", "hard"};
  const auto kind = c_.one_of(kKinds, {"budget", "`soft` or `hard`", need.example});
  if (!kind) return std::nullopt;
  node.hard = kind->value == "hard";
  node.span = join(word, kind->span);
  return node;
}

std::optional<int> ValueParser::day(const Need& need) {
  const auto name = c_.one_of(kDays, {need.subject, "a day", need.example});
  if (!name) return std::nullopt;
  return static_cast<int>(std::ranges::find(kDays, name->value) - kDays.begin());
}

std::optional<uint8_t> ValueParser::days(const Need& need) {
  unsigned mask = 0;
  do {
    const auto first = day(need);
    if (!first) return std::nullopt;
    std::optional<int> last = first;
    if (c_.take("..")) last = day(need);
    if (!last) return std::nullopt;
    for (int d = *first;; d = (d + 1) % 7) {  // fri..mon goes over the week's end
      mask |= 1U << d;
      if (d == *last) break;
    }
  } while (c_.take(","));
  return static_cast<uint8_t>(mask);
}

std::optional<int> ValueParser::clock(const Need& need, bool end) {
  if (c_.peek().kind != TokenKind::clock) return c_.missing(need), std::nullopt;
  const Token token = c_.next();
  const size_t colon = token.text.find(':');
  const auto hour = lang::read_integer(token.text.substr(0, colon));
  const auto minute = lang::read_integer(token.text.substr(colon + 1));
  const int64_t minutes = hour.value_or(99) * 60 + minute.value_or(99);
  const bool good = minute < 60 && (hour < 24 || (end && minutes == 24 * 60));
  if (good) return static_cast<int>(minutes);
  c_.problem("E109", fmt::format("there is no {} on a clock", in_quotes(token.text)),
             {token.span, ""},
             end ? "a day goes from `00:00` to `24:00`" : "a day goes from `00:00` to `23:59`");
  return std::nullopt;
}

std::optional<WindowNode> ValueParser::window(Span during) {
  const Need need{"during", "days, times and a time zone",
                  "during mon..fri 08:00..20:00 Europe/Berlin { own 8 H100 }"};
  WindowNode node;
  const auto days_of = days(need);
  if (!days_of) return std::nullopt;
  const auto begin = clock(need, false);
  if (!begin) return std::nullopt;
  if (!c_.take("..")) return c_.missing(need), std::nullopt;
  const auto end = clock(need, true);
  if (!end) return std::nullopt;
  const auto zone = place({need.subject, "a time zone", need.example});
  if (!zone) return std::nullopt;
  node.days = *days_of;
  node.begin_minute = *begin;
  node.end_minute = *end;
  node.zone = *zone;
  node.span = join(during, zone->span);
  if (*begin == *end) {
    c_.problem("E109", "this window begins and ends at one time", {node.span, ""},
               "for whole days write `00:00..24:00`");
    return std::nullopt;
  }
  return node;
}

std::optional<Word> ValueParser::place(const Need& need) {
  if (c_.peek().kind != TokenKind::place && !c_.peek().is_name())
    return c_.missing(need), std::nullopt;
  const Token token = c_.next();
  return Word{std::string(token.text), token.span};
}

std::optional<MembersNode> ValueParser::members() {
  using enum MemberSource;
  static const std::vector<std::string> kFirst = {"slurm", "kubernetes", "group", "claim", "file"};
  static const std::vector<std::string> kSlurm = {"account", "user", "qos", "partition"};
  static const std::vector<std::string> kKubernetes = {"namespace", "label", "service-account"};
  const auto index = [](const std::vector<std::string>& words, const std::string& word) {
    return static_cast<int>(std::ranges::find(words, word) - words.begin());
  };
  const Need need{"members", "a source of members", "members slurm account \"prod\""};
  const auto source = c_.one_of(kFirst, need);
  if (!source) return std::nullopt;
  MembersNode node;
  if (source->value == "slurm") {
    const auto kind =
        c_.one_of(kSlurm, {"members slurm", "something that Slurm knows", need.example});
    if (!kind) return std::nullopt;
    node.source =
        static_cast<MemberSource>(static_cast<int>(slurm_account) + index(kSlurm, kind->value));
  } else if (source->value == "kubernetes") {
    const auto kind =
        c_.one_of(kKubernetes, {"members kubernetes", "something that Kubernetes knows",
                                "members kubernetes namespace \"prod\""});
    if (!kind) return std::nullopt;
    node.source = static_cast<MemberSource>(static_cast<int>(kubernetes_namespace) +
                                            index(kKubernetes, kind->value));
  } else if (source->value == "claim") {
    const auto name = c_.name({"claim", "a name", "members claim department \"ml\""});
    if (!name) return std::nullopt;
    node.source = claim;
    node.claim = name->value;
  } else {
    node.source = source->value == "group" ? group : file;
  }
  if (!patterns(node, {"members", "a name between quotes", need.example})) return std::nullopt;
  return node;
}

bool ValueParser::patterns(MembersNode& node, const Need& need) {
  do {
    auto pattern = c_.text(need);
    if (!pattern) return false;
    if (pattern->value.empty()) {
      c_.problem("E106", "an empty name matches nobody", {pattern->span, ""},
                 "write `\"*\"` for everybody");
      continue;
    }
    node.patterns.push_back(std::move(*pattern));
  } while (c_.take(","));
  return true;
}

std::optional<CapNode> ValueParser::cap(std::string_view what, std::string_view example) {
  const Need need{"most", "a number and a time", example};
  const auto most = c_.integer(need, 0, kDevicesMax);
  if (!most) return std::nullopt;
  if (!c_.word(what, {"most", fmt::format("{} behind the number", in_quotes(what)), example}) ||
      !c_.word("per", need))
    return std::nullopt;
  const auto per = c_.time(need);
  if (!per) return std::nullopt;
  return CapNode{*most, *per};
}

bool ValueParser::fleet(std::vector<FleetPartNode>& into) {
  const Need need{"fleet", "nodes and their devices", "fleet 4 nodes of 8 H100"};
  do {
    const auto nodes = c_.integer(need, 1, 1'000'000);
    if (!nodes || !c_.word("nodes", need) || !c_.word("of", need)) return false;
    auto each = amount({"of", "a number of devices", "of 8 H100"});
    if (!each) return false;
    into.push_back({*nodes, std::move(*each)});
  } while (c_.take(","));
  return true;
}

bool ValueParser::dims(WorkNode& node) {
  const Need need{node.running ? "running" : "waiting", "nodes and devices of each",
                  "waiting w1 of research 4 x 8"};
  if (c_.peek().kind != TokenKind::dims) return c_.missing(need), false;
  const Token token = c_.next();
  const size_t x = token.text.find('x');
  std::string_view left = token.text.substr(0, x);
  std::string_view right = token.text.substr(x + 1);
  left = left.substr(0, left.find(' '));
  right.remove_prefix(std::min(right.find_first_not_of(' '), right.size()));
  constexpr int64_t kNodesMax = 1'000'000;
  const int64_t nodes = lang::read_integer(left).value_or(kNodesMax + 1);
  const int64_t each = lang::read_integer(right).value_or(kNodesMax + 1);
  node.dims = token.span;
  node.nodes = nodes;
  node.each = each;
  if (nodes >= 1 && each >= 1 && nodes <= kNodesMax && each <= kNodesMax &&
      nodes * each <= kDevicesMax)
    return true;
  c_.problem("E109", fmt::format("{} is no size of a workload", in_quotes(token.text)),
             {token.span, ""}, "write nodes and devices of each, as in `4 x 8`");
  return false;
}

std::optional<WorkNode> ValueParser::work(bool running) {
  const std::string_view subject = running ? "running" : "waiting";
  const Need need{subject, "a name, a team and a size",
                  running ? "running r1 of research 4 x 8" : "waiting w1 of research 4 x 8"};
  WorkNode node{.running = running,
                .name = {},
                .team = {},
                .klass = {},
                .device = {},
                .dims = {},
                .checkpointed_ago = {},
                .since = {}};
  const auto name = c_.name(need);
  if (!name || !c_.word("of", need)) return std::nullopt;
  const auto team = place({subject, "a team", need.example});
  if (!team) return std::nullopt;
  node.name = *name;
  node.team = *team;
  if (c_.take_word("class") &&
      !set(node.klass, c_.name({"class", "the name of a class", "class batch"})))
    return std::nullopt;
  if (!dims(node) || !work_options(node)) return std::nullopt;
  return node;
}

bool ValueParser::work_options(WorkNode& node) {
  const auto option = [&] {
    return c_.peek().is_word("checkpointed") || c_.peek().is_word("since");
  };
  if (c_.peek().is_name() && !option()) node.device = c_.name({});
  while (option()) {
    if (c_.take_word("since")) {
      if (!set(node.since, c_.time({"since", "a time", "since 2h"}))) return false;
      continue;
    }
    c_.next();
    const Need need{"checkpointed", "a time and `ago`", "checkpointed 5m ago"};
    if (!set(node.checkpointed_ago, c_.time(need)) || !c_.word("ago", need)) return false;
  }
  return true;
}

std::optional<ExpectNode> ValueParser::expect() {
  static const std::vector<std::string> kOutcomes = {"admit", "preempt", "defer", "reshape",
                                                     "blocker"};
  const Span word = c_.last().span;
  const Need need{"expect", "an outcome", "expect admit w1"};
  ExpectNode node;
  node.no = c_.take_word("no");
  const auto outcome = c_.one_of(kOutcomes, need);
  if (!outcome) return std::nullopt;
  node.what =
      static_cast<Expected>(std::ranges::find(kOutcomes, outcome->value) - kOutcomes.begin());
  const bool blocker = node.what == Expected::blocker;
  const Need what = blocker ? Need{"blocker", "a code and `on` a workload",
                                   "expect blocker TEAM_OVER_SHARE on w1"}
                            : Need{outcome->value, "the name of a workload", "expect admit w1"};
  const auto name = c_.name(what);
  if (!name) return std::nullopt;
  node.name = *name;
  if (blocker && (!c_.word("on", what) || !set(node.on, c_.name(what)))) return std::nullopt;
  if (!blocker && c_.take_word("at") && !set(node.at, c_.time({"at", "a time", "at 5m"})))
    return std::nullopt;
  node.span = join(word, c_.last().span);
  return node;
}

}  // namespace fairlead::policy
