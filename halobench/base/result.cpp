// SPDX-License-Identifier: BSD-3-Clause
#include "base/result.hpp"

#include <algorithm>
#include <stdexcept>

namespace halobench {
namespace {

const char* type_name(Result::Type type) {
  switch (type) {
    case Result::Type::integer:
      return "integer";
    case Result::Type::real:
      return "real";
    case Result::Type::text:
      return "text";
    case Result::Type::integers:
      return "integers";
    case Result::Type::extents:
      return "extents";
    case Result::Type::surface:
      return "surface";
  }
  return "";
}

}  // namespace

Result::Result(std::string_view name_, Type type_, std::string_view help_, std::string_view unit_,
               std::string_view absent_, std::optional<double> minimum_,
               std::optional<double> maximum_)
    : name(name_),
      type(type_),
      help(help_),
      unit(unit_),
      absent(absent_),
      minimum(minimum_),
      maximum(maximum_) {}
Result::Result(const Result& other) = default;
Result::Result(Result&& other) noexcept = default;
Result& Result::operator=(const Result& other) = default;
Result& Result::operator=(Result&& other) noexcept = default;
Result::~Result() = default;

Json Result::describe() const {
  const bool number = type != Type::text && type != Type::extents;
  return Json::object()
      .set("name", name)
      .set("type", type_name(type))
      .set("unit", unit.empty() ? Json() : Json(unit))
      .set("minimum", number && minimum ? Json(*minimum) : Json())
      .set("maximum", number && maximum ? Json(*maximum) : Json())
      .set("absent", absent.empty() ? Json() : Json(absent))
      .set("help", help);
}

void require_declared(const Json& found, const std::vector<Result>& declared) {
  for (const auto& name : found.keys()) {
    if (std::ranges::find(declared, name, &Result::name) == declared.end()) {
      throw std::logic_error("a kernel returned an undeclared result: " + name);
    }
  }
  for (const auto& result : declared) {
    const auto& value = found.at(result.name);
    if (result.absent.empty() && value.is_null()) {
      throw std::logic_error("a kernel did not return a declared result: " + result.name);
    }
    if (result.type == Result::Type::integer && value.is_real() && !value.is_null()) {
      throw std::logic_error("a kernel returned a real for an integer result: " + result.name);
    }
  }
}

}  // namespace halobench
