#include "io/url.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>

namespace fairlead::io {
namespace {

std::unexpected<Diagnostic> bad(std::string_view text, std::string why) {
  return fail("url-bad", fmt::format("'{}' is no address: {}", text.substr(0, 80), why),
              "write it as http://host:9090, https://host or unix:/run/some.sock");
}

bool is_port(std::string_view text) {
  int port = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), port);
  return error == std::errc{} && end == text.data() + text.size() && port > 0 && port <= 65535;
}

int hex_digit(char c) {
  if (c >= '0' && c <= '9') return c - '0';
  if (c >= 'a' && c <= 'f') return c - 'a' + 10;
  if (c >= 'A' && c <= 'F') return c - 'A' + 10;
  return -1;
}

// Splits "host:port", "[v6]:port" or "host" into `url`; the port stays where none is written.
bool take_authority(std::string_view text, Url& url) {
  std::string_view port;
  if (text.starts_with('[')) {
    const size_t close = text.find(']');
    if (close == text.npos) return false;
    url.host = text.substr(1, close - 1);
    text.remove_prefix(close + 1);
    if (!text.empty() && text.front() != ':') return false;
    port = text.empty() ? text : text.substr(1);
  } else {
    const size_t colon = text.find(':');
    url.host = text.substr(0, colon);
    port = colon == text.npos ? std::string_view{} : text.substr(colon + 1);
  }
  if (url.host.empty() || (!port.empty() && !is_port(port))) return false;
  if (!port.empty()) url.port = port;
  return true;
}

}  // namespace

std::string Url::host_header() const {
  if (!unix_path.empty()) return host;
  const std::string name = host.contains(':') ? "[" + host + "]" : host;
  return port == (tls ? "443" : "80") ? name : name + ":" + port;
}

std::string Url::shown() const {
  if (!unix_path.empty()) return "unix:" + unix_path;
  const std::string path = target.substr(0, target.find('?'));
  return (tls ? "https://" : "http://") + host_header() + (path == "/" ? "" : path);
}

Result<Url> parse_url(std::string_view text) {
  Url url;
  std::string_view rest = text;
  for (const char c : text) {
    if (static_cast<unsigned char>(c) <= ' ' || c == 0x7f) return bad(text, "it holds a blank");
  }
  if (rest.starts_with("unix:")) {
    rest.remove_prefix(5);
    if (rest.starts_with("//")) rest.remove_prefix(2);
    if (!rest.starts_with('/')) return bad(text, "the socket's path does not begin with '/'");
    url.unix_path = rest;
    url.host = "localhost";
    return url;
  }
  if (rest.starts_with("https://"))
    url.tls = true;
  else if (!rest.starts_with("http://"))
    return bad(text, "it begins with none of http://, https://, unix:");
  rest.remove_prefix(url.tls ? 8 : 7);
  url.port = url.tls ? "443" : "80";

  const size_t path = rest.find_first_of("/?#");
  std::string_view authority = rest.substr(0, path);
  if (path != rest.npos) {
    const std::string_view tail = rest.substr(path, rest.find('#') - path);
    url.target = tail.starts_with('/') ? std::string(tail) : "/" + std::string(tail);
  }
  if (const size_t at = authority.rfind('@'); at != authority.npos) {
    url.userinfo = percent_decode(authority.substr(0, at));
    authority.remove_prefix(at + 1);
  }
  if (!take_authority(authority, url)) return bad(text, "its host or port cannot be read");
  return url;
}

Url url_below(const Url& base, std::string_view path) {
  Url url = base;
  url.target = base.target.substr(0, base.target.find('?'));
  while (url.target.ends_with('/')) url.target.pop_back();
  url.target += path;
  return url;
}

std::string percent_encode(std::string_view text) {
  std::string out;
  for (const char c : text) {
    const bool plain = (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') ||
                       c == '-' || c == '_' || c == '.' || c == '~';
    if (plain)
      out += c;
    else
      out += fmt::format("%{:02X}", static_cast<unsigned char>(c));
  }
  return out;
}

std::string percent_decode(std::string_view text) {
  std::string out;
  for (size_t i = 0; i < text.size(); ++i) {
    if (text[i] == '%' && i + 2 < text.size() && hex_digit(text[i + 1]) >= 0 &&
        hex_digit(text[i + 2]) >= 0) {
      out += static_cast<char>(hex_digit(text[i + 1]) * 16 + hex_digit(text[i + 2]));
      i += 2;
    } else {
      out += text[i];
    }
  }
  return out;
}

std::string form_decode(std::string_view text) {
  std::string blanks(text);
  std::ranges::replace(blanks, '+', ' ');
  return percent_decode(blanks);
}

std::string base64(std::string_view bytes) {
  static constexpr char kDigits[] =
      "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
  std::string out;
  uint32_t bits = 0;
  int held = 0;
  for (const char c : bytes) {
    bits = (bits << 8) | static_cast<unsigned char>(c);
    for (held += 8; held >= 6;) out += kDigits[(bits >> (held -= 6)) & 63];
  }
  if (held > 0) out += kDigits[(bits << (6 - held)) & 63];
  while (out.size() % 4 != 0) out += '=';
  return out;
}

}  // namespace fairlead::io
