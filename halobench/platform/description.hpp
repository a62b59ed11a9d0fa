// SPDX-License-Identifier: BSD-3-Clause
// What a simulated cluster is, as its file for this program says it.
#pragma once

#include <cstddef>
#include <map>
#include <string>
#include <vector>

#include "machine/over_cores.hpp"

namespace halobench {

/// Levels of a fat tree, from the nodes up: below each switch, above each of those, side by side.
struct TreeLevel {
  unsigned int children;
  unsigned int parents;
  unsigned int links;
  /// What others' traffic leaves of the bandwidth of links up from a part of the tree, and down to
  /// it: by the number of that part among those of this level. All of it where there is none.
  std::map<unsigned long, double> left{};
};

/// Messages of more than so many bytes, as SMPI counts them: 16 bytes more than the program's own.
struct WithinNode {
  double above_bytes;
  double latency_s;
  double bandwidth_bytes_per_s;  ///< of one message, alone
};

/// The same between nodes: what the links' sum of latencies and least bandwidth are multiplied
/// with.
struct BetweenNodes {
  double above_bytes;
  double latency_factor;
  double bandwidth_factor;
};

/// Sockets of a node that have a memory each, and a link from each to each other.
struct Sockets {
  std::size_t count = 0;  ///< of a node; 0 where all of it has one memory
  OverCores memory;       ///< of one
  double link_bytes_per_s = 1;
  double link_latency_s = 0;
  std::vector<WithinNode> across;
  std::vector<std::vector<int>> ranks;  ///< of each node's, of each of its sockets
};

/// GPUs of a node, as many on each socket, in whose memories messages lie beside those of the
/// host's.
struct Gpus {
  /// Messages between two of them that lie to each other in one way.
  struct Way {
    double receive_s = 0;  ///< of the receiver's core, which takes one message after the other
    std::vector<WithinNode> rows;
  };
  std::size_t count = 0;  ///< of a node; 0 where all messages lie in the host's memory
  std::size_t sockets = 1;
  std::size_t seats = 1;        ///< of each GPU, for a rank
  double link_bytes_per_s = 1;  ///< from a socket to another, of all messages together
  Way same_gpu;
  Way same_socket;
  Way other_socket;
  std::vector<BetweenNodes> between;
  double receive_s = 0;                 ///< of the receiver's core, of messages between nodes
  std::vector<std::vector<int>> ranks;  ///< of each node's, of each of its sockets
};

/// Reads lines of
///   nodes COUNT HARDWARE_THREADS     places in the network, and what each has
///   fat_tree CHILDREN PARENTS LINKS  a level, from the nodes up; or
///   torus LENGTH                     of a dimension
///   left LEVEL PART SHARE            of links above a part of a tree: level 0 is that of nodes
///   link BYTES_PER_S LATENCY         of each link of the network, each way
///   within ABOVE LATENCY BYTES_PER_S the last one is that of the largest messages
///   between ABOVE LATENCY_FACTOR BANDWIDTH_FACTOR
///   overheads SEND RECEIVE           seconds of the cores at both ends of an eager message
///   cached BYTES                     messages within a node up to that stay in its caches
///   copied BYTES                     that the memory moves for each byte of a larger one
///   memory CORES BYTES_PER_S         what it gives to so many cores
///   ranks NODE COUNT                 of a node that has any
/// and, where nodes have several sockets, each with a memory of its own,
///   sockets COUNT                    of each node
///   socket_memory CORES BYTES_PER_S  what the memory of one gives to so many of its cores
///   socket_link BYTES_PER_S LATENCY  from one socket to another, each way
///   across ABOVE LATENCY BYTES_PER_S messages between sockets of a node, as `within`
///   seats NODE SOCKET COUNT          ranks of a socket that has any
/// and, where messages lie in the memory of GPUs, of which each rank then sits on one,
///   gpus COUNT SOCKETS BYTES_PER_S SEATS   of a node; between two sockets; ranks per GPU
///   same_gpu ABOVE LATENCY BYTES_PER_S     messages, as `within`: beside what their receives take
///   same_socket ABOVE LATENCY BYTES_PER_S
///   other_socket ABOVE LATENCY BYTES_PER_S
///   gpu_between ABOVE LATENCY_FACTOR BANDWIDTH_FACTOR    as `between`
///   receives SAME_GPU SAME_SOCKET OTHER_SOCKET OTHER_NODE    seconds of the receiver's core
///   gpu_seats NODE SOCKET COUNT            ranks on the GPUs of a socket that has any
/// Throws std::runtime_error naming file, line and key.
struct Description {
  static Description read(const std::string& path);

  unsigned int nodes = 0;
  int hardware_threads = 1;
  std::vector<TreeLevel> tree;
  std::vector<unsigned long> torus;
  double link_bytes_per_s = 1;
  double link_latency_s = 1;
  std::vector<WithinNode> within;
  std::vector<BetweenNodes> between;
  double send_s = 0;
  double receive_s = 0;
  double cached_bytes = 0;
  double copied = 1;
  OverCores memory;
  std::vector<int> ranks;  ///< of each node
  Sockets sockets;
  Gpus gpus;
};

}  // namespace halobench
