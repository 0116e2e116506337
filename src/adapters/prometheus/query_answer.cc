#include "adapters/prometheus/query_answer.h"

#include <fmt/format.h>
#include <simdjson.h>

#include <cmath>

#include "evidence/exposition.h"

namespace fairlead::prometheus {
namespace {

namespace od = simdjson::ondemand;
using evidence::Label;

std::unexpected<Diagnostic> bad_answer(std::string_view body) {
  const size_t start = body.find_first_not_of(" \t\r\n");
  if (start == body.npos)
    return fail("prometheus-bad-answer", "the answer is empty",
                "is this the address of a Prometheus?");
  if (body[start] == '<') {
    return fail("prometheus-bad-answer", "a web page came instead of an answer",
                "is this the address of a Prometheus, and is there a login before it?");
  }
  return fail("prometheus-bad-answer", "the answer is not one of Prometheus, or it breaks off",
              "is this the address of a Prometheus, or of something else?");
}

// A document whose text stays where it is; the parser wants room behind it.
class Answer {
 public:
  explicit Answer(std::string& body) : body_(body), size_(body.size()) {
    body_.append(simdjson::SIMDJSON_PADDING, ' ');
  }

  // Returns the "data" member of an answer that succeeded.
  Result<od::value> data() {
    od::object answer;
    std::string_view status;
    od::value data;
    if (parser_.iterate(body_.data(), size_, body_.size()).get(document_) ||
        document_.get_object().get(answer) || answer["status"].get_string().get(status)) {
      return bad_answer(body_);
    }
    if (status != "success") {
      std::string_view error;
      if (answer["error"].get_string().get(error)) error = "it does not say why";
      return fail(
          "prometheus-refused", fmt::format("it refuses the query: {}", error.substr(0, 300)),
          error.contains("too many samples") ? "raise its --query.max-samples, or look more often"
                                             : "look into its log");
    }
    if (answer["data"].get(data)) return bad_answer(body_);
    return data;
  }
  std::unexpected<Diagnostic> bad() const { return bad_answer(body_); }

 private:
  std::string& body_;
  size_t size_;
  od::parser parser_;
  od::document document_;
};

Instant instant_of(double time) {
  return std::abs(time) < 9e12 ? Instant{std::llround(time * 1e6)} : Instant{};
}

// [time, "value"]. Returns false where it is something else; sets `broken` where the JSON ends
// there.
bool read_point(od::value value, Instant& at, double& number, bool& broken) {
  od::array pair;
  if (const auto error = value.get_array().get(pair)) {
    broken = error != simdjson::INCORRECT_TYPE;
    return false;
  }
  int count = 0;
  bool good = true;
  for (auto part : pair) {
    double time = 0;
    std::string_view text;
    od::value inner;
    if (part.get(inner)) {
      broken = true;
      return false;
    }
    if (count == 0 && inner.get_double().get(time))
      good = false;
    else if (count == 0)
      at = instant_of(time);
    if (count == 1) {
      const auto read = inner.get_string().get(text) ? std::nullopt : evidence::read_number(text);
      good = good && read.has_value();
      number = read.value_or(0);
    }
    ++count;
  }
  return good && count == 2;
}

// {"metric": {…}, "values": [[…], …]}. Returns false where the JSON breaks off.
bool read_series(od::object series, evidence::Normaliser& normaliser, std::vector<Label>& labels,
                 MatrixCounts& counts) {
  od::object metric;
  od::array values;
  std::string_view name;
  labels.clear();
  if (series["metric"].get_object().get(metric)) return false;
  for (auto field : metric) {
    Label label;
    if (field.unescaped_key().get(label.name) || field.value().get_string().get(label.value))
      return false;
    if (label.name == "__name__")
      name = label.value;
    else
      labels.push_back(label);
  }
  if (series["values"].get_array().get(values)) return false;
  ++counts.series;
  const auto opened = normaliser.open(name, labels);
  for (auto element : values) {
    od::value point;
    Instant at;
    double number = 0;
    bool broken = false;
    if (element.get(point)) return false;
    const bool good = read_point(point, at, number, broken);
    if (broken) return false;
    if (!good) ++counts.unreadable;
    if (!good || !opened) continue;
    normaliser.add(*opened, at, number);
    ++counts.points;
  }
  return true;
}

}  // namespace

Result<MatrixCounts> read_matrix(std::string& body, evidence::Normaliser& normaliser) {
  Answer answer(body);
  auto data = answer.data();
  if (!data) return std::unexpected(data.error());
  od::object object;
  std::string_view type;
  od::array result;
  if (data->get_object().get(object) || object["resultType"].get_string().get(type) ||
      type != "matrix" || object["result"].get_array().get(result)) {
    return answer.bad();
  }
  MatrixCounts counts;
  std::vector<Label> labels;
  for (auto element : result) {
    od::object series;
    if (element.get_object().get(series) || !read_series(series, normaliser, labels, counts))
      return answer.bad();
  }
  return counts;
}

Result<Instant> read_time(std::string& body) {
  Answer answer(body);
  auto data = answer.data();
  if (!data) return std::unexpected(data.error());
  od::object object;
  od::value result;
  Instant at;
  double number = 0;
  bool broken = false;
  if (data->get_object().get(object) || object["result"].get(result) ||
      !read_point(result, at, number, broken))
    return answer.bad();
  return instant_of(number);
}

Result<std::vector<std::string>> read_names(std::string& body) {
  Answer answer(body);
  auto data = answer.data();
  if (!data) return std::unexpected(data.error());
  od::array list;
  if (data->get_array().get(list)) return answer.bad();
  std::vector<std::string> names;
  for (auto element : list) {
    std::string_view name;
    if (element.get_string().get(name)) return answer.bad();
    names.emplace_back(name);
  }
  return names;
}

}  // namespace fairlead::prometheus
