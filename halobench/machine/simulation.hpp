// The one place that knows whether this binary runs on a real machine or under SimGrid's SMPI.
#pragma once

namespace halobench {

/// True in a binary built with smpicxx: time is simulated, and must be charged for.
bool simulated();

/// Advances this rank's simulated clock. Only for simulated binaries.
void charge(double seconds);

/// Waits on the simulated clock without using a core. Only for simulated binaries.
void pass_time(double seconds);

}  // namespace halobench
