// A Slurm made of values: virtual time, no processes. What it states is what the adapter would
// read.
//
// It schedules by a rule that is simple enough to be right by eye: jobs by priority, then by id;
// the first nodes in their order that have room, as few as can be; no backfill, so a job that lacks
// room holds up those behind it in its partitions. Limits, dependencies, begin times, licences,
// reservations, holds, array limits, preemption by QOS, time limits, requeue, node failure, drain
// and the crash of the controller follow docs of Slurm 22.05 and what was measured there: after a
// crash what it had acknowledged in the last `save_every` is lost, and ids are given again.
//
// Time moves with advance() alone; between two calls nothing happens. docs/howto/scenario.md
#pragma once

#include <map>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "model/event.h"

namespace fairlead {

// What the processes of a job do with its devices.
enum class Doing : uint8_t {
  busy,    // works
  quiet,   // holds memory and does nothing
  empty,   // no process holds the device
  stuck,   // reports 100 % while units and power stand still
  silent,  // the exporter says nothing of it
};
BOOST_DESCRIBE_ENUM(Doing, busy, quiet, empty, stuck, silent)

struct Phase {
  int64_t after_s = 0;  // since the run began
  Doing doing = Doing::busy;
  int32_t devices = 0;  // the first so many of the job; 0: all
};

struct ModelSubmission {
  Job job;            // name, user, account, qos, partition, reservation, priority, begin, request
  std::string array;  // "0-9%2"
  bool held = false;
  bool may_requeue = true;
  std::vector<uint32_t> after_ok;
  int64_t runs_s = 3600;  // unless a limit ends it first
  bool fails = false;
  std::vector<Phase> does;  // ascending; none: busy
};

struct ModelRules {
  int64_t min_job_age_s = 300;  // an ended job stays listed for so long
  int64_t requeue_delay_s = 120;
  int64_t save_every_s = 5;
  uint32_t first_id = 1;
};

class SlurmModel {
 public:
  explicit SlurmModel(Instant start, ModelRules rules = {});

  // --- the site; each replaces what had its name
  void put(Node node);
  void put(Partition partition);
  void put(Qos qos);
  void put(Association association);
  void put(Reservation reservation);
  void put(Licence licence);
  void drop_reservation(const std::string& name);

  // --- what people do. Nothing is taken while the controller is away: false, or no id.
  std::optional<uint32_t> submit(ModelSubmission submission);  // nor what submission_refusal names
  std::string submission_refusal(const Job& job) const;        // empty: it would be taken
  bool cancel(uint32_t id);
  bool hold(uint32_t id);
  bool release(uint32_t id);
  bool suspend(uint32_t id);
  bool resume(uint32_t id);
  bool requeue(uint32_t id);
  bool shrink(uint32_t id, int32_t nodes);  // keeps its first nodes
  bool preempt(uint32_t id);                // as if a better job had needed the room

  // --- what happens to it
  bool drain(const std::string& node, const std::string& reason);
  bool undrain(const std::string& node);  // also brings back one that is down
  bool fail_node(const std::string& node);
  bool drop_node(const std::string& node);
  // What begins there fails at once: it waits again and is held, or has failed where it may not.
  void refuse_launches(const std::string& node, bool refuses);
  void stop();   // an orderly stop: everything is saved
  void crash();  // SIGKILL
  void restart();
  void schedule_from(Instant at) { slow_until_ = at; }  // no pass of the scheduler before

  void advance(Instant to);
  Instant now() const { return now_; }
  bool away() const { return away_; }

  // One poll, as the adapter would tell it: everything the first time and after a restart of the
  // controller, then what changed. While the controller is away: a poll that failed.
  std::vector<What> poll(bool full = false);
  // One look of every node's exporter.
  Samples look() const;

  std::vector<uint32_t> listed() const;  // ids, ascending
  const Job* find(uint32_t id) const;

  // What all runs have held until now, in device-seconds: the truth that books are compared with.
  int64_t held_device_seconds() const;

 private:
  struct ModelJob {
    ModelSubmission asked;
    Job facts;
    std::vector<int32_t> tasks;  // of an array, that still wait
    int64_t suspended_s = 0;     // seconds of the present run
    Instant held_since;          // the amount that it holds now
    bool launch_failed = false;  // and it is held for that
  };
  struct Room {  // of a node, for one pass of the scheduler
    std::vector<bool> busy;
    int32_t cpus = 0;
    int64_t memory_mb = 0;
  };
  using Rooms = std::map<std::string, Room>;

  // --- a job (slurm_model_jobs.cc)
  ModelJob* job(uint32_t id);
  void end(ModelJob& job, JobState state, bool fails = false);
  void back_to_queue(ModelJob& job);
  void throw_off(ModelJob& job, JobState state);
  static int64_t device_seconds(const ModelJob& job, Instant until);
  void start(ModelJob& job, std::vector<NodeShare> held);
  void fail_launch(ModelJob& job);
  ModelJob& split_task(ModelJob& array);
  void touch() {
    dirty_ = true;
    if (!unsaved_) save_at_ = now_ + seconds(rules_.save_every_s);
    unsaved_ = true;
  }

  // --- time (slurm_model_time.cc)
  Instant next_change() const;
  void settle();  // what is due at now_
  std::optional<Instant> run_end(const ModelJob& job) const;
  void save();

  // --- the scheduler (slurm_model_schedule.cc)
  void schedule();
  Rooms empty_rooms() const;  // as if nothing ran
  Rooms rooms() const;
  std::string refusal(const ModelJob& job) const;  // the one reason other than room; empty: none
  std::string limit_refusal(const ModelJob& job) const;
  int64_t licences_used(const std::string& name) const;
  std::vector<NodeShare> fit(const ModelJob& job, const Rooms& rooms, bool& reserved) const;
  std::optional<NodeShare> share_of(const ModelJob& job, const Node& node, const Room& room,
                                    int64_t devices_left, bool& reserved) const;
  bool make_room(const ModelJob& job);
  bool node_takes(const ModelJob& job, const Node& node, bool& reserved) const;
  std::vector<const Partition*> partitions_of(const Job& job) const;

  // --- what it states (slurm_model_look.cc)
  Node node_facts(const Node& node, const Rooms& rooms) const;
  template <class Record>
  void tell_named(std::vector<What>& out, const std::map<std::string, Record>& now,
                  const char* kind);
  void tell_jobs(std::vector<What>& out);

  ModelRules rules_;
  Instant now_, booted_;
  bool away_ = false;
  bool dirty_ = true;  // a pass of the scheduler may find something
  bool unsaved_ = false;
  Instant save_at_;  // while unsaved
  Instant slow_until_;
  std::set<std::string, std::less<>> refusing_;  // nodes that launch nothing

  std::map<std::string, Node> nodes_;  // as configured, with drain and down
  std::vector<std::string> node_order_;
  std::map<std::string, Partition> partitions_;
  std::map<std::string, Qos> qos_;
  std::map<std::string, Association> associations_;  // by id as text
  std::map<std::string, Reservation> reservations_;
  std::map<std::string, Licence> licences_;
  std::map<uint32_t, ModelJob> jobs_;
  uint32_t next_id_;
  int64_t held_before_ = 0;  // device-seconds of amounts that are no longer held

  std::map<uint32_t, ModelJob> saved_jobs_;
  uint32_t saved_next_id_;

  // What the last poll told.
  bool told_ = false;
  Instant told_booted_;
  std::map<std::string, What> told_records_;  // by kind and name
  std::map<uint32_t, Job> told_jobs_;
};

}  // namespace fairlead
