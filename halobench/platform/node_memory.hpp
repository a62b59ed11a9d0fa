// What the platform offers the program that it carries: a rank's computation on its node's memory.
#pragma once

namespace halobench {

/// The memory of a simulated node. It is what the data of a SimGrid host point to, where several
/// ranks share it; on other hosts there is none.
class NodeMemory {
 public:
  virtual ~NodeMemory() = default;

  /// The calling rank computes, on so many cores, for so many seconds if no message is copied
  /// meanwhile; returns how many more it took. bytes: what it moves of the memory then.
  virtual double compute(double seconds, double bytes, int cores) = 0;
};

}  // namespace halobench
