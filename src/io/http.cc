#include "io/http.h"

#include <algorithm>

#include "base/digest.h"
#include "io/url.h"

namespace fairlead::io {
namespace {

bool same_name(std::string_view a, std::string_view b) {
  const auto lower = [](char c) { return c >= 'A' && c <= 'Z' ? static_cast<char>(c + 32) : c; };
  return std::ranges::equal(a, b, {}, lower, lower);
}

// "If-None-Match: "a", W/"b"" names `etag`?
bool names_etag(std::string_view list, std::string_view etag) {
  return list == "*" || list.contains(etag);  // an ETag of ours has its quotes with it
}

}  // namespace

std::string_view find_header(const std::vector<Header>& headers, std::string_view name) {
  const auto found =
      std::ranges::find_if(headers, [&](const Header& h) { return same_name(h.name, name); });
  return found == headers.end() ? std::string_view{} : std::string_view(found->value);
}

std::optional<std::string> HttpRequest::param(std::string_view name) const {
  std::string_view rest = query;
  while (!rest.empty()) {
    const size_t end = rest.find('&');
    const std::string_view pair = rest.substr(0, end);
    rest = end == rest.npos ? std::string_view{} : rest.substr(end + 1);
    const size_t equals = pair.find('=');
    if (form_decode(pair.substr(0, equals)) != name) continue;
    return equals == pair.npos ? std::string{} : form_decode(pair.substr(equals + 1));
  }
  return std::nullopt;
}

std::string_view status_text(int status) {
  struct Row {
    int status;
    std::string_view text;
  };
  static constexpr Row kRows[] = {{200, "OK"},
                                  {201, "Created"},
                                  {202, "Accepted"},
                                  {204, "No Content"},
                                  {301, "Moved Permanently"},
                                  {302, "Found"},
                                  {304, "Not Modified"},
                                  {307, "Temporary Redirect"},
                                  {308, "Permanent Redirect"},
                                  {400, "Bad Request"},
                                  {401, "Unauthorized"},
                                  {403, "Forbidden"},
                                  {404, "Not Found"},
                                  {405, "Method Not Allowed"},
                                  {406, "Not Acceptable"},
                                  {408, "Request Timeout"},
                                  {409, "Conflict"},
                                  {412, "Precondition Failed"},
                                  {413, "Content Too Large"},
                                  {415, "Unsupported Media Type"},
                                  {422, "Unprocessable Content"},
                                  {429, "Too Many Requests"},
                                  {431, "Request Header Fields Too Large"},
                                  {500, "Internal Server Error"},
                                  {501, "Not Implemented"},
                                  {502, "Bad Gateway"},
                                  {503, "Service Unavailable"},
                                  {504, "Gateway Timeout"}};
  const auto row = std::ranges::find(kRows, status, &Row::status);
  return row == std::end(kRows) ? "Status" : row->text;
}

HttpResponse make_response(int status, std::string_view content_type, std::string body) {
  HttpResponse response;
  response.status = status;
  response.headers.push_back({"Content-Type", std::string(content_type)});
  response.body = std::move(body);
  return response;
}

HttpResponse with_etag(const HttpRequest& request, HttpResponse response) {
  Hasher hasher;
  hasher.add(response.body);
  const std::string etag = '"' + to_text(hasher.digest()) + '"';
  if (request.method != "POST" && names_etag(request.header("If-None-Match"), etag)) {
    response.status = 304;
    response.body.clear();
  }
  response.headers.push_back({"ETag", etag});
  return response;
}

}  // namespace fairlead::io
