#include "runtime/site.h"

#include <algorithm>
#include <chrono>

#include "codec/event_json.h"
#include "codec/state_json.h"
#include "core/thin.h"

namespace fairlead {

Site::Site(SiteOptions options, Journal& journal, Engine engine)
    : options_(std::move(options)), journal_(journal), engine_(std::move(engine)) {}

Result<std::unique_ptr<Site>> Site::open(SiteOptions options, Journal& journal) {
  auto snapshot = journal.load_snapshot();
  if (!snapshot) return std::unexpected(snapshot.error());
  Engine engine(options.name, options.rules);
  if (*snapshot) {
    auto state = read_state((*snapshot)->bytes);
    if (!state) return std::unexpected(state.error());
    state->rules = options.rules;
    engine = Engine(std::move(*state));
  }
  std::unique_ptr<Site> site(new Site(std::move(options), journal, std::move(engine)));
  if (*snapshot) site->snapshot_bytes_ = (*snapshot)->bytes.size();
  if (auto done = site->replay(); !done) return std::unexpected(done.error());
  return site;
}

Result<void> Site::replay() {
  std::optional<Diagnostic> problem;
  const auto read =
      journal_.read_after(engine_.state().seq, [&](uint64_t seq, std::string_view line) {
        auto event = read_event(line);
        if (!event) {
          problem = event.error();
          return false;
        }
        event->seq = seq;
        engine_.step(*event);
        ++replayed_;
        since_snapshot_ += line.size();
        return true;
      });
  if (!read) return std::unexpected(read.error());
  if (problem) return std::unexpected(*problem);
  return {};
}

namespace {

std::optional<Source> begun_source(const Event& event) {
  if (const auto* began = std::get_if<PollBegan>(&event.what)) return began->source;
  return std::nullopt;
}

std::optional<Source> ended_source(const Event& event) {
  if (const auto* ended = std::get_if<PollEnded>(&event.what)) return ended->source;
  return std::nullopt;
}

}  // namespace

void Site::drop_half_poll(Source source) {
  std::erase_if(open_, [&](const Pending& p) { return p.source == source; });
}

void Site::take_line(std::string_view line) {
  if (line.empty()) return;
  auto event = read_event(line);
  if (event)
    take(std::move(*event), std::string(line));
  else if (!open_.empty())
    ++open_.back().unreadable;
}

void Site::take_poll(std::vector<Event> events) {
  thin_samples(engine_.state(), events);
  for (const Event& event : events) take_line(to_json(event));  // as a replay will read it
}

void Site::take(Event event, std::string line) {
  const auto append = [](Batch& batch, Event&& what, std::string&& text) {
    batch.events.push_back(std::move(what));
    batch.lines.push_back(std::move(text));
  };
  // 1. A poll opens. Another of its source that is still open was cut: it is dropped.
  if (const auto source = begun_source(event)) {
    drop_half_poll(*source);
    open_.push_back({.source = *source, .batch = {}});
    append(open_.back().batch, std::move(event), std::move(line));
    return;
  }
  // 2. A record belongs to the poll that began last; outside a poll it stands for itself.
  const auto ended = ended_source(event);
  if (!ended && !open_.empty()) {
    append(open_.back().batch, std::move(event), std::move(line));
    return;
  }
  // 3. A poll ends, and is taken in as a whole.
  Batch batch;
  const auto poll = ended ? std::ranges::find(open_, *ended, &Pending::source) : open_.end();
  if (poll != open_.end()) {
    if (poll->unreadable > 0) {
      std::get<PollEnded>(event.what).unreadable += poll->unreadable;
      line = to_json(event);
    }
    batch = std::move(poll->batch);
    open_.erase(poll);
  }
  append(batch, std::move(event), std::move(line));
  commit(std::move(batch));
}

void Site::commit(Batch batch) {
  const auto begun = std::chrono::steady_clock::now();
  const auto first = journal_.append(batch.lines);
  if (!first) {
    journal_problem_ = to_text(first.error());
    wants_full_ = true;
    return;
  }
  journal_problem_.clear();
  uint64_t seq = *first;
  for (Event& event : batch.events) {
    event.seq = seq++;
    decide(event);
    if (const auto source = ended_source(event)) ++polls_[static_cast<size_t>(*source)];
  }
  for (const std::string& line : batch.lines) since_snapshot_ += line.size();
  if (snapshot_due()) begin_snapshot();
  on_taken(std::chrono::duration<double>(std::chrono::steady_clock::now() - begun).count());
  on_change();
}

void Site::decide(const Event& event) {
  const std::vector<Decision> decisions = engine_.step(event);
  if (!decisions.empty()) on_decisions(decisions);
}

void Site::source_failed(Source source, Instant at, const std::string& why) {
  drop_half_poll(source);
  take_poll({{.at = at, .what = PollBegan{.source = source}},
             {.at = at, .what = PollEnded{.source = source, .ok = false, .detail = why}}});
}

void Site::tick(Instant at) { take_poll({{.at = at, .what = Tick{}}}); }

// Not as a line of its own: while a poll is open, that would be taken for one of its records.
void Site::state_organisation(Instant at, OrganisationStated stated) {
  organisation_problem_.clear();
  if (stated == state().organisation_stated) return;
  Event event{.at = at, .what = std::move(stated)};
  Batch batch;
  batch.lines.push_back(to_json(event));
  batch.events.push_back(std::move(event));
  commit(std::move(batch));
}

void Site::begin_snapshot() {
  const auto begun =
      journal_.begin_snapshot(engine_.state().seq, [this] { return to_json(engine_.state()); });
  // What failed is tried again after as much journal as before.
  since_snapshot_ = 0;
  if (!begun) journal_problem_ = to_text(begun.error());
}

void Site::upkeep() {
  const auto completed = journal_.upkeep();
  if (!completed) journal_problem_ = to_text(completed.error());
  if (completed && *completed != 0) snapshot_bytes_ = *completed;
}

Result<void> Site::snapshot() {
  since_snapshot_ = 0;
  const std::string bytes = to_json(engine_.state());
  snapshot_bytes_ = bytes.size();
  return journal_.save_snapshot(engine_.state().seq, bytes);
}

}  // namespace fairlead
