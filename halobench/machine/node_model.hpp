// What a computational phase costs on a node, from its bytes, flops and working set.
#pragma once

#include <string>
#include <vector>

namespace halobench {

/// What a computational phase moves and computes on one rank, declared from the algorithm.
struct Traffic {
  double bytes = 0;  ///< read and written, as a memory of infinite latency-hiding sees it
  double flops = 0;
  double working_set_bytes = 0;  ///< what is touched again the next time round
};

/// A cache level as the model sees it.
struct CacheLevel {
  double size_bytes;             ///< of one instance
  double shared_by;              ///< cores that share an instance
  double bandwidth_bytes_per_s;  ///< of one core
};

/// time = max(flops / core rate, bytes / bandwidth). The bandwidth is that of the smallest cache
/// level whose share holds the working set; for memory min(core's, node's / cores in use).
class NodeModel {
 public:
  /// Reads "key value" lines (core_flops_per_s, core_bandwidth_bytes_per_s,
  /// node_bandwidth_bytes_per_s, and any number of "cache SIZE SHARED_BY BANDWIDTH").
  /// Throws UsageError naming file, line and key.
  static NodeModel read(const std::string& path);

  /// Seconds for one rank, with `threads` cores of its own, `ranks_on_node` such ranks a node.
  double seconds(const Traffic& traffic, int ranks_on_node, int threads) const;

 private:
  double bandwidth(double working_set_bytes, int ranks_on_node, int threads) const;

  double core_flops_per_s_ = 0;
  double core_bandwidth_ = 0;
  double node_bandwidth_ = 0;
  std::vector<CacheLevel> caches_;
};

}  // namespace halobench
