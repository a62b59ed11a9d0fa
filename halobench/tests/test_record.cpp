// SPDX-License-Identifier: BSD-3-Clause
// JSON as it is written.
#include <cstdint>
#include <limits>
#include <stdexcept>

#include "base/record.hpp"
#include "base/result.hpp"
#include "expect.hpp"

using halobench::Json;

namespace {

double zero() { return 0; }

void values_have_their_own_types() {
  expect::equal(Json().dump(), "null");
  expect::equal(Json(true).dump(), "true");
  expect::equal(Json("text").dump(), R"("text")");
  expect::equal(Json(7).dump(), "7");
  expect::equal(Json(std::numeric_limits<std::int64_t>::max()).dump(), "9223372036854775807");
  expect::equal(Json(std::numeric_limits<std::int64_t>::min()).dump(), "-9223372036854775808");
}

void doubles_read_back_as_they_were() {
  expect::equal(Json(0.1).dump(), "0.1");
  expect::equal(Json(1.0 / 3.0).dump(), "0.3333333333333333");
  expect::equal(Json(-0.0).dump(), "-0");
  expect::equal(Json(5e-324).dump(), "5e-324");
  expect::equal(Json(1.7976931348623157e308).dump(), "1.7976931348623157e+308");
}

void what_is_not_finite_is_missing() {
  expect::equal(Json(std::numeric_limits<double>::quiet_NaN()).dump(), "null");
  expect::equal(Json(-std::numeric_limits<double>::infinity()).dump(), "null");
}

void text_is_escaped() {
  expect::equal(Json("a\"b\\c/d").dump(), R"("a\"b\\c/d")");
  expect::equal(Json(std::string("\n\t\0\x1f", 4)).dump(), R"("\u000a\u0009\u0000\u001f")");
  expect::equal(Json("µs, Poisson’s").dump(), "\"µs, Poisson’s\"");
}

void containers_keep_their_order() {
  Json object = Json::object();
  object.set("z", 1).set("a", Json::array().push(Json()).push(2.5)).set("m\"", Json::object());
  expect::equal(object.dump(), R"({"z":1,"a":[null,2.5],"m\"":{}})");
  expect::equal(Json(std::vector<std::vector<int>>{{1, 2}, {}}).dump(), "[[1,2],[]]");
  expect::equal(Json::array().push(Json::verbatim(R"({"made":"elsewhere"})")).dump(),
                R"([{"made":"elsewhere"}])");
}

void an_object_knows_its_keys() {
  const Json object = Json::object().set("z", 1).set("a", Json()).set("n", 0.0 / zero());
  expect::equal(object.keys().size(), std::size_t{3});
  expect::equal(object.keys()[0], "z");
  expect::equal(object.at("z").dump(), "1");
  expect::is_true(object.at("a").is_null() && object.at("n").is_null(), "written as null");
  expect::is_true(object.at("other").is_null() && !object.at("z").is_null(), "is missing");
}

void kernels_find_what_they_declared() {
  using enum halobench::Result::Type;
  const std::vector<halobench::Result> declared{{"rate", real, "a rate", "B/s"},
                                                {"error", real, "an error", "", "null at times"}};
  const auto rate = [] { return Json::object().set("rate", 2.5); };
  halobench::require_declared(rate().set("error", Json()), declared);
  halobench::require_declared(rate(), declared);
  expect::throws<std::logic_error>(
      [&] { halobench::require_declared(Json::object().set("error", 1), declared); },
      "did not return a declared result: rate");
  expect::throws<std::logic_error>(
      [&] { halobench::require_declared(rate().set("speed", 1), declared); },
      "returned an undeclared result: speed");
  const std::vector<halobench::Result> count{{"bytes", integer, "a count", "B", "null at times"}};
  halobench::require_declared(Json::object().set("bytes", std::int64_t{32000000}), count);
  halobench::require_declared(Json::object().set("bytes", Json()), count);
  expect::throws<std::logic_error>(
      [&] { halobench::require_declared(Json::object().set("bytes", 3.2e7), count); },
      "returned a real for an integer result: bytes");
  expect::equal(declared[0].describe().dump(),
                R"({"name":"rate","type":"real","unit":"B/s","minimum":0,"maximum":null,)"
                R"("absent":null,"help":"a rate"})");
}

}  // namespace

int main() {
  an_object_knows_its_keys();
  kernels_find_what_they_declared();
  values_have_their_own_types();
  doubles_read_back_as_they_were();
  what_is_not_finite_is_missing();
  text_is_escaped();
  containers_keep_their_order();
  return expect::exit_code();
}
