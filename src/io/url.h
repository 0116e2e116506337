// Addresses as people write them in fairlead.yaml.
//
//   http://host:9090/path?query   https://user:pass@host/   http://[::1]:80/   unix:/run/x.sock
//
// A unix address names the socket; its target is set with `target`.
#pragma once

#include <string>
#include <string_view>

#include "base/result.h"

namespace fairlead::io {

struct Url {
  bool tls = false;
  std::string host;       // without brackets; "localhost" for a unix socket
  std::string port;       // "80" and "443" where it is not written
  std::string unix_path;  // empty: TCP
  std::string userinfo;   // "user:pass", decoded; never shown
  std::string target = "/";

  // What messages say; holds neither password nor query.
  std::string shown() const;
  std::string host_header() const;
};

// Fails with url-bad.
Result<Url> parse_url(std::string_view text);

// The url with `path` (begins with '/') behind the path it already has: ".../prom" + "/api/v1".
Url url_below(const Url& base, std::string_view path);

// "a b&c" <-> "a%20b%26c". Decoding leaves a broken escape as it stands.
std::string percent_encode(std::string_view text);
std::string percent_decode(std::string_view text);
std::string form_decode(std::string_view text);  // of a query: there a '+' is a blank

std::string base64(std::string_view bytes);

}  // namespace fairlead::io
