// SPDX-License-Identifier: BSD-3-Clause
// JSON out: the only interface between halobench and the laboratory.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <variant>
#include <vector>

namespace halobench {

/// A JSON value that can be built and written. Objects keep the order of insertion.
/// A double that is not finite is written as null: missing is missing, never 0.
class Json {
 public:
  Json();
  Json(bool value);
  Json(int value);
  Json(std::int64_t value);
  Json(double value);
  Json(std::string value);
  Json(std::string_view value);
  Json(const char* value);
  template <class Item>
  Json(const std::vector<Item>& items) : Json(Array(items.begin(), items.end())) {}
  // Not inline: records are made of hundreds of them, which takes a compiler long.
  Json(const Json& other);
  Json(Json&& other) noexcept;
  Json& operator=(const Json& other);
  Json& operator=(Json&& other) noexcept;
  ~Json();

  static Json array();
  static Json object();
  /// JSON text made elsewhere (on another rank), put in as it is.
  static Json verbatim(std::string text);

  Json& push(Json item);
  Json& set(std::string_view key, Json item);

  /// The keys of an object, in their order.
  std::vector<std::string> keys() const;
  /// What an object has at a key; null where it has no such key.
  const Json& at(std::string_view key) const;
  /// Whether it is written as null.
  bool is_null() const;
  /// Whether it is a double, which is written with an exponent where that is shorter: 3.2e+07.
  bool is_real() const;

  std::string dump() const;

 private:
  struct Verbatim {
    std::string text;
  };
  using Array = std::vector<Json>;
  using Object = std::vector<std::pair<std::string, Json>>;

  explicit Json(Array items);
  explicit Json(Object items);
  explicit Json(Verbatim text);
  void write(std::string& out) const;

  std::variant<std::monostate, bool, std::int64_t, double, std::string, Array, Object, Verbatim>
      value_;
};

}  // namespace halobench
