// One sweep a pass, with ordinary stores or with streaming ones.
#include <algorithm>
#include <array>

#include "kernels/jacobi3d/sweeper.hpp"
#include "machine/streaming.hpp"

namespace halobench::jacobi {
namespace {

template <class Value>
class OneSweep : public Sweeper<Value> {
 public:
  OneSweep(std::int64_t threads, bool streams) : threads_(threads), streams_(streams) {}

  void advance(const Mesh<Value>& from, const Mesh<Value>& to, const Box& target,
               std::int64_t /*one*/) override {
    in_threads(target, threads_, [&](const Box& box, std::int64_t) {
      for (std::int64_t x = box[0].begin; x < box[0].end; ++x) {
        for (std::int64_t y = box[1].begin; y < box[1].end; ++y) {
          if (streams_) {
            stream(to.at(x, y, 0), from.planes(x, y), box[2]);
          } else {
            relax(to.at(x, y, box[2].begin), from.planes(x, y), box[2].begin, box[2].size());
          }
        }
      }
      if (streams_) end_streaming();
    });
  }

 private:
  /// By way of a piece of the first cache: a streaming store must have all of a line at once.
  static void stream(Value* out, const Planes<Value>& from, const Range& z) {
    constexpr std::int64_t longest = page_bytes / sizeof(Value);
    alignas(line_bytes) std::array<Value, longest> row;
    for (std::int64_t k = z.begin; k < z.end; k += longest) {
      const auto count = std::min(longest, z.end - k);
      relax(row.data(), from, k, count);
      stream_row(out + k, row.data(), count);
    }
  }

  std::int64_t threads_;
  bool streams_;
};

template <class Value, bool streams>
std::unique_ptr<Sweeper<Value>> make(const Setting& setting, Memory& /*memory*/) {
  return std::make_unique<OneSweep<Value>>(setting.threads, streams);
}

std::int64_t no_memory(const Setting& /*setting*/) { return 0; }

}  // namespace

Variant plain() { return {"plain", false, 3, no_memory, make<double, false>, make<float, false>}; }

Variant streaming() {
  return {"streaming", false, 2, no_memory, make<double, true>, make<float, true>};
}

}  // namespace halobench::jacobi
