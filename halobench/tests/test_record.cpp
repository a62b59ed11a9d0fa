// JSON as it is written.
#include <cstdint>
#include <limits>

#include "base/record.hpp"
#include "expect.hpp"

using halobench::Json;

namespace {

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

}  // namespace

int main() {
  values_have_their_own_types();
  doubles_read_back_as_they_were();
  what_is_not_finite_is_missing();
  text_is_escaped();
  containers_keep_their_order();
  return expect::exit_code();
}
