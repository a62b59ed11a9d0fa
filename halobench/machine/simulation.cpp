#include "machine/simulation.hpp"

#include <mpi.h>

#include <stdexcept>

#ifdef HALOBENCH_SMPI
#include <simgrid/actor.h>
#include <simgrid/host.h>
#include <smpi/smpi.h>
#endif

namespace halobench {

#ifdef HALOBENCH_SMPI

bool simulated() { return true; }

// smpi_execute() is ignored with --cfg=smpi/simulate-computation:no; smpi_execute_flops() is not.
void charge(double seconds) { smpi_execute_flops(seconds * sg_host_get_speed(sg_host_self())); }

void pass_time(double seconds) { sg_actor_sleep_for(seconds); }

#else

bool simulated() { return false; }

void charge(double) { throw std::logic_error("time is charged only under simulation"); }

void pass_time(double) { throw std::logic_error("only simulated time can be passed"); }

#endif

}  // namespace halobench
