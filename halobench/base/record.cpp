// SPDX-License-Identifier: BSD-3-Clause
#include "base/record.hpp"

#include <array>
#include <charconv>
#include <cmath>
#include <cstdio>

namespace halobench {
namespace {

void write_string(std::string& out, std::string_view text) {
  out += '"';
  for (const char c : text) {
    if (c == '"' || c == '\\') {
      out += '\\';
      out += c;
    } else if (static_cast<unsigned char>(c) < 0x20) {
      std::array<char, 8> escaped{};
      std::snprintf(escaped.data(), escaped.size(), "\\u%04x", static_cast<unsigned>(c));
      out += escaped.data();
    } else {
      out += c;
    }
  }
  out += '"';
}

void write_number(std::string& out, double value) {
  if (!std::isfinite(value)) {
    out += "null";
    return;
  }
  std::array<char, 32> text{};  // the shortest text that reads back as the same double
  const auto end = std::to_chars(text.data(), text.data() + text.size(), value).ptr;
  out.append(text.data(), end);
}

template <class... Cases>
struct Overloaded : Cases... {
  using Cases::operator()...;
};

}  // namespace

Json::Json() = default;
Json::Json(bool value) : value_(value) {}
Json::Json(int value) : value_(std::int64_t{value}) {}
Json::Json(std::int64_t value) : value_(value) {}
Json::Json(double value) : value_(value) {}
Json::Json(std::string value) : value_(std::move(value)) {}
Json::Json(std::string_view value) : value_(std::string(value)) {}
Json::Json(const char* value) : value_(std::string(value)) {}
Json::Json(Array items) : value_(std::move(items)) {}
Json::Json(Object items) : value_(std::move(items)) {}
Json::Json(Verbatim text) : value_(std::move(text)) {}
Json::Json(const Json& other) = default;
Json::Json(Json&& other) noexcept = default;
Json& Json::operator=(const Json& other) = default;
Json& Json::operator=(Json&& other) noexcept = default;
Json::~Json() = default;

Json Json::array() { return Json(Array{}); }
Json Json::object() { return Json(Object{}); }
Json Json::verbatim(std::string text) { return Json(Verbatim{std::move(text)}); }

Json& Json::push(Json item) {
  std::get<Array>(value_).push_back(std::move(item));
  return *this;
}

Json& Json::set(std::string_view key, Json item) {
  std::get<Object>(value_).emplace_back(key, std::move(item));
  return *this;
}

std::vector<std::string> Json::keys() const {
  std::vector<std::string> found;
  for (const auto& [key, item] : std::get<Object>(value_)) found.push_back(key);
  return found;
}

const Json& Json::at(std::string_view key) const {
  static const Json nothing;
  for (const auto& [name, item] : std::get<Object>(value_)) {
    if (name == key) return item;
  }
  return nothing;
}

bool Json::is_null() const {
  const auto* number = std::get_if<double>(&value_);
  return std::holds_alternative<std::monostate>(value_) ||
         (number != nullptr && !std::isfinite(*number));
}

bool Json::is_real() const { return std::holds_alternative<double>(value_); }

std::string Json::dump() const {
  std::string out;
  write(out);
  return out;
}

void Json::write(std::string& out) const {
  const auto write_array = [&out](const Array& items) {
    out += '[';
    for (std::size_t i = 0; i < items.size(); ++i) {
      if (i > 0) out += ',';
      items[i].write(out);
    }
    out += ']';
  };
  const auto write_object = [&out](const Object& items) {
    out += '{';
    for (std::size_t i = 0; i < items.size(); ++i) {
      if (i > 0) out += ',';
      write_string(out, items[i].first);
      out += ':';
      items[i].second.write(out);
    }
    out += '}';
  };
  std::visit(Overloaded{
                 [&out](std::monostate) { out += "null"; },
                 [&out](bool value) { out += value ? "true" : "false"; },
                 [&out](std::int64_t value) { out += std::to_string(value); },
                 [&out](double value) { write_number(out, value); },
                 [&out](const std::string& text) { write_string(out, text); },
                 write_array,
                 write_object,
                 [&out](const Verbatim& verbatim) { out += verbatim.text; },
             },
             value_);
}

}  // namespace halobench
