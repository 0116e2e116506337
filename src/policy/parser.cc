#include "policy/parser.h"

#include <algorithm>
#include <map>

#include "base/words.h"
#include "policy/parse_values.h"

namespace fairlead::policy {
namespace {

using lang::Cursor;
using lang::in_quotes;
using lang::Token;
using lang::TokenKind;

// What a block is called in messages, and which of its keys were written where.
struct Block {
  std::string word;   // team
  std::string title;  // team `research`
  std::map<std::string, Span, std::less<>> seen = {};
};

template <class Reader, class Node>
struct Key {
  std::string_view word;
  bool (Reader::*read)(Node&);
  bool repeats = false;
};

class Parser {
 public:
  Parser(const lang::Sources& sources, std::vector<Token> statements, Tree& tree,
         lang::Diagnostics& problems)
      : tree_(tree), c_(std::move(statements), sources, problems, kSections), v_(c_) {}

  void run() {
    for (c_.skip_newlines(); !c_.at_end(); c_.skip_newlines()) {
      if (section()) continue;
      c_.recover();
      c_.take("}");
    }
  }

 private:
  static const std::vector<std::string> kSections;
  static const std::vector<std::string> kOnlyTeams;
  static const std::vector<std::string> kNone;

  bool section() {
    if (!c_.peek().is_name()) return does_not_belong("an organisation");
    const Token word = c_.next();
    const std::string_view text = word.text;
    if (text == "org") return header(word);
    if (text == "lang") return language(word);
    if (text == "devices") return devices(word);
    if (text == "price") return prices();
    if (text == "class") return klass(word);
    if (text == "team") return team(word, tree_.teams);
    if (text == "reclaim") return reclaim(word);
    if (text == "test") return test(word);
    unknown(word, "the start of a section",
            {"org", "lang", "devices", "price", "class", "team", "reclaim", "test"});
    return false;
  }

  bool header(const Token& word) {
    const auto name = c_.name({"org", "a name and a version", "org acme v1"});
    if (!name) return false;
    if (c_.peek().kind != TokenKind::version)
      return c_.missing({"org", "a version", fmt::format("org {} v1", name->value)}), false;
    const Token version = c_.next();
    tree_.headers.push_back({.name = *name,
                             .version = {std::string(version.text), version.span},
                             .span = join(word.span, version.span)});
    c_.end_statement();
    c_.skip_newlines();
    if (c_.peek().is_word("lang")) return true;
    c_.problem("E106", "the edition of the language is not stated",
               {tree_.headers.back().span, "`lang` should follow"},
               "write `lang 1` on the next line");
    return true;
  }
  bool language(const Token& word) {
    const auto edition = c_.integer({"lang", "a number", "lang 1"}, 0, INT32_MAX);
    if (!edition) return false;
    if (edition->value != 1) {
      c_.problem(
          "E114",
          fmt::format("this program knows edition 1 of the language, not {}", edition->value),
          {join(word.span, edition->span), ""}, "write `lang 1`");
    }
    return true;
  }

  bool devices(const Token& word) {
    DevicesNode node;
    const auto name = c_.name({"devices", "a name", "devices H100 { H100-80G-SXM }"});
    if (!name) return false;
    node.name = *name;
    node.head = join(word.span, name->span);
    const bool opened = c_.block(node.head, "devices", kNone, [&] {
      return v_.names(node.models,
                      {"devices", "the names of models", "devices H100 { H100-80G-SXM, H200 }"});
    });
    if (opened) c_.end_statement();
    tree_.devices.push_back(std::move(node));
    return opened;
  }

  bool prices() {
    const Cursor::Need need{"price", "devices and money by the hour", "price H100 $2.50/h"};
    do {
      const auto device = c_.name(need);
      if (!device) return false;
      const auto price = c_.quantity(need, lang::Dimension::money_rate);
      if (!price) return false;
      tree_.prices.push_back(
          {.device = *device, .micro_dollars = {price->value.value, price->span}});
    } while (c_.take(","));
    c_.end_statement();
    return true;
  }

