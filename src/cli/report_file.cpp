#include "cli/report_file.h"

#include <cstdint>
#include <span>

#include "base/long_file.h"
#include "base/new_file.h"

namespace dlkprof::cli {

void write_pieces(const std::filesystem::path& path, bool replace, const std::function<void(const report::Sink&)>& produce) {
  NewFile file(path);
  LongFile out(file.fd(), path);
  produce([&out](std::string_view piece) {
    out.write(std::span(reinterpret_cast<const std::uint8_t*>(piece.data()), piece.size()));
  });
  file.move_to_target(replace);
}

}  // namespace dlkprof::cli
