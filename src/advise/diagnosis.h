// Everything that the rules, the verdicts, the stalls and the occupancy say of a profile: what its database keeps beside it.
#pragma once

#include "model/diagnosis.h"
#include "model/profile.h"

namespace dlkprof::advise {

[[nodiscard]] model::Diagnosis diagnosis_of(const model::Profile& profile);

}  // namespace dlkprof::advise