  // Classes.
  bool klass(const Token& word) {
    ClassNode node;
    const auto name = c_.name({"class", "a name", "class batch { rank 10 }"});
    if (!name) return false;
    node.name = *name;
    node.head = join(word.span, name->span);
    Block block{"class", fmt::format("class {}", in_quotes(name->value))};
    const bool opened =
        c_.block(node.head, "class", kNone, [&] { return key(kClassKeys, node, block); });
    if (opened) c_.end_statement();
    tree_.classes.push_back(std::move(node));
    return opened;
  }
  bool rank(ClassNode& n) {
    return v_.set(n.rank, c_.integer({"rank", "a number", "rank 50"}, 0, 1'000'000));
  }
  bool preempts(ClassNode& n) {
    return v_.names(n.preempts, {"preempts", "the names of classes", "preempts batch"});
  }
  bool anywhere(ClassNode& n) {
    n.anywhere = c_.last().span;
    if (!c_.take_word("up-to")) return true;
    return v_.set(n.anywhere_up_to,
                  v_.amount({"up-to", "a number of devices", "anywhere up-to 64 H100"}));
  }
  bool never_preempted(ClassNode& n) { return n.never_preempted = true; }
  bool min_run(ClassNode& n) {
    return v_.set(n.min_run, c_.time({"min-run", "a time", "min-run 30m"}));
  }
  bool restart_cost(ClassNode& n) {
    return v_.set(n.restart_cost, c_.time({"restart-cost", "a time", "restart-cost 2m"}));
  }
  bool most_time(ClassNode& n) {
    return v_.set(n.most_time, c_.time({"most-time", "a time", "most-time 8h"}));
  }
  bool most_devices(ClassNode& n) {
    const Cursor::Need need{"most", "a number of devices", "most 2 per workload"};
    return v_.set(n.most, c_.integer(need, 1, kDevicesMax)) && c_.word("per", need) &&
           c_.word("workload", need);
  }
  static constexpr Key<Parser, ClassNode> kClassKeys[] = {
      {"rank", &Parser::rank},         {"preempts", &Parser::preempts},
      {"anywhere", &Parser::anywhere}, {"never-preempted", &Parser::never_preempted},
      {"min-run", &Parser::min_run},   {"restart-cost", &Parser::restart_cost},
      {"most", &Parser::most_devices}, {"most-time", &Parser::most_time},
  };

  // Teams.
  bool team(const Token& word, std::vector<TeamNode>& into) {
    TeamNode node;
    const auto name = c_.name({"team", "a name", "team research { own 8 H100 }"});
    if (!name) return false;
    node.name = *name;
    node.head = join(word.span, name->span);
    Block block{"team", fmt::format("team {}", in_quotes(name->value))};
    const bool opened = c_.block(node.head, "team", kOnlyTeams, [&] {
      if (!c_.peek().is_word("team")) return key(kTeamKeys, node, block);
      return team(c_.next(), node.teams);
    });
    if (opened) c_.end_statement();
    into.push_back(std::move(node));
    return opened;
  }
  template <class Node>
  bool own(Node& n) {
    return v_.amounts(n.limits.own, {"own", "a number of devices", "own 8 H100"});
  }
  template <class Node>
  bool lend(Node& n) {
    return v_.amounts(n.limits.lend, {"lend", "a number of devices", "lend 4 H100"});
  }
  template <class Node>
  bool borrow(Node& n) {
    return v_.amounts(n.limits.borrow, {"borrow", "a number of devices", "borrow 16 H100"});
  }
  template <class Node>
  bool weight(Node& n) {
    return v_.set(n.limits.weight, c_.integer({"weight", "a number", "weight 2"}, 0, 1'000'000));
  }
  bool half_life(TeamNode& n) {
    return v_.set(n.half_life, c_.time({"half-life", "a time", "half-life 7d"}));
  }
  bool classes(TeamNode& n) {
    return v_.names(n.classes, {"classes", "the names of classes", "classes research, batch"});
  }
  bool default_class(TeamNode& n) {
    const Cursor::Need need{"default", "a class", "default class batch"};
    return c_.word("class", need) && v_.set(n.default_class, c_.name(need));
  }
  bool budget(TeamNode& n) { return v_.set(n.budget, v_.budget()); }
  bool members(TeamNode& n) {
    auto node = v_.members();
    if (node) n.members.push_back(std::move(*node));
    return node.has_value();
  }
  bool during(TeamNode& n) {
    const Span word = c_.last().span;
    auto window = v_.window(word);
    if (!window) return false;
    Block block{"during", "this `during`"};
    const bool opened =
        c_.block(window->span, "during", kNone, [&] { return during_key(*window, block); });
    if (opened) n.windows.push_back(std::move(*window));
    return opened;
  }
  bool during_key(WindowNode& window, Block& block) {
    for (const auto& k : kTeamKeys) {
      if (!c_.peek().is_word(k.word) || known(kWindowKeys, k.word)) continue;
      const Token word = c_.next();
      c_.problem("E112", fmt::format("{} cannot change by the clock", in_quotes(word.text)),
                 {word.span, ""}, "in `during` stand own, lend, borrow and weight");
      return false;
    }
    return key(kWindowKeys, window, block);
  }
  static constexpr Key<Parser, WindowNode> kWindowKeys[] = {
      {"own", &Parser::own<WindowNode>},
      {"lend", &Parser::lend<WindowNode>},
      {"borrow", &Parser::borrow<WindowNode>},
      {"weight", &Parser::weight<WindowNode>},
  };
  static constexpr Key<Parser, TeamNode> kTeamKeys[] = {
      {"own", &Parser::own<TeamNode>},       {"lend", &Parser::lend<TeamNode>},
      {"borrow", &Parser::borrow<TeamNode>}, {"weight", &Parser::weight<TeamNode>},
      {"half-life", &Parser::half_life},     {"classes", &Parser::classes},
      {"default", &Parser::default_class},   {"budget", &Parser::budget},
      {"during", &Parser::during, true},     {"members", &Parser::members, true},
  };

