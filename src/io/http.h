// HTTP messages as plain values, for both sides.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace fairlead::io {

class EventChannel;

struct Header {
  std::string name, value;
};

// The value of the first header of that name (names know no case), or an empty text.
std::string_view find_header(const std::vector<Header>& headers, std::string_view name);

// Who asks. The numbers come from the kernel and are there on a unix socket only.
struct Peer {
  std::string address;  // "127.0.0.1", "unix"
  std::optional<uint32_t> uid, gid;
};

struct HttpRequest {
  std::string method;  // a HEAD arrives as a GET with `head` set
  bool head = false;
  std::string path;   // decoded, without the query
  std::string query;  // as it came
  std::vector<Header> headers;
  std::string body;
  Peer peer;

  std::string_view header(std::string_view name) const { return find_header(headers, name); }
  // The decoded value of ?name=value; nothing where the query does not hold it.
  std::optional<std::string> param(std::string_view name) const;
};

struct HttpResponse {
  int status = 200;
  std::vector<Header> headers;
  std::string body;
  std::shared_ptr<EventChannel> events;  // set by a handler: the answer is this stream of events

  std::string_view header(std::string_view name) const { return find_header(headers, name); }
};

// Returns e.g. "Not Found".
std::string_view status_text(int status);

HttpResponse make_response(int status, std::string_view content_type, std::string body);

// Adds an ETag of the body; where the request's If-None-Match names it, the answer is an empty 304.
HttpResponse with_etag(const HttpRequest& request, HttpResponse response);

}  // namespace fairlead::io
