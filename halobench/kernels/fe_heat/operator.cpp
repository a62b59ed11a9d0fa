// SPDX-License-Identifier: BSD-3-Clause
#include "kernels/fe_heat/operator.hpp"

namespace halobench::heat {

double operator_memory(const std::string& name, const Part& part) {
  if (name == "matrix_free") return 0;
  const auto entries = static_cast<double>(count_nonzeros(part));
  return 12 * entries + 16 * static_cast<double>(part.rows()) + 8;
}

std::unique_ptr<Operator> make_operator(const std::string& name, const Context& context,
                                        const Part& part) {
  if (name == "matrix_free") return make_matrix_free(part);
  return make_csr(context, part);
}

}  // namespace halobench::heat
