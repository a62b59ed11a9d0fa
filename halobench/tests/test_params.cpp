// SPDX-License-Identifier: BSD-3-Clause
// Parameters: what is typed, what is refused and how.
#include <sstream>

#include "base/params.hpp"
#include "expect.hpp"

using halobench::Parameter;
using halobench::Params;
using halobench::Problem;

namespace {

std::vector<Parameter> declared() {
  using enum Parameter::Type;
  return {{"n", integer, "8", "points", "", 1, 1e6},
          {"shift", integer, "-2", "either way"},
          {"tolerance", real, "1e-6", "residual", "", 0},
          {"most", real, "1", "no minimum", "", {}, 2},
          {"mode", choice, "fast", "how", "", {}, {}, {"fast", "slow"}},
          {"sizes", sizes, "0:4", "messages", "B", 0, 1 << 30}};
}

struct Parsed {
  std::vector<Problem> problems;
  Params params;

  explicit Parsed(const std::vector<std::string>& arguments)
      : params(declared(), arguments, problems) {}
};

std::string sizes_of(const std::string& text) {
  const Parsed parsed({"sizes=" + text});
  std::ostringstream out;
  for (const auto size : parsed.params.sizes("sizes")) out << size << " ";
  return (parsed.problems.empty() ? "" : "refused: ") + out.str();
}

/// Exactly one problem, in these words; the parameter keeps its default.
void refused(const std::string& argument, const std::string& message,
             std::source_location where = std::source_location::current()) {
  const Parsed parsed({argument});
  expect::equal(parsed.problems.size(), 1U, where);
  if (parsed.problems.empty()) return;
  const auto& problem = parsed.problems[0];
  const auto equals = argument.find('=');
  expect::equal(problem.key, argument.substr(0, equals), where);
  expect::equal(problem.value,
                equals == std::string::npos ? std::string() : argument.substr(equals + 1), where);
  expect::equal(problem.message, message, where);
  expect::equal(parsed.params.resolved({}).dump(), Parsed({}).params.resolved({}).dump(), where);
}

void what_a_kernel_chose_stands_for_what_was_given() {
  const auto chosen = Parsed({"n=7"}).params.resolved({{"n", "9"}, {"mode", "slow"}});
  expect::contains(chosen.dump(), R"({"n":9,"shift":-2,)");
  expect::contains(chosen.dump(), R"("mode":"slow")");
}

void defaults_are_resolved_with_their_types() {
  expect::equal(Parsed({}).params.resolved({}).dump(),
                R"({"n":8,"shift":-2,"tolerance":1e-06,"most":1,"mode":"fast","sizes":"0:4"})");
}

void typed_values_are_taken() {
  const Parsed parsed({"n=3K", "shift=-5", "tolerance=0.25", "mode=slow", "sizes=1K,2M"});
  expect::equal(parsed.problems.size(), 0U);
  expect::equal(parsed.params.integer("n"), 3072);
  expect::equal(parsed.params.integer("shift"), -5);
  expect::equal(parsed.params.real("tolerance"), 0.25);
  expect::equal(parsed.params.choice("mode"), "slow");
  enum class Mode { fast, slow };
  expect::is_true(parsed.params.chosen<Mode>("mode") == Mode::slow, "a choice is an enumerator");
  expect::equal(Parsed({"shift=8000000000G"}).params.integer("shift"), 8000000000LL << 30);
}

void whole_numbers_are_refused() {
  const std::string n = "give an integer from 1 to 1e+06";
  for (const std::string text : {"0", "-1", "2M", "1.5", "1e3", "", "K", "4KK", "x", "+4", " 4",
                                 "4 ", "0x10", "9223372036854775808", "9999999999G"}) {
    refused("n=" + text, n);
  }
  refused("shift=9007199254740993K", "give an integer");
  refused("shift=-9223372036854775809", "give an integer");
}

void numbers_are_refused() {
  for (const std::string text : {"-1", "one", "", "nan", "inf", "1e999", "1,5", "1K"}) {
    refused("tolerance=" + text, "give a number of at least 0");
  }
  refused("most=2.5", "give a number of at most 2");
}

void words_are_refused() {
  refused("mode=Fast", "give one of fast, slow");
  refused("mode=", "give one of fast, slow");
}

void sizes_are_read() {
  expect::equal(sizes_of("8"), "8 ");
  expect::equal(sizes_of("0:4"), "0 1 2 4 ");
  expect::equal(sizes_of("0:0"), "0 ");
  expect::equal(sizes_of("3:20"), "3 6 12 ");
  expect::equal(sizes_of("1K,2K:8K,5,1M"), "5 1024 2048 4096 8192 1048576 ");
  expect::equal(sizes_of("8:32,32:64,8"), "8 16 32 64 ");
}

void sizes_are_refused() {
  const std::string message =
      "; give sizes from 0 to 1073741824 bytes, such as 8,64,1K or 8:4M (doubling; K, M, G for "
      "2^10, 2^20, 2^30)";
  const std::vector<std::pair<std::string, std::string>> wrong{
      {"", "'' is not an integer below 2^63"},
      {",", "'' is not an integer below 2^63"},
      {"1,", "'' is not an integer below 2^63"},
      {"1,,2", "'' is not an integer below 2^63"},
      {"8,4:2,64", "'4:2' ends below its start"},
      {"-1", "'-1' is below 0"},
      {"1:", "'' is not an integer below 2^63"},
      {":1", "'' is not an integer below 2^63"},
      {"1:2:3", "'2:3' is not an integer below 2^63"},
      {"8,a", "'a' is not an integer below 2^63"},
      {"8,2G,64", "'2G' names 2147483648 bytes"},
      {"8,1:2G", "'1:2G' names 2147483648 bytes"},
      {"1:9223372036854775807", "'9223372036854775807' is not an integer below 2^63"},
      {"1:99999999999999999999", "'99999999999999999999' is not an integer below 2^63"},
  };
  for (const auto& [text, why] : wrong) refused("sizes=" + text, why + message);
}

void the_longest_doubling_does_not_overflow() {
  std::vector<Problem> problems;
  const std::vector<std::string> arguments{"sizes=1:9000000000000000000"};
  const Params params({{"sizes", Parameter::Type::sizes, "1", "no maximum"}}, arguments, problems);
  const auto sizes = params.sizes("sizes");
  expect::equal(sizes.size(), 63U);
  expect::equal(sizes.back(), std::int64_t{1} << 62);
}

void unknown_keys_name_the_known() {
  const std::string known =
      "no such parameter; give key=value, known: n, shift, tolerance, most, mode, sizes";
  refused("m=4", known);
  refused("n", known);
  refused("=4", known);
}

void all_problems_come_at_once() {
  const Parsed parsed({"n=0", "colour=red", "mode=slow", "sizes=x"});
  expect::equal(parsed.problems.size(), 3U);
  expect::equal(parsed.params.choice("mode"), "slow");
}

/// Also where both values are the same, or the first one is refused; the first one stands.
void a_key_is_given_once() {
  for (const std::string first : {"n=5", "n=6"}) {
    const Parsed parsed({first, "mode=slow", "n=6"});
    expect::equal(parsed.problems.size(), 1U);
    if (parsed.problems.empty()) continue;
    expect::equal(parsed.problems[0].key, "n");
    expect::equal(parsed.problems[0].value, "6");
    expect::equal(parsed.problems[0].message, "given more than once; give one value");
    expect::equal("n=" + std::to_string(parsed.params.integer("n")), first);
  }
  expect::equal(Parsed({"n=0", "n=6"}).problems.size(), 2U);
  expect::equal(Parsed({"n=5", "shift=5"}).problems.size(), 0U);
}

void undeclared_parameters_are_a_kernels_mistake() {
  const Parsed parsed({});
  expect::throws<std::logic_error>([&] { parsed.params.integer("m"); }, "undeclared parameter: m");
  expect::throws<std::logic_error>([&] { parsed.params.real("n"); }, "undeclared parameter: n");
}

void parameters_describe_themselves() {
  expect::equal(declared()[0].describe().dump(),
                R"({"name":"n","type":"integer","default":8,"minimum":1,"maximum":1e+06,)"
                R"("choices":[],"unit":null,"help":"points"})");
  expect::equal(declared()[4].describe().dump(),
                R"({"name":"mode","type":"choice","default":"fast","minimum":null,"maximum":null,)"
                R"("choices":["fast","slow"],"unit":null,"help":"how"})");
  expect::contains(declared()[5].describe().dump(), R"("type":"sizes","default":"0:4")");
  expect::contains(declared()[5].describe().dump(), R"("unit":"B")");
}

}  // namespace

int main() {
  what_a_kernel_chose_stands_for_what_was_given();
  defaults_are_resolved_with_their_types();
  typed_values_are_taken();
  whole_numbers_are_refused();
  numbers_are_refused();
  words_are_refused();
  sizes_are_read();
  sizes_are_refused();
  the_longest_doubling_does_not_overflow();
  unknown_keys_name_the_known();
  all_problems_come_at_once();
  a_key_is_given_once();
  undeclared_parameters_are_a_kernels_mistake();
  parameters_describe_themselves();
  return expect::exit_code();
}
