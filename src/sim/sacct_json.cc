// sacct --json, of releases 22.05 to 26.05: {"jobs": [{…}, …], …}.
//
// What differs between them: a number may be {"set":…, "infinite":…, "number":…}, a state may be a
// list whose later words are flags (["PENDING", "REQUEUED"] is a run that was requeued), words may
// be null.
#include <fmt/format.h>
#include <simdjson.h>

#include <algorithm>
#include <utility>

#include "sim/history_read.h"

namespace fairlead {
namespace {

namespace od = simdjson::ondemand;

// A number in any of its shapes; nothing where it is null, unset, infinite or none.
std::optional<int64_t> number_of(od::value value) {
  od::json_type type;
  if (value.type().get(type)) return std::nullopt;
  if (type == od::json_type::object) {
    od::object object;
    if (value.get_object().get(object)) return std::nullopt;
    bool set = true;
    std::optional<int64_t> number;
    for (auto field : object) {
      std::string_view key;
      od::value inner;
      if (field.unescaped_key().get(key) || field.value().get(inner)) return std::nullopt;
      bool flag = false;
      if (key == "set" && !inner.get_bool().get(flag)) set = set && flag;
      if (key == "infinite" && !inner.get_bool().get(flag)) set = set && !flag;
      if (key == "number") {
        int64_t n = 0;
        if (!inner.get_int64().get(n)) number = n;
      }
    }
    return set ? number : std::nullopt;
  }
  int64_t n = 0;
  if (type != od::json_type::number || value.get_int64().get(n)) return std::nullopt;
  return n;
}

// A text; empty where it is null or something else. Valid until the parser moves on.
std::string_view text_of(od::value value) {
  std::string_view text;
  return value.get_string().get(text) ? std::string_view{} : text;
}

// Calls f(key, value) for each member.
template <class F>
void for_each_member_of(od::value value, F&& f) {
  od::object object;
  if (value.get_object().get(object)) return;
  for (auto field : object) {
    std::string_view key;
    od::value inner;
    if (field.unescaped_key().get(key) || field.value().get(inner)) return;
    f(key, inner);
  }
}

struct Tres {
  int64_t untyped = -1, typed = 0, cpus = 0, nodes = 0;
  int models = 0;
  std::string model;
  bool stated = false, shards = false, too_large = false;
  int64_t devices() const { return std::max({untyped, typed, int64_t{0}}); }
};

void read_tres(od::value list, Tres& out) {
  od::array array;
  if (list.get_array().get(array)) return;
  for (auto element : array) {
    od::value item;
    if (element.get(item)) return;
    std::string type, name;
    int64_t count = 0;
    for_each_member_of(item, [&](std::string_view key, od::value value) {
      if (key == "type")
        type = text_of(value);
      else if (key == "name")
        name = text_of(value);
      else if (key == "count")
        count = std::max<int64_t>(number_of(value).value_or(0), 0);
    });
    out.stated = true;
    if (type == "cpu")
      out.cpus = count;
    else if (type == "node")
      out.nodes = count;
    else if (type == "gres" && name == "gpu")
      out.untyped = count;
    else if (type == "gres" && name.starts_with("gpu:")) {
      out.typed += count;
      out.model = name.substr(4);
      out.models += count > 0 ? 1 : 0;
    } else if (type == "gres" && (name.starts_with("shard") || name.starts_with("mps"))) {
      out.shards = out.shards || count > 0;
    }
    out.too_large = out.too_large || (type == "gres" && count > 10'000'000);
  }
}

class Reader {
 public:
  explicit Reader(HistoryBuilder& builder) : builder_(builder) {}

  void job(od::value value) {
    ++builder_.line;
    run_ = {};
    asked_ = given_ = {};
    array_id_ = het_id_ = 0;
    array_task_ = het_offset_ = -1;
    waiting_.clear();
    for_each_member_of(value, [&](std::string_view key, od::value member) { read(key, member); });
    if (const char* wrong = settle()) return builder_.skip(wrong, fmt::format("job {}", run_.id));
    builder_.keep(run_);
  }

