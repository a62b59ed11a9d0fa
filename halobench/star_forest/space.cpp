// SPDX-License-Identifier: BSD-3-Clause
#include "star_forest/space.hpp"

namespace halobench {

MPI_Datatype Unit::mpi_type() const {
  if (type_ == Type::real64) return MPI_DOUBLE;
  return type_ == Type::real32 ? MPI_FLOAT : MPI_INT32_T;
}

}  // namespace halobench
