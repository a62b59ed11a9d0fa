// SPDX-License-Identifier: BSD-3-Clause
#include "base/params.hpp"

#include <algorithm>
#include <charconv>
#include <cmath>
#include <limits>
#include <stdexcept>

#include "base/as_size.hpp"

namespace halobench {
namespace {

std::string join(const std::vector<std::string>& words) {
  std::string out;
  for (const auto& word : words) out += (out.empty() ? "" : ", ") + word;
  return out;
}

/// An integer with an optional suffix K, M, or G; nothing if it is not one or overflows.
std::optional<std::int64_t> parse_integer(std::string_view text) {
  std::int64_t scale = 1;
  if (!text.empty()) {
    const auto suffix = std::string_view("KMG").find(text.back());
    if (suffix != std::string_view::npos) {
      scale = std::int64_t{1} << (10 * (suffix + 1));
      text.remove_suffix(1);
    }
  }
  std::int64_t value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc{} || end != text.data() + text.size()) return std::nullopt;
  if (std::abs(static_cast<double>(value)) * static_cast<double>(scale) > 9.0e18)
    return std::nullopt;
  return value * scale;
}

std::optional<double> parse_real(std::string_view text) {
  double value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc{} || end != text.data() + text.size() || !std::isfinite(value)) {
    return std::nullopt;
  }
  return value;
}

/// The sizes that one item of a list names, "8" or "8:4M", or why it names none.
struct Item {
  std::vector<std::int64_t> sizes;
  std::string wrong;
};

/// "a:b" doubles from a to b; 0 is followed by 1.
Item parse_item(std::string_view item) {
  const auto colon = item.find(':');
  const auto low = item.substr(0, colon);
  const auto high = colon == std::string_view::npos ? low : item.substr(colon + 1);
  for (const auto text : {low, high}) {
    if (!parse_integer(text))
      return {{}, '\'' + std::string(text) + "' is not an integer below 2^63"};
  }
  const auto first = *parse_integer(low);
  const auto last = *parse_integer(high);
  if (last < first) return {{}, '\'' + std::string(item) + "' ends below its start"};
  if (first < 0) return {{}, '\'' + std::string(item) + "' is below 0"};
  Item found;
  for (std::int64_t size = first; size <= last; size = size == 0 ? 1 : 2 * size) {
    found.sizes.push_back(size);
    if (size > last / 2 && size != 0) break;  // doubling once more would pass it, or overflow
  }
  return found;
}

/// The items of a list "a,b:c,d".
std::vector<std::string_view> split(std::string_view text) {
  std::vector<std::string_view> items;
  while (true) {
    const auto comma = text.find(',');
    items.push_back(text.substr(0, comma));
    if (comma == std::string_view::npos) return items;
    text.remove_prefix(comma + 1);
  }
}

/// All sizes of a list that is known to be right, each once: 8:4K,4K:64K names one of them twice.
std::vector<std::int64_t> parse_sizes(std::string_view text) {
  std::vector<std::int64_t> sizes;
  for (const auto item : split(text)) {
    const auto own = parse_item(item).sizes;
    sizes.insert(sizes.end(), own.begin(), own.end());
  }
  std::ranges::sort(sizes);
  sizes.erase(std::ranges::unique(sizes).begin(), sizes.end());
  return sizes;
}

std::string number(double value) { return Json(value).dump(); }

std::string range(const Parameter& parameter) {
  if (parameter.minimum && parameter.maximum) {
    return " from " + number(*parameter.minimum) + " to " + number(*parameter.maximum);
  }
  if (parameter.minimum) return " of at least " + number(*parameter.minimum);
  if (parameter.maximum) return " of at most " + number(*parameter.maximum);
  return "";
}

bool in_range(const Parameter& parameter, double value) {
  return value >= parameter.minimum.value_or(-std::numeric_limits<double>::infinity()) &&
         value <= parameter.maximum.value_or(std::numeric_limits<double>::infinity());
}

/// The first item of a list that is not allowed, why, and what is.
std::optional<std::string> refuse_sizes(const Parameter& parameter, const std::string& text) {
  const std::string unit = parameter.unit == "B" ? " bytes" : "";
  for (const auto item : split(text)) {
    auto [sizes, wrong] = parse_item(item);
    for (const auto size : sizes) {
      if (wrong.empty() && !in_range(parameter, static_cast<double>(size))) {
        wrong = '\'' + std::string(item) + "' names " + std::to_string(size) + unit;
      }
    }
    if (!wrong.empty()) {
      return wrong + "; give sizes" + range(parameter) + unit +
             ", such as 8,64,1K or 8:4M (doubling; K, M, G for 2^10, 2^20, 2^30)";
    }
  }
  return std::nullopt;
}

/// What is allowed, if `text` is not.
std::optional<std::string> refuse(const Parameter& parameter, const std::string& text) {
  switch (parameter.type) {
    case Parameter::Type::integer: {
      const auto value = parse_integer(text);
      if (value && in_range(parameter, static_cast<double>(*value))) return std::nullopt;
      return "give an integer" + range(parameter);
    }
    case Parameter::Type::real: {
      const auto value = parse_real(text);
      if (value && in_range(parameter, *value)) return std::nullopt;
      return "give a number" + range(parameter);
    }
    case Parameter::Type::choice:
      if (std::ranges::find(parameter.choices, text) != parameter.choices.end())
        return std::nullopt;
      return "give one of " + join(parameter.choices);
    case Parameter::Type::sizes:
      return refuse_sizes(parameter, text);
    case Parameter::Type::text:
    case Parameter::Type::file:
      return std::nullopt;
  }
  return std::nullopt;
}

