// SPDX-License-Identifier: BSD-3-Clause
// What a computational phase costs on a node, from its bytes, flops and working set.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "machine/over_cores.hpp"
#include "machine/slowness.hpp"

namespace halobench {

/// What a computational phase moves and computes on one rank, declared from the algorithm.
struct Traffic {
  double bytes = 0;  ///< read and written, as a memory of infinite latency-hiding sees it
  double flops = 0;
  double working_set_bytes = 0;  ///< what is touched again the next time round
  double stored_bytes = 0;       ///< of `bytes`: written, and read only to be overwritten
  double regions = 1;            ///< that its threads begin and end; 0: one does it all
};

/// What it takes of a rank: its time, and bytes that the memory moves for it meanwhile.
struct Cost {
  double seconds = 0;
  double memory_bytes = 0;
};

/// A cache level as the model sees it.
struct CacheLevel {
  double size_bytes;             ///< of one instance
  double shared_by;              ///< cores that share an instance
  double bandwidth_bytes_per_s;  ///< of one core, alone
  double crowded_bytes_per_s;    ///< of one core, when all of its socket work
};

/// What a device takes of its host and for its own works: seconds, bytes per second.
struct DeviceModel {
  double memory_bytes_per_s = 1;  ///< of its memory, to all kernels together
  double copy_bytes_per_s = 1;    ///< between its memory and the host's, each way
  double launch_s = 0;            ///< of the host, for a kernel or a copy
  double latency_s = 0;           ///< of a launched one, before its bytes move
  double stream_sync_s = 0;       ///< of the host, beside waiting: for a stream or an event ...
  double device_sync_s = 0;       ///< ... or for all streams
  double query_s = 0;             ///< to ask which memory an address is of
  double operation_s = 0;  ///< of the host, in each operation of a library on its memory, besides
  double ranks = 1;        ///< that share it, each with its part
};

/// time = max(flops / core rate, sum over levels of bytes from there / bandwidth there) + regions,
/// each what it takes to begin and end one, where a rank has several threads.
///
/// A sweep over a working set of w bytes that has a share of s < w bytes in the last cache finds
/// (s / w)^sharpness of them there: replacement that is not strictly by age keeps a part of what is
/// swept over. With a knee, what just fits is not all found: lines share sets by chance. What a
/// core has of the level below adds to its share of a last cache that does not repeat it. The
/// caches below the last replace by age, and have nothing left of a sweep that is larger than they
/// are. So a case speeds up smoothly, and more than in proportion, as more ranks share it out.
/// Cores in use are spread over the sockets and the instances of a cache evenly; or, if packed,
/// they fill one socket before the next, and all is as slow as on the fullest. The memory's
/// bandwidth is interpolated between the numbers of cores it is given for; so are rates of a core,
/// between one alone on its socket and a full one. Packed threads of a rank that reaches beyond a
/// socket fill the first one, whose memory then works longest; where there are ranks for all
/// sockets, each keeps to its own. Where hardware threads share cores, all wait for those that do.
/// The memory's bandwidth is that of stream's loops together, half of whose bytes are stored or
/// fetched for that: where these take another time than loaded ones, as no core waits for them,
/// phases with more or less of them do so, too. Where a socket's memory is given, a core has its
/// part of that, by the threads in use on its socket alone.
class NodeModel {
 public:
  /// Reads lines of
  ///   core_flops_per_s ALONE CROWDED
  ///   cores COUNT SOCKETS            of a node
  ///   memory CORES BYTES_PER_S       any number of them
  ///   socket CORES BYTES_PER_S       of one's own memory, any number; else the node's is shared
  ///   cache SIZE SHARED_BY ALONE CROWDED    of each level; bytes per second of a core
  ///   stores CORES COST              of the memory: what a stored byte takes over a loaded one,
  ///                                  for each number of cores that `memory` has; else 1
  ///   region THREADS SECONDS         to begin and end a parallel region of so many; else 0
  ///   beside                         the last cache does not repeat what the level below it holds
  ///   sharpness EXPONENT             of the last cache; else 1
  ///   knee EXPONENT                  how little a working set is rounded off that just fits the
  ///                                  last cache: of it 2^(-1 / EXPONENT) are found; else all
  ///   smt_gain FACTOR                what the threads of a core do, over what one does; else 1
  ///   packed [THREADS]               ranks fill one socket before the next, with so many threads
  ///                                  on each core; one if not said. Else spread
  ///   spread NODES PHASES SEED       how far the nodes of this launch lie apart; else not at all
  ///   slowest FACTOR                 what its slowest node is expected to take, over the one in
  ///   the
  ///                                  middle, where all ranks wait for that; else 1
  ///   resume SECONDS                 of a rank that goes on after a communication; else 0
  ///   device MEMORY COPY LAUNCH LATENCY STREAM_SYNC DEVICE_SYNC QUERY OPERATION RANKS
  ///                                  as a DeviceModel has them; else there is none
  /// Throws UsageError naming file, line and key.
  static NodeModel read(const std::string& path);

