// slurmrestd's documents to model values, for v0.0.38 (22.05) to v0.0.45 (26.05).
//
// Their shapes differ: a number is 3, null, or {"set":true,"infinite":false,"number":3}; a list is
// ["a","b"] or "a,b"; a state one word or a list of them. The small functions here read each alike,
// and the mappings know the few members that moved. A record without its key, or with a number that
// does not fit, is left out and counted.
#pragma once

#include <simdjson.h>

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "adapters/slurm/facts.h"
#include "adapters/slurm/text_rules.h"

namespace fairlead::slurm {

using Json = simdjson::dom::element;

// The member along `path` ("limits.max.tres.total"); nothing where a step is absent.
std::optional<Json> member(Json from, std::string_view path);

// A whole number in either shape; `none` where it is absent, null, not set or infinite.
int64_t number(Json from, std::string_view path, int64_t none = 0);
std::string text(Json from, std::string_view path);                // a list joins with ','
std::vector<std::string> words(Json from, std::string_view path);  // a text splits at ','
bool flag(Json from, std::string_view path);
Instant instant(Json from, std::string_view path);
Amounts amounts(Json from, std::string_view path);  // [{"type":"gres","name":"gpu","count":2}]

Parsed<Job> jobs_of(Json document);
Parsed<Node> nodes_of(Json document);
Parsed<Partition> partitions_of(Json document);
Parsed<Reservation> reservations_of(Json document);
Parsed<Licence> licences_of(Json document);
Parsed<Qos> qos_of(Json document);
Parsed<Association> associations_of(Json document);
void add_shares(std::vector<Association>& associations, Json document);
Amounts statistics_of(Json document);

// slurmrestd gives no ids of associations: made from the names, so that they stay.
int64_t association_id(std::string_view account, std::string_view user, std::string_view partition);

}  // namespace fairlead::slurm