  // Reclaim.
  bool reclaim(const Token& word) {
    static const std::vector<std::string> kKinds = {"idle", "for-waiting"};
    const auto kind =
        c_.one_of(kKinds, {"reclaim", "a kind of reclaim", "reclaim idle { notify after 10m }"});
    if (!kind) return false;
    const Span head = join(word.span, kind->span);
    Block block{"reclaim", fmt::format("reclaim {}", kind->value)};
    if (kind->value == "idle") {
      IdleNode node{.head = head, .kinds = {}, .unless = {}, .rungs = {}, .most = {}};
      if (!c_.block(head, "reclaim", kNone, [&] {
            return !of_the_other(kForWaitingKeys, kIdleKeys, "for-waiting") &&
                   key(kIdleKeys, node, block);
          }))
        return false;
      tree_.idle.push_back(std::move(node));
    } else {
      ForWaitingNode node{.head = head, .wait = {}, .ask = {}, .most = {}};
      if (!c_.block(head, "reclaim", kNone, [&] {
            return !of_the_other(kIdleKeys, kForWaitingKeys, "idle") &&
                   key(kForWaitingKeys, node, block);
          }))
        return false;
      tree_.for_waiting.push_back(std::move(node));
    }
    c_.end_statement();
    return true;
  }
  template <class Theirs, class Ours>
  bool of_the_other(const Theirs& theirs, const Ours& ours, std::string_view kind) {
    if (!c_.peek().is_name() || !known(theirs, c_.peek().text) || known(ours, c_.peek().text))
      return false;
    const Token word = c_.next();
    c_.problem("E112", fmt::format("{} belongs to `reclaim {}`", in_quotes(word.text), kind),
               {word.span, ""}, fmt::format("move the line to `reclaim {} {{ }}`", kind));
    return true;
  }
  bool kinds(IdleNode& n) {
    return v_.names(n.kinds, {"kinds", "kinds of idle hold", "kinds never-used, no-process"});
  }
  bool unless(IdleNode& n) {
    const Cursor::Need need{"unless", "a class and a time", "unless class interactive for 2h"};
    if (!c_.word("class", need)) return false;
    const auto klass = c_.name(need);
    if (!klass || !c_.word("for", need)) return false;
    const auto time = c_.time(need);
    if (time) n.unless.push_back({*klass, *time});
    return time.has_value();
  }
  template <Rung rung>
  bool act(IdleNode& n) {
    const Token word = c_.last();
    const std::string example = fmt::format("{} after 10m", word.text);
    const Cursor::Need need{word.text, "`after` and a time", example};
    if (!c_.word("after", need)) return false;
    const auto after = c_.time(need);
    if (!after) return false;
    n.rungs[static_cast<size_t>(rung)] = RungNode{*after, join(word.span, after->span)};
    return true;
  }
  bool most_gpus(IdleNode& n) { return v_.set(n.most, v_.cap("gpu", "most 16 gpu per 10m")); }
  bool wait(ForWaitingNode& n) { return v_.set(n.wait, c_.time({"wait", "a time", "wait 5m"})); }
  bool ask(ForWaitingNode& n) {
    const Cursor::Need need{"ask", "`checkpoint` and a time", "ask checkpoint, 10m"};
    if (!c_.word("checkpoint", need)) return false;
    if (!c_.take(",")) return c_.missing(need), false;
    return v_.set(n.ask, c_.time(need));
  }
  bool most_evictions(ForWaitingNode& n) {
    return v_.set(n.most, v_.cap("evictions", "most 5 evictions per 10m"));
  }
  static constexpr Key<Parser, IdleNode> kIdleKeys[] = {
      {"kinds", &Parser::kinds},
      {"unless", &Parser::unless, true},
      {"notify", &Parser::act<Rung::notify>},
      {"demote", &Parser::act<Rung::demote>},
      {"shrink", &Parser::act<Rung::shrink>},
      {"requeue", &Parser::act<Rung::requeue>},
      {"cancel", &Parser::act<Rung::cancel>},
      {"most", &Parser::most_gpus},
  };
  static constexpr Key<Parser, ForWaitingNode> kForWaitingKeys[] = {
      {"wait", &Parser::wait},
      {"ask", &Parser::ask},
      {"most", &Parser::most_evictions},
  };

