#include "store/open.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <map>
#include <string>
#include <system_error>

#include "base/error.h"
#include "base/file.h"
#include "base/text.h"
#include "store/database.h"
#include "store/schema.h"

namespace dlkprof::store {
namespace {

namespace fs = std::filesystem;

constexpr std::string_view kMagic("SQLite format 3\0", 16);  // www.sqlite.org/fileformat.html, 1.3

// How a file is, as far as can be said without SQLite.
struct Glance {
  int error = 0;  // errno
  bool regular = false, magic = false;
  std::int64_t bytes = 0;
};

Glance glance(const fs::path& path) noexcept {
  // O_NONBLOCK: opening a pipe that nobody writes to must not hang.
  const UniqueFd file(open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY));
  struct stat status {};
  if (!file || fstat(file.get(), &status) != 0) return {.error = errno};
  Glance seen{.regular = S_ISREG(status.st_mode), .bytes = status.st_size};
  std::array<char, kMagic.size()> start{};
  seen.magic = seen.regular && pread(file.get(), start.data(), start.size(), 0) == static_cast<ssize_t>(start.size()) &&
               std::string_view(start.data(), start.size()) == kMagic;
  return seen;
}

std::string cannot_open(const fs::path& path) { return "cannot open the database " + printable(path.native()); }

Error not_ours(const fs::path& path, std::string detail) {
  return {cannot_open(path), std::move(detail), "Give a capture (.dlkcap) or a database (_dldb.sqlite) that dlkprof wrote."};
}

void check_identity(const Connection& connection, const fs::path& path) {
  const std::int64_t application = connection.number("PRAGMA application_id");
  if (application != kApplicationId)
    throw not_ours(path, fmt::format("an SQLite database of another program (application id {:#x})", application));
  const std::int64_t version = connection.number("PRAGMA user_version");
  if (version == kSchemaVersion) return;
  throw Error(cannot_open(path), fmt::format("its schema has version {}; this dlkprof reads version {}", version, kSchemaVersion),
              version > kSchemaVersion ? "Use a dlkprof as new as the one that wrote it."
                                       : "Make it again from the captures: dlkprof --database=<capture>");
}

// A table of the same name but with other columns, or a view that never ends, would not keep what we rely on.
void check_tables(const Connection& connection, const fs::path& path) {
  std::map<std::string, std::string, std::less<>> found;
  Statement schema = connection.prepare("SELECT name, sql FROM sqlite_schema WHERE type = 'table'");
  while (schema.step()) found.emplace(schema.text(0), schema.text(1));
  for (const std::span<const Table> tables : {timeline_tables(), aggregation_tables()}) {
    for (const Table& table : tables) {
      const auto entry = found.find(table.name);
      if (entry != found.end() && entry->second == create_statement(table)) continue;
      throw Error(cannot_open(path),
                  fmt::format("table {} is {}", table.name, entry == found.end() ? "missing" : "not as written"),
                  "It was changed or is damaged: make it again from the captures.");
    }
  }
}

}  // namespace

bool is_database(const fs::path& path) noexcept { return glance(path).magic; }

OpenDatabase open_ours(const fs::path& path, Access access) {
  const Glance seen = glance(path);
  if (seen.error != 0) {
    throw Error(cannot_open(path), std::generic_category().message(seen.error),
                seen.error == ENOENT ? "Check the path: a part of it does not exist." : "Check its permissions.");
  }
  if (!seen.regular) throw not_ours(path, "not a regular file");
  if (!seen.magic) throw not_ours(path, "not an SQLite database");
  OpenDatabase database{Connection(path, access), path, seen.bytes};
  if (access == Access::read) database.connection.limit_length(seen.bytes);
  check_identity(database.connection, path);
  check_tables(database.connection, path);
  return database;
}

}  // namespace dlkprof::store
