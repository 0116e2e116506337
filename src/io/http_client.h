// Asking an HTTP server one thing: plain, TLS or over a unix socket.
//
// Every request has its own connection and one limit of time for all of it, looking up the name and
// a server that drips its answer included. An answer of any status is a value; use expect_ok where
// only 2xx will do. Redirects are not followed: an API that redirects is a wrong address.
#pragma once

#include "io/http.h"
#include "io/stream.h"

namespace fairlead::io {

struct HttpOptions {
  std::string method = "GET";
  std::vector<Header> headers;
  std::string body;
  size_t body_max = size_t{64} << 20;  // of the answer
  milliseconds limit{10'000};
  TlsContextPtr tls;  // null: the system's authorities, verified
};

// Fails with what dial() fails with, net-cut-short, http-bad, http-too-large.
asio::awaitable<Result<HttpResponse>> http_get(Url url, HttpOptions options = {});

// Returns `response` where its status is 2xx.
// Fails with http-login (401, 403, a page of HTML after a redirect), http-busy (429, 503),
// http-status.
Result<HttpResponse> expect_ok(const Url& url, HttpResponse response);

// Where a secret comes from; re-read each time, since what rotates it replaces the file.
struct Credentials {
  std::string bearer_file;
  std::string user, password_file;
};

// Returns the Authorization header, or none where no credentials are given.
// Fails with secret-unreadable.
Result<std::vector<Header>> authorization(const Credentials& credentials);

}  // namespace fairlead::io