 private:
  void read(std::string_view key, od::value value) {
    NameTable& names = builder_.table().names();
    if (key == "job_id")
      run_.id = static_cast<uint32_t>(
          std::clamp<int64_t>(number_of(value).value_or(0), 0, 0xffff'ffffLL));
    else if (key == "user")
      run_.user = names.intern(text_of(value));
    else if (key == "account")
      run_.account = names.intern(text_of(value));
    else if (key == "qos")
      run_.qos = names.intern(text_of(value));
    else if (key == "partition")
      run_.partition = names.intern(text_of(value));
    else if (key == "cluster")
      run_.cluster = names.intern(text_of(value));
    else if (key == "nodes")
      nodes_ = text_of(value);
    else if (key == "allocation_nodes")
      run_.nodes_count =
          static_cast<int32_t>(std::clamp<int64_t>(number_of(value).value_or(1), 1, 1'000'000));
    else if (key == "time")
      for_each_member_of(value, [&](std::string_view k, od::value v) { read_time(k, v); });
    else if (key == "state")
      for_each_member_of(value, [&](std::string_view k, od::value v) {
        if (k == "current") read_state(v);
      });
    else if (key == "array")
      for_each_member_of(value, [&](std::string_view k, od::value v) { read_array(k, v); });
    else if (key == "het")
      for_each_member_of(value, [&](std::string_view k, od::value v) { read_het(k, v); });
    else if (key == "tres")
      for_each_member_of(value, [&](std::string_view k, od::value v) {
        if (k == "allocated") read_tres(v, given_);
        if (k == "requested") read_tres(v, asked_);
      });
    else if (key == "exit_code")
      for_each_member_of(value, [&](std::string_view k, od::value v) {
        if (k == "return_code")
          run_.exit_code =
              static_cast<int32_t>(std::clamp<int64_t>(number_of(v).value_or(0), 0, 255));
      });
  }

  void read_time(std::string_view key, od::value value) {
    const int64_t number = std::max<int64_t>(number_of(value).value_or(0), 0);
    if (key == "submission")
      run_.submit = number;
    else if (key == "eligible")
      run_.eligible = number > kHistorySecondMax ? 0 : number;
    else if (key == "start")
      run_.start = number;
    else if (key == "end")
      run_.end = number;
    else if (key == "limit" && number > 0 && number < 1'000'000'000)
      run_.time_limit_s = number * 60;
  }

  void read_state(od::value value) {
    std::string_view word;
    if (!value.get_string().get(word)) {
      take_state(word, true);
      return;
    }
    od::array words;
    if (value.get_array().get(words)) return;
    bool first = true;
    for (auto element : words) {
      if (element.get_string().get(word)) return;
      take_state(word, std::exchange(first, false));
    }
  }
  // The first word is the state; of the flags only these two change what a run was.
  void take_state(std::string_view word, bool first) {
    const StatedState stated = parse_state(word);
    if (!first && stated.how == RunEnd::final) return;
    run_.state = stated.state;
    run_.how = stated.how;
  }

  void read_array(std::string_view key, od::value value) {
    if (key == "job_id")
      array_id_ = number_of(value).value_or(0);
    else if (key == "task_id")
      array_task_ = number_of(value).value_or(-1);
    else if (key == "task")
      waiting_ = text_of(value);
  }
  void read_het(std::string_view key, od::value value) {
    if (key == "job_id")
      het_id_ = number_of(value).value_or(0);
    else if (key == "job_offset")
      het_offset_ = number_of(value).value_or(-1);
  }

  const char* settle() {
    if (run_.id == 0) return "job_id is no job's id";
    if (run_.state == JobState::unknown) return "state is none that we know";
    if (asked_.too_large || given_.too_large) return "tres has a number that is too large";
    run_.open = !has_ended(run_.state);
    if (run_.state == JobState::pending) run_.start = 0;
    if (run_.open) run_.end = 0;
    if (run_.open && run_.state != JobState::pending && run_.start == 0)
      return "runs and has no start";
    if (!run_.open && run_.end == 0) return "ended and has no end";
    const bool no_nodes = nodes_.empty() || nodes_.starts_with("None");
    if (!run_.open && run_.start == run_.end && (no_nodes || run_.state == JobState::cancelled))
      run_.start = 0;
    if (const char* wrong = settle_run(run_)) return wrong;
    settle_names();
    run_.cpus = static_cast<int32_t>(
        std::min<int64_t>(given_.cpus > 0 ? given_.cpus : asked_.cpus, 100'000'000));
    run_.devices_held = static_cast<int32_t>(given_.stated ? given_.devices() : asked_.devices());
    run_.devices_asked = static_cast<int32_t>(asked_.stated ? asked_.devices() : given_.devices());
    if (given_.models == 1 || (given_.models == 0 && asked_.models == 1)) {
      run_.model =
          builder_.table().names().intern(given_.models == 1 ? given_.model : asked_.model);
    }
    if (asked_.shards || given_.shards) {
      builder_.remark(
          "some jobs hold shares of devices (gres/shard, gres/mps): their size is not stated, they "
          "count as without devices");
    }
    return nullptr;
  }

  void settle_names() {
    std::string label = fmt::format("{}", run_.id);
    if (array_id_ > 0 && array_task_ >= 0)
      label = fmt::format("{}_{}", array_id_, array_task_);
    else if (array_id_ > 0 && !waiting_.empty())
      label = fmt::format("{}_[{}]", array_id_, waiting_);
    else if (het_id_ > 0 && het_offset_ >= 0)
      label = fmt::format("{}+{}", het_id_, het_offset_);
    parse_job_id(label, run_);  // the same key as a dump in text has
    run_.label = builder_.table().put(label);
    if (!nodes_.starts_with("None")) run_.nodes = builder_.table().put(nodes_);
  }

  HistoryBuilder& builder_;
  HistoryRun run_;
  Tres asked_, given_;
  int64_t array_id_ = 0, array_task_ = -1, het_id_ = 0, het_offset_ = -1;
  std::string waiting_, nodes_;
};

}  // namespace

bool is_sacct_json(std::string_view text) {
  const std::string_view start = without_blanks(text.substr(0, 200'000));
  return start.starts_with('{') && start.find("\"jobs\"") != start.npos;
}

Result<void> read_sacct_json(HistoryBuilder& builder, HistoryInput& input) {
  HistoryNotes& notes = builder.notes();
  notes.has_starts = notes.has_ends = notes.has_devices = notes.has_teams = notes.has_limits = true;
  od::parser parser(4'000'000'000U);
  od::document document;
  od::array jobs;
  bool fits = true;
  const auto open = [&] {
    input.text.reserve(input.text.size() + simdjson::SIMDJSON_PADDING);
    const simdjson::padded_string_view view(input.text.data(), input.text.size(),
                                            input.text.capacity());
    const simdjson::error_code error = parser.iterate(view).get(document);
    fits = error != simdjson::MEMALLOC;
    return !error && !document.find_field_unordered("jobs").get_array().get(jobs);
  };
  bool whole = open();
  if (!fits) {
    return fail("history-too-large",
                fmt::format("a document of {} MB is more than this machine has memory for",
                            input.text.size() / 1'000'000),
                "dump shorter spans with sacct -S and -E, or sacct -P, which is a fifth of it",
                {.source = input.source});
  }
  if (!whole) {  // a dump that was cut off keeps the jobs before the cut
    input.text.resize(std::min(input.text.rfind('}') + 1, input.text.size()));
    input.text += "]}";
    builder.remark("the JSON document is cut off: what comes after the cut is not read");
    whole = open();
  }
  if (!whole) {
    return fail("history-bad-json", "the JSON document is broken before its first job",
                "was the dump cut off? dump it again",
                {.source = input.source, .line = 1, .column = 1});
  }
  Reader reader(builder);
  builder.line = 0;  // of jobs: a document has one line or thousands a job
  for (auto element : jobs) {
    od::value job;
    if (element.get(job) || builder.table().full()) {
      builder.remark(fmt::format(
          "the JSON document is broken after {} jobs: what comes after them is not read",
          builder.line));
      break;
    }
    reader.job(job);
  }
  return {};
}

}  // namespace fairlead
