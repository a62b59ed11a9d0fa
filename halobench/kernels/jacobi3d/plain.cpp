// One sweep a pass, with ordinary stores or with streaming ones.
#include "kernels/jacobi3d/sweeper.hpp"
#include "machine/streaming.hpp"

namespace halobench::jacobi {
namespace {

template <class Value, bool streams>
class OneSweep : public Sweeper<Value> {
 public:
  explicit OneSweep(std::int64_t threads) : threads_(threads) {}

  void advance(const Mesh<Value>& from, const Mesh<Value>& to, const Box& target,
               std::int64_t /*one*/) override {
    constexpr auto row = streams ? relax_streaming<Value> : relax<Value>;
    in_threads(target, threads_, [&](const Box& box, std::int64_t) {
      const auto z = box[2];
      for (std::int64_t x = box[0].begin; x < box[0].end; ++x) {
        for (std::int64_t y = box[1].begin; y < box[1].end; ++y) {
          row(to.at(x, y, z.begin), from.planes(x, y), z.begin, z.size());
        }
      }
      if (streams) end_streaming();
    });
  }

 private:
  std::int64_t threads_;
};

template <class Value, bool streams>
std::unique_ptr<Sweeper<Value>> make(const Setting& setting, Memory& /*memory*/) {
  return std::make_unique<OneSweep<Value, streams>>(setting.threads);
}

std::int64_t no_memory(const Setting& /*setting*/) { return 0; }

}  // namespace

Variant plain() { return {"plain", false, 3, no_memory, make<double, false>, make<float, false>}; }

Variant streaming() {
  return {"streaming", false, 2, no_memory, make<double, true>, make<float, true>};
}

}  // namespace halobench::jacobi