const char* type_name(Parameter::Type type) {
  switch (type) {
    case Parameter::Type::integer:
      return "integer";
    case Parameter::Type::real:
      return "real";
    case Parameter::Type::choice:
      return "choice";
    case Parameter::Type::sizes:
      return "sizes";
    case Parameter::Type::text:
      return "text";
    case Parameter::Type::file:
      return "file";
  }
  return "";
}

Json typed(const Parameter& parameter, const std::string& text) {
  if (parameter.type == Parameter::Type::integer) return *parse_integer(text);
  if (parameter.type == Parameter::Type::real) return *parse_real(text);
  return text;
}

}  // namespace

Words::Words(std::initializer_list<const char*> words) : all(words.begin(), words.end()) {}
Words::Words(std::vector<std::string> words) : all(std::move(words)) {}

Parameter::Parameter(std::string_view name_, Type type_, std::string_view fallback_,
                     std::string_view help_, std::string_view unit_, std::optional<double> minimum_,
                     std::optional<double> maximum_, const Words& choices_)
    : name(name_),
      type(type_),
      fallback(fallback_),
      help(help_),
      unit(unit_),
      minimum(minimum_),
      maximum(maximum_),
      choices(choices_.all) {}
Parameter Parameter::one_of(std::string_view name, std::string_view fallback, std::string_view help,
                            const Words& choices) {
  return {name, Type::choice, fallback, help, {}, {}, {}, choices};
}
Parameter::Parameter(const Parameter& other) = default;
Parameter::Parameter(Parameter&& other) noexcept = default;
Parameter& Parameter::operator=(const Parameter& other) = default;
Parameter& Parameter::operator=(Parameter&& other) noexcept = default;
Parameter::~Parameter() = default;

Json Parameter::describe() const {
  Json out = Json::object();
  out.set("name", name).set("type", type_name(type)).set("default", typed(*this, fallback));
  out.set("minimum", minimum ? Json(*minimum) : Json());
  out.set("maximum", maximum ? Json(*maximum) : Json());
  out.set("choices", choices).set("unit", unit.empty() ? Json() : Json(unit)).set("help", help);
  return out;
}

Params::Params(std::vector<Parameter> declared, std::span<const std::string> arguments,
               std::vector<Problem>& problems, std::string folder)
    : declared_(std::move(declared)), folder_(std::move(folder)) {
  for (const auto& parameter : declared_) values_.push_back(parameter.fallback);
  std::vector<std::string> given;
  for (const auto& argument : arguments) set(argument, given, problems);
}

void Params::set(const std::string& argument, std::vector<std::string>& given,
                 std::vector<Problem>& problems) {
  const auto equals = argument.find('=');
  const auto key = argument.substr(0, equals);
  const auto text = equals == std::string::npos ? std::string() : argument.substr(equals + 1);
  const auto found = std::ranges::find(declared_, key, &Parameter::name);
  if (equals == std::string::npos || found == declared_.end()) {
    std::vector<std::string> names;
    for (const auto& parameter : declared_) names.push_back(parameter.name);
    problems.push_back({key, text, "no such parameter; give key=value, known: " + join(names)});
  } else if (std::ranges::count(given, key) > 0) {
    problems.push_back({key, text, "given more than once; give one value"});
  } else if (const auto allowed = refuse(*found, text)) {
    problems.push_back({key, text, *allowed});
  } else {
    values_[as_size(found - declared_.begin())] = text;
  }
  given.push_back(key);
}

const std::string& Params::value(std::string_view name, Parameter::Type type) const {
  const auto found = std::ranges::find(declared_, name, &Parameter::name);
  if (found == declared_.end() || found->type != type) {
    throw std::logic_error("a kernel reads an undeclared parameter: " + std::string(name));
  }
  return values_[as_size(found - declared_.begin())];
}

std::ptrdiff_t Params::place_of_choice(std::string_view name) const {
  const auto& text = choice(name);
  const auto& choices = std::ranges::find(declared_, name, &Parameter::name)->choices;
  return std::ranges::find(choices, text) - choices.begin();
}

std::int64_t Params::integer(std::string_view name) const {
  return *parse_integer(value(name, Parameter::Type::integer));
}

double Params::real(std::string_view name) const {
  return *parse_real(value(name, Parameter::Type::real));
}

const std::string& Params::choice(std::string_view name) const {
  return value(name, Parameter::Type::choice);
}

const std::string& Params::text(std::string_view name) const {
  return value(name, Parameter::Type::text);
}

const std::string& Params::file(std::string_view name) const {
  return value(name, Parameter::Type::file);
}

std::string Params::path(std::string_view name) const {
  return (folder_.empty() ? "" : folder_ + "/") + file(name);
}

std::vector<std::int64_t> Params::sizes(std::string_view name) const {
  return parse_sizes(value(name, Parameter::Type::sizes));
}

Json Params::resolved(const Choices& choices) const {
  Json out = Json::object();
  for (std::size_t i = 0; i < declared_.size(); ++i) {
    const auto& name = declared_[i].name;
    const auto chosen = choices.find(name);
    out.set(name, typed(declared_[i], chosen == choices.end() ? values_[i] : chosen->second));
  }
  return out;
}

}  // namespace halobench
