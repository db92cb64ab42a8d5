// Memory that SQLite keeps, so that it asks AddressSanitizer for less: most of its time goes there else.
#pragma once

#include <sqlite3.h>

#include "fuzz/scratch.h"

namespace dlkprof::fuzz {

// Before SQLite is used.
inline void keep_memory_of_sqlite() {
  constexpr int kPieceBytes = 1200, kPieces = 500;
  require(sqlite3_config(SQLITE_CONFIG_MEMSTATUS, 0) == SQLITE_OK);
  require(sqlite3_config(SQLITE_CONFIG_LOOKASIDE, kPieceBytes, kPieces) == SQLITE_OK);
}

}  // namespace dlkprof::fuzz