  /// For one rank, with `threads` cores of its own, `ranks_on_node` such ranks per node, and so
  /// many on its socket; not said, as many as on the fullest.
  Cost cost(const Traffic& traffic, int ranks_on_node, int threads,
            std::optional<int> ranks_on_socket = {}) const;

  /// How far nodes lie apart: `cost` is that of the one in the middle.
  const Spread& spread() const { return spread_; }

  /// What a rank takes to go on after each communication, beside that: none where it is bound.
  double resume_s() const { return resume_s_; }

  /// The device of each rank; none where nodes have none.
  const std::optional<DeviceModel>& device() const { return device_; }

  /// The seconds of it.
  double seconds(const Traffic& traffic, int ranks_on_node, int threads) const {
    return cost(traffic, ranks_on_node, threads).seconds;
  }

 private:
  /// How a node's cores are in use.
  struct Use {
    double packed;     ///< threads side by side on the fullest socket; 1 where they are spread
    double busy;       ///< threads, if all sockets had as many as the fullest
    double crowd;      ///< of the fullest socket: 0 for one core in use, 1 for all
    double of_a_core;  ///< threads that are packed on one
    double own;        ///< what a thread has of a core: less than one where threads share cores
    double on_socket;  ///< threads on the rank's
    bool spans;  ///< has a packed rank more threads than a socket has cores, and none of its own?
  };

  Use use(int ranks_on_node, int threads, std::optional<int> ranks_on_socket) const;
  /// The part of a sweep that the last cache finds, which has room for so much of the working set.
  double found_in_last(double share) const;
  /// Threads that share an instance of a cache, at the mean over these.
  double sharing(const CacheLevel& cache, const Use& use) const;
  /// Of a byte that is swept over: memory_bytes is the part of it that no cache has.
  Cost cost_per_byte(const Traffic& traffic, const Use& use, int threads) const;
  /// What a byte of it takes of the memory, over one of stream's.
  double weight(const Traffic& traffic, double cores) const;

  double core_flops_per_s_ = 0;
  double crowded_flops_per_s_ = 0;
  double cores_ = 0;
  double sockets_ = 0;
  double sharpness_ = 1;
  double knee_ = 0;      ///< 0: none
  bool beside_ = false;  ///< the last cache and the level below: do they hold different data?
  double smt_gain_ = 1;
  double packed_ = 0;  ///< threads on each core of a socket that is filled; 0 where spread
  double resume_s_ = 0;
  Spread spread_;
  OverCores memory_;   ///< bytes per second
  OverCores socket_;   ///< of one's memory; empty where the node has one for all
  OverCores stores_;   ///< of a stored byte, in loaded ones
  OverCores regions_;  ///< seconds
  std::vector<CacheLevel> caches_;
  std::optional<DeviceModel> device_;
};

}  // namespace halobench
