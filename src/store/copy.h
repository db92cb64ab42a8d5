// A copy of a database of ours that may be trusted: every table and view in it is made from our own schema, and filled cell by
// cell.
#pragma once

#include <filesystem>

#include "store/sqlite.h"

namespace dlkprof::store {

// Fills `to`, an empty file opened with Access::build, with what the views show: the timeline and the newest
// aggregation. The file `from` may be hostile: of what it holds only cells are taken, blobs as NULL and text as valid UTF-8.
// Throws Error as read_timeline() does where the file is not one of ours.
void copy_newest(const std::filesystem::path& from, Connection& to);

}  // namespace dlkprof::store
