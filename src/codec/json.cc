#include "codec/json.h"

#include "base/words.h"

namespace fairlead::json {
namespace {

// Returns how many bytes the well-formed UTF-8 sequence at `text` has, or 0.
size_t utf8_length(std::string_view text) {
  const auto byte = [&](size_t i) { return static_cast<unsigned char>(text[i]); };
  const unsigned char lead = byte(0);
  const size_t length = lead < 0x80                   ? 1
                        : lead >= 0xc2 && lead < 0xe0 ? 2
                        : lead >= 0xe0 && lead < 0xf0 ? 3
                        : lead >= 0xf0 && lead < 0xf5 ? 4
                                                      : 0;
  if (length == 0 || length > text.size()) return 0;
  for (size_t i = 1; i < length; ++i) {
    if ((byte(i) & 0xc0) != 0x80) return 0;
  }
  if (lead == 0xe0 && byte(1) < 0xa0) return 0;  // overlong
  if (lead == 0xed && byte(1) > 0x9f) return 0;  // surrogates
  if (lead == 0xf0 && byte(1) < 0x90) return 0;
  if (lead == 0xf4 && byte(1) > 0x8f) return 0;
  return length;
}

void escape(std::string& out, unsigned char c) {
  static constexpr char kHex[] = "0123456789abcdef";
  switch (c) {
    case '"':
      out += "\\\"";
      break;
    case '\\':
      out += "\\\\";
      break;
    case '\n':
      out += "\\n";
      break;
    case '\t':
      out += "\\t";
      break;
    case '\r':
      out += "\\r";
      break;
    default:
      out += "\\u00";
      out += kHex[c >> 4];
      out += kHex[c & 15];
  }
}

}  // namespace

bool Reading::fail_unknown(std::string_view key, const std::vector<std::string>& known) {
  const std::string short_key(key.substr(0, 80));
  if (problem.empty())
    problem = (path.empty() ? "$" : path) + ": no member is called '" + short_key + "'; " +
              hint_for_unknown(short_key, known);
  return false;
}

void quote(std::string& out, std::string_view text) {
  out += '"';
  size_t begin = 0;
  for (size_t i = 0; i < text.size();) {
    const auto c = static_cast<unsigned char>(text[i]);
    const size_t length = c < 0x80 ? 1 : utf8_length(text.substr(i));
    const bool plain = length > 1 || (length == 1 && c >= 0x20 && c != '"' && c != '\\');
    if (plain) {
      i += length;
      continue;
    }
    out.append(text, begin, i - begin);
    escape(out, c);  // a byte that is not UTF-8 is written as the character of its number
    begin = ++i;
  }
  out.append(text, begin, text.size() - begin);
  out += '"';
}

bool read_instant(od::value value, Instant& out, Reading& reading) {
  od::json_type type{};
  if (value.type().get(type)) return reading.fail("an instant");
  if (type == od::json_type::number)
    return !value.get_int64().get(out.us) || reading.fail("a whole number");
  out = {};
  if (type == od::json_type::null) return true;
  std::string_view text;
  if (value.get_string().get(text)) return reading.fail("an instant");
  const auto at = parse_rfc3339(text);
  if (!at) return reading.fail("an instant like 2026-01-31T08:09:10Z");
  out = *at;
  return true;
}

}  // namespace fairlead::json
