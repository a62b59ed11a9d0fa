// SPDX-License-Identifier: BSD-3-Clause
// What a kernel finds: declared once, described as JSON, and checked where a record is read.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/record.hpp"

namespace halobench {

/// One name in a record's `result`, or in that of a point: its meaning, unit, and what it may be.
struct Result {
  /// integers: a list. extents: text such as 12x10x9. surface: samples of a square.
  enum class Type { integer, real, text, integers, extents, surface };

  // Not inline: kernels declare many of them, which takes a compiler long.
  Result(std::string_view name, Type type, std::string_view help, std::string_view unit = {},
         std::string_view absent = {}, std::optional<double> minimum = 0,
         std::optional<double> maximum = {});
  Result(const Result& other);
  Result(Result&& other) noexcept;
  Result& operator=(const Result& other);
  Result& operator=(Result&& other) noexcept;
  ~Result();

  std::string name;
  Type type;
  std::string help;
  std::string unit;
  std::string absent;  ///< when it is null or missing; empty: never
  std::optional<double> minimum;
  std::optional<double> maximum;

  Json describe() const;
};

/// logic_error where `found` has a name that is not declared, lacks one that is always there, or
/// has a real for an integer.
void require_declared(const Json& found, const std::vector<Result>& declared);

}  // namespace halobench
