#include "store/packed.h"

#include <zlib.h>

#include <cstring>

#include "base/check.h"
#include "base/digest.h"
#include "io/file.h"

namespace fairlead::store {
namespace {

constexpr size_t kPackedFrom = 64 << 10;  // what is smaller is not worth it
constexpr size_t kFileMax = size_t{4} << 30;

int64_t digest_of(std::string_view bytes) {
  Hasher hasher;
  hasher.add(bytes);
  return static_cast<int64_t>(hasher.digest().value);
}

std::string compressed(std::string_view bytes) {
  std::string packed(compressBound(bytes.size()), '\0');
  uLongf size = packed.size();
  const int code =
      compress2(reinterpret_cast<Bytef*>(packed.data()), &size,
                reinterpret_cast<const Bytef*>(bytes.data()), bytes.size(), Z_BEST_SPEED);
  CHECK(code == Z_OK);  // the room is what zlib asks for
  packed.resize(size);
  return packed;
}

}  // namespace

Packed pack(std::string_view bytes) {
  const bool compresses = bytes.size() >= kPackedFrom;
  return {.size = static_cast<int64_t>(bytes.size()),
          .packed = compresses ? 1 : 0,
          .digest = digest_of(bytes),
          .bytes = compresses ? compressed(bytes) : std::string(bytes)};
}

Result<std::string> unpack(const Packed& packed) {
  std::string bytes =
      packed.packed != 0 ? std::string(static_cast<size_t>(packed.size), '\0') : packed.bytes;
  bool whole = static_cast<int64_t>(bytes.size()) == packed.size;
  if (packed.packed != 0) {
    uLongf got = bytes.size();
    const int code =
        uncompress(reinterpret_cast<Bytef*>(bytes.data()), &got,
                   reinterpret_cast<const Bytef*>(packed.bytes.data()), packed.bytes.size());
    whole = code == Z_OK && got == bytes.size();
  }
  if (!whole || digest_of(bytes) != packed.digest)
    return fail("store-corrupt", "a snapshot is damaged");
  return bytes;
}

Result<void> write_packed(const std::string& path, const Packed& packed) {
  const int64_t head[] = {packed.size, packed.packed, packed.digest};
  std::string file(reinterpret_cast<const char*>(head), sizeof head);
  return io::write_file(path, file += packed.bytes);
}

Result<Packed> read_packed(const std::string& path) {
  auto file = io::read_file(path, kFileMax);
  if (!file) return std::unexpected(file.error());
  int64_t head[3];
  if (file->size() < sizeof head) return fail("store-corrupt", "a snapshot is damaged");
  std::memcpy(head, file->data(), sizeof head);
  file->erase(0, sizeof head);
  return Packed{.size = head[0], .packed = head[1], .digest = head[2], .bytes = std::move(*file)};
}

}  // namespace fairlead::store