  // Tests.
  bool test(const Token& word) {
    TestNode node;
    const auto title = c_.text({"test", "a sentence", "test \"batch leaves first\" { }"});
    if (!title) return false;
    node.title = *title;
    node.head = join(word.span, title->span);
    Block block{"test", fmt::format("test \"{}\"", title->value)};
    const bool opened =
        c_.block(node.head, "test", kNone, [&] { return key(kTestKeys, node, block); });
    if (opened) c_.end_statement();
    if (opened) tree_.tests.push_back(std::move(node));
    return opened;
  }
  bool fleet(TestNode& n) { return v_.fleet(n.fleet); }
  template <bool running>
  bool work(TestNode& n) {
    auto node = v_.work(running);
    if (node) n.work.push_back(std::move(*node));
    return node.has_value();
  }
  bool expect(TestNode& n) {
    auto node = v_.expect();
    if (node) n.expects.push_back(std::move(*node));
    return node.has_value();
  }
  static constexpr Key<Parser, TestNode> kTestKeys[] = {
      {"fleet", &Parser::fleet},
      {"running", &Parser::work<true>, true},
      {"waiting", &Parser::work<false>, true},
      {"expect", &Parser::expect, true},
  };

  // One key of a block.
  template <class Keys, class Node>
  bool key(const Keys& keys, Node& node, Block& block) {
    if (!c_.peek().is_name()) return does_not_belong(block.title);
    const Token word = c_.next();
    const auto found = std::ranges::find(keys, word.text, [](const auto& k) { return k.word; });
    if (found == std::end(keys)) {
      std::vector<std::string> words;
      for (const auto& k : keys) words.emplace_back(k.word);
      if (block.word == "team") words.emplace_back("team");
      if (elsewhere(word, block)) return false;
      unknown(word, fmt::format("a key of {}", in_quotes(block.word)), words);
      return false;
    }
    const auto [first, is_first] = block.seen.emplace(word.text, word.span);
    if (!is_first && !found->repeats) {
      c_.problem("E105",
                 fmt::format("{} is written twice in {}", in_quotes(word.text), block.title),
                 {word.span, "second time"}, "keep one of them", {{first->second, "first time"}});
      Node ignored;
      return (this->*found->read)(ignored);
    }
    return (this->*found->read)(node);
  }
  // A key of another block, told as such.
  bool elsewhere(const Token& word, const Block& block) {
    const std::string_view owner = known(kClassKeys, word.text)        ? "class"
                                   : known(kTeamKeys, word.text)       ? "team"
                                   : known(kTestKeys, word.text)       ? "test"
                                   : known(kIdleKeys, word.text)       ? "reclaim idle"
                                   : known(kForWaitingKeys, word.text) ? "reclaim for-waiting"
                                                                       : "";
    if (owner.empty() || block.word == owner) return false;
    c_.problem("E112", fmt::format("{} does not belong to {}", in_quotes(word.text), block.title),
               {word.span, ""}, fmt::format("it is a key of {}: move it there", in_quotes(owner)));
    return true;
  }
  template <class Keys>
  static bool known(const Keys& keys, std::string_view word) {
    return std::ranges::any_of(keys, [&](const auto& k) { return k.word == word; });
  }
  void unknown(const Token& word, const std::string& what, const std::vector<std::string>& words) {
    const auto meant = nearest_word(word.text, words);
    c_.problem("E104", fmt::format("{} is not {}", in_quotes(word.text), what),
               {word.span, !meant.empty() ? "unknown" : ""},
               !meant.empty() ? fmt::format("did you mean {}?", in_quotes(meant))
                              : fmt::format("one of {}", fmt::join(words, ", ")));
  }
  bool does_not_belong(const std::string& where) {
    const Token& token = c_.peek();
    if (token.kind == TokenKind::bad) return false;
    if (token.is("}")) {
      c_.problem("E103", "this `}` closes nothing", {token.span, ""}, "delete it");
      return false;
    }
    c_.problem("E106",
               fmt::format("{} does not begin anything in {}", in_quotes(token.text), where),
               {token.span, ""}, "a statement begins with a word, such as `own`");
    return false;
  }

  Tree& tree_;
  Cursor c_;
  ValueParser v_;
};

const std::vector<std::string> Parser::kSections = {"devices", "price",   "class",
                                                    "team",    "reclaim", "test"};
const std::vector<std::string> Parser::kOnlyTeams = {"team"};
const std::vector<std::string> Parser::kNone = {};

}  // namespace

void parse(const lang::Sources& sources, lang::FileId file, Tree& tree,
           lang::Diagnostics& problems) {
  Parser(sources, lang::statements(lang::lex(sources, file, problems)), tree, problems).run();
}

}  // namespace fairlead::policy
