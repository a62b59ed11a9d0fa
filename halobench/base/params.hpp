// SPDX-License-Identifier: BSD-3-Clause
// Parameters of a kernel: declared once, parsed from key=value, described as JSON.
#pragma once

#include <cstdint>
#include <initializer_list>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/record.hpp"
#include "base/usage_error.hpp"

namespace halobench {

/// Words that are written down, or were made.
struct Words {
  Words(std::initializer_list<const char*> words);
  Words(std::vector<std::string> words);
  /// The names of some values.
  template <class Named>
  Words(const std::vector<Named>& values) {
    for (const auto& one : values) all.push_back(one.name);
  }

  std::vector<std::string> all;
};

/// A parameter that a kernel takes: its meaning, unit, default and what is allowed.
struct Parameter {
  /// file: a word that the kernel knows, or the name of a file in the folder of --files.
  enum class Type { integer, real, choice, sizes, text, file };

  // Not inline: kernels declare hundreds of them, which takes a compiler long.
  Parameter(std::string_view name, Type type, std::string_view fallback, std::string_view help,
            std::string_view unit = {}, std::optional<double> minimum = {},
            std::optional<double> maximum = {}, const Words& choices = {});
  /// A choice.
  static Parameter one_of(std::string_view name, std::string_view fallback, std::string_view help,
                          const Words& choices);
  Parameter(const Parameter& other);
  Parameter(Parameter&& other) noexcept;
  Parameter& operator=(const Parameter& other);
  Parameter& operator=(Parameter&& other) noexcept;
  ~Parameter();

  std::string name;
  Type type;
  std::string fallback;  ///< the default, as it would be typed
  std::string help;
  std::string unit;
  std::optional<double> minimum;
  std::optional<double> maximum;
  std::vector<std::string> choices;

  Json describe() const;
};

/// Values by parameter, as they could have been typed.
using Choices = std::map<std::string, std::string, std::less<>>;

/// What a user typed, checked against the declared parameters; missing ones take their defaults.
class Params {
 public:
  /// Parses `arguments` (each key=value, no key twice). What is wrong is appended to `problems`,
  /// naming the valid keys or values; the parameter concerned then keeps its default, or the value
  /// that it was given first. `folder` has the files.
  Params(std::vector<Parameter> declared, std::span<const std::string> arguments,
         std::vector<Problem>& problems, std::string folder = {});

  std::int64_t integer(std::string_view name) const;
  double real(std::string_view name) const;
  const std::string& choice(std::string_view name) const;
  /// Which choice, as they are declared: an index, or an enumeration that has them in that order.
  template <class Place>
  Place chosen(std::string_view name) const {
    return static_cast<Place>(place_of_choice(name));
  }
  /// As it was typed; its kernel's plan checks it.
  const std::string& text(std::string_view name) const;
  /// As it was typed; and where such a file lies.
  const std::string& file(std::string_view name) const;
  std::string path(std::string_view name) const;
  /// Sizes in bytes, ascending as given: "8,64,1K" or "8:4M" (doubling), K, M, G = 2^10, 2^20,
  /// 2^30.
  std::vector<std::int64_t> sizes(std::string_view name) const;

  /// All of them by name, with their types; those that are among `choices` as there.
  Json resolved(const Choices& choices) const;

 private:
  const std::string& value(std::string_view name, Parameter::Type type) const;
  std::ptrdiff_t place_of_choice(std::string_view name) const;
  /// `given`: the keys of the arguments before it.
  void set(const std::string& argument, std::vector<std::string>& given,
           std::vector<Problem>& problems);

  std::vector<Parameter> declared_;
  std::vector<std::string> values_;
  std::string folder_;
};

}  // namespace halobench
