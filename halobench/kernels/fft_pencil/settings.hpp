// SPDX-License-Identifier: BSD-3-Clause
// The kernel's parameters: declared, and parsed into one value.
#pragma once

#include <vector>

#include "kernel.hpp"
#include "kernels/fft_pencil/exchange.hpp"
#include "kernels/fft_pencil/pencils.hpp"
#include "kernels/fft_pencil/sweeps.hpp"

namespace halobench::fft {

/// The parameters of a case on a given number of ranks and threads.
struct Settings {
  Pencils pencils;
  Transpose transpose;
  Layout layout;
  Planning planning;
};

std::vector<Parameter> parameters();

/// Appends what is wrong with the pencils to `problems`; all else is accepted.
Settings parse_settings(const Params& params, const Shape& shape, std::vector<Problem>& problems);

}  // namespace halobench::fft
