#include "base/error.h"

namespace dlkprof {

std::string Error::message() const {
  std::string text = what();
  if (!detail_.empty()) text += ": " + detail_;
  if (!remedy_.empty()) text += "\n  " + remedy_;
  return text;
}

}  // namespace dlkprof
