#include "store/packed.h"

#include <zlib.h>

#include "base/check.h"

namespace fairlead::store {

std::string pack(std::string_view bytes) {
  std::string packed(compressBound(bytes.size()), '\0');
  uLongf size = packed.size();
  const int code =
      compress2(reinterpret_cast<Bytef*>(packed.data()), &size,
                reinterpret_cast<const Bytef*>(bytes.data()), bytes.size(), Z_BEST_SPEED);
  CHECK(code == Z_OK);  // the room is what zlib asks for
  packed.resize(size);
  return packed;
}

Result<std::string> unpack(std::string_view packed, size_t size) {
  std::string bytes(size, '\0');
  uLongf got = size;
  const int code = uncompress(reinterpret_cast<Bytef*>(bytes.data()), &got,
                              reinterpret_cast<const Bytef*>(packed.data()), packed.size());
  if (code != Z_OK || got != size) return fail("store-corrupt", "a packed piece is damaged");
  return bytes;
}

}  // namespace fairlead::store
