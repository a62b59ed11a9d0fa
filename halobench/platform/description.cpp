// SPDX-License-Identifier: BSD-3-Clause
#include "platform/description.hpp"

#include <fstream>
#include <functional>
#include <map>
#include <sstream>
#include <stdexcept>

namespace halobench {
namespace {

/// The numbers of a line, one after the other.
class Numbers {
 public:
  Numbers(std::istringstream& line, std::string where) : line_(line), where_(std::move(where)) {}

  double next() {
    double value = 0;
    if (!(line_ >> value) || value < 0) throw std::runtime_error(where_ + ": give a number from 0");
    return value;
  }

  template <typename Integer>
  Integer count() {
    return static_cast<Integer>(next());
  }

 private:
  std::istringstream& line_;
  std::string where_;
};

WithinNode message_of(Numbers& line) {
  const double above = line.next();
  const double latency = line.next();
  return {above, latency, line.next()};
}

BetweenNodes message_between(Numbers& line) {
  const double above = line.next();
  const double latency = line.next();
  return {above, latency, line.next()};
}

using Keys = std::map<std::string, std::function<void(Description&, Numbers&)>>;

const Keys& keys() {
  static const Keys known{
      {"nodes",
       [](auto& one, auto& line) {
         one.nodes = line.template count<unsigned int>();
         one.hardware_threads = line.template count<int>();
         one.ranks.resize(one.nodes);
       }},
      {"fat_tree",
       [](auto& one, auto& line) {
         const auto children = line.template count<unsigned int>();
         const auto parents = line.template count<unsigned int>();
         one.tree.push_back({children, parents, line.template count<unsigned int>()});
       }},
      {"left",
       [](auto& one, auto& line) {
         const auto level = line.template count<std::size_t>();
         const auto part = line.template count<unsigned long>();
         one.tree.at(level).left[part] = line.next();
       }},
      {"torus",
       [](auto& one, auto& line) { one.torus.push_back(line.template count<unsigned long>()); }},
      {"link",
       [](auto& one, auto& line) {
         one.link_bytes_per_s = line.next();
         one.link_latency_s = line.next();
       }},
      {"within", [](auto& one, auto& line) { one.within.push_back(message_of(line)); }},
      {"between", [](auto& one, auto& line) { one.between.push_back(message_between(line)); }},
      {"gpu_between",
       [](auto& one, auto& line) { one.gpus.between.push_back(message_between(line)); }},
      {"overheads",
       [](auto& one, auto& line) {
         one.send_s = line.next();
         one.receive_s = line.next();
       }},
      {"cached", [](auto& one, auto& line) { one.cached_bytes = line.next(); }},
      {"copied", [](auto& one, auto& line) { one.copied = line.next(); }},
      {"memory",
       [](auto& one, auto& line) {
         const double cores = line.next();
         one.memory.add(cores, line.next());
       }},
      {"ranks",
       [](auto& one, auto& line) {
         const auto node = line.template count<std::size_t>();
         one.ranks.at(node) = line.template count<int>();
       }},
      {"sockets",
       [](auto& one, auto& line) {
         one.sockets.count = line.template count<std::size_t>();
         one.sockets.ranks.assign(one.nodes, std::vector<int>(one.sockets.count));
       }},
      {"socket_memory",
       [](auto& one, auto& line) {
         const double cores = line.next();
         one.sockets.memory.add(cores, line.next());
       }},
      {"socket_link",
       [](auto& one, auto& line) {
         one.sockets.link_bytes_per_s = line.next();
         one.sockets.link_latency_s = line.next();
       }},
      {"across", [](auto& one, auto& line) { one.sockets.across.push_back(message_of(line)); }},
      {"seats",
       [](auto& one, auto& line) {
         const auto node = line.template count<std::size_t>();
         const auto socket = line.template count<std::size_t>();
         one.sockets.ranks.at(node).at(socket) = line.template count<int>();
       }},
      {"gpus",
       [](auto& one, auto& line) {
         one.gpus.count = line.template count<std::size_t>();
         one.gpus.sockets = line.template count<std::size_t>();
         one.gpus.link_bytes_per_s = line.next();
         one.gpus.seats = line.template count<std::size_t>();
         one.gpus.ranks.assign(one.nodes, std::vector<int>(one.gpus.sockets));
       }},
      {"same_gpu",
       [](auto& one, auto& line) { one.gpus.same_gpu.rows.push_back(message_of(line)); }},
      {"same_socket",
       [](auto& one, auto& line) { one.gpus.same_socket.rows.push_back(message_of(line)); }},
      {"other_socket",
       [](auto& one, auto& line) { one.gpus.other_socket.rows.push_back(message_of(line)); }},
      {"receives",
       [](auto& one, auto& line) {
         for (auto* way : {&one.gpus.same_gpu, &one.gpus.same_socket, &one.gpus.other_socket}) {
           way->receive_s = line.next();
         }
         one.gpus.receive_s = line.next();
       }},
      {"gpu_seats",
       [](auto& one, auto& line) {
         const auto node = line.template count<std::size_t>();
         const auto socket = line.template count<std::size_t>();
         one.gpus.ranks.at(node).at(socket) = line.template count<int>();
       }},
  };
  return known;
}

}  // namespace

Description Description::read(const std::string& path) {
  std::ifstream file(path);
  if (!file) throw std::runtime_error(path + ": cannot read this file");
  Description read;
  std::string text;
  for (int number = 1; std::getline(file, text); ++number) {
    std::istringstream line(text);
    std::string key;
    if (!(line >> key)) continue;
    const auto where = path + ":" + std::to_string(number) + ": " + key;
    const auto known = keys().find(key);
    if (known == keys().end()) throw std::runtime_error(where + ": no such key");
    Numbers numbers(line, where);
    known->second(read, numbers);
  }
  if (read.nodes == 0 || read.within.empty() || read.between.empty() || read.memory.empty()) {
    throw std::runtime_error(path + ": nodes, within, between and memory are all needed");
  }
  if (read.sockets.count > 0 && (read.sockets.memory.empty() || read.sockets.across.empty())) {
    throw std::runtime_error(path + ": sockets need socket_memory and across");
  }
  for (const auto* way : {&read.gpus.same_gpu, &read.gpus.same_socket, &read.gpus.other_socket}) {
    if (read.gpus.count > 0 && (way->rows.empty() || read.gpus.between.empty())) {
      throw std::runtime_error(path +
                               ": gpus need same_gpu, same_socket, other_socket and gpu_between");
    }
  }
  return read;
}

}  // namespace halobench
