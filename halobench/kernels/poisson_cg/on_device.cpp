// SPDX-License-Identifier: BSD-3-Clause
#include "kernels/poisson_cg/on_device.hpp"

#include <algorithm>
#include <vector>

#include "device/divisor.hpp"
#include "kernels/poisson_cg/product.hpp"
#include "kernels/star_forest/space.hpp"
#include "star_forest/device_space.hpp"
#include "star_forest/star_forest.hpp"

namespace halobench::cg {
namespace {

constexpr std::int64_t item = sizeof(double);
constexpr double dot_bytes = 16;
constexpr double update_bytes = 24;
constexpr double product_bytes = Product::bytes - not_fetched_bytes;

/// How a rank's points lie in its vectors there: row by row, with a halo of one point all around.
struct Padded {
  std::int64_t rows;
  std::int64_t cols;
  Divisor along_row;

  explicit Padded(const Rectangle& place)
      : rows(place.rows.size()), cols(place.cols.size()), along_row(cols, rows * cols) {}

  HALOBENCH_ANYWHERE std::int64_t stride() const { return cols + 2; }
  HALOBENCH_ANYWHERE std::int64_t at(std::int64_t row, std::int64_t col) const {
    return (row + 1) * stride() + col + 1;
  }
  /// Where a point is that is counted row by row.
  HALOBENCH_ANYWHERE std::int64_t at(std::int64_t point) const {
    const auto row = along_row.quotient(point);
    return at(row, point - row * cols);
  }
  std::int64_t points() const { return rows * cols; }
  std::int64_t size() const { return (rows + 2) * stride(); }
};

/// p = r + beta p
struct Turn {
  Padded padded;
  double* p;
  const double* r;
  double beta;

  HALOBENCH_ANYWHERE void operator()(std::int64_t point) const {
    const auto k = padded.at(point);
    p[k] = r[k] + beta * p[k];
  }
};

/// y += factor x
struct Add {
  Padded padded;
  double* y;
  const double* x;
  double factor;

  HALOBENCH_ANYWHERE void operator()(std::int64_t point) const {
    const auto k = padded.at(point);
    y[k] += factor * x[k];
  }
};

/// q = A p
struct Multiply {
  Padded padded;
  double* q;
  const double* p;

  HALOBENCH_ANYWHERE void operator()(std::int64_t point) const {
    const auto k = padded.at(point);
    const auto down = padded.stride();
    q[k] = 4.0 * p[k] - p[k - down] - p[k + down] - p[k - 1] - p[k + 1];
  }
};

/// Values of a sum.
constexpr std::int64_t piece = 512;

/// One at least: that of no values is 0.
std::int64_t pieces_of(std::int64_t values) {
  return std::max<std::int64_t>(1, (values + piece - 1) / piece);
}

/// Sums of pieces of as many values.
struct Pieces {
  std::int64_t values;
  double* sums;

  HALOBENCH_ANYWHERE std::int64_t begin(std::int64_t i) const { return i * piece; }
  HALOBENCH_ANYWHERE std::int64_t end(std::int64_t i) const {
    const auto end = (i + 1) * piece;
    return end < values ? end : values;
  }
  HALOBENCH_ANYWHERE void put(std::int64_t i, double sum) const { sums[i] = sum; }
};

/// Of the products of two vectors.
struct Products : Pieces {
  Padded padded;
  const double* a;
  const double* b;

  HALOBENCH_ANYWHERE double term(std::int64_t /*i*/, std::int64_t point) const {
    const auto k = padded.at(point);
    return a[k] * b[k];
  }
};

/// Of sums.
struct Sums : Pieces {
  const double* values_of;

  HALOBENCH_ANYWHERE double term(std::int64_t /*i*/, std::int64_t k) const { return values_of[k]; }
};

/// All sums, until one is left.
std::int64_t all_pieces_of(std::int64_t values) {
  const auto pieces = pieces_of(values);
  return pieces > 1 ? pieces + all_pieces_of(pieces) : pieces;
}

class TextbookOnDevice : public Solver {
 public:
  TextbookOnDevice(const Context& context, Domain& domain, const SpaceMaker& make_space)
      : context_(context),
        domain_(domain),
        space_(make_space(context.meter, context.memory)),
        device_(*space_->on_device()),
        padded_(domain.place()),
        matvec_(context.meter.phase("matvec")),
        halo_(context.meter.phase("halo")),
        dots_(context.meter.phase("dots")),
        updates_(context.meter.phase("updates")),
        reduce_(context.meter.phase("reduce")),
        x_(space_->allocate<double>(padded_.size())),
        r_(space_->allocate<double>(padded_.size())),
        p_(space_->allocate<double>(padded_.size())),
        q_(space_->allocate<double>(padded_.size())),
        sums_(space_->allocate<double>(all_pieces_of(padded_.points()))),
        sum_(device_.allocate_stage(item)),
        whole_(context.memory.allocate<double>(padded_.size())) {
    connect();
  }

  void take_start() override {
    std::ranges::fill(whole_.span(), 0.0);
    for (auto* vector : {&x_, &p_, &q_}) put(*vector);
    each_row(&Strip::r, [&](double* row, std::int64_t at) {
      std::copy_n(row, padded_.cols, whole_.data() + at);
    });
    put(r_);
  }

  void give_solution() override {
    space_->copy_out(x_.data(), whole_.data(), padded_.size() * item);
    each_row(&Strip::x, [&](double* row, std::int64_t at) {
      std::copy_n(whole_.data() + at, padded_.cols, row);
    });
  }

  std::string device() const override { return device_.device().name(); }

  void solve(Progress& progress) override {
    double rho = inner_product(r_, r_);
    double beta = 0;
    while (progress.wants_more(rho)) {
      launch(updates_, update_bytes, 8, 2, Turn{padded_, reach(p_), reach(r_), beta});
      exchange();
      launch(matvec_, product_bytes, Product::stored - not_fetched_bytes, Product::flops,
             Multiply{padded_, reach(q_), reach(p_)});
      const double alpha = rho / inner_product(p_, q_);
      launch(updates_, update_bytes, 8, 2, Add{padded_, reach(x_), reach(p_), alpha});
      launch(updates_, update_bytes, 8, 2, Add{padded_, reach(r_), reach(q_), -alpha});
      const double next = inner_product(r_, r_);
      beta = next / rho;
      rho = next;
    }
  }

  Work work(std::int64_t iterations) const override {
    const auto points = static_cast<double>(padded_.points());
    const auto count = static_cast<double>(iterations);
    const double bytes = product_bytes + 1.5 * dot_bytes + 3 * update_bytes;
    return {points * (bytes * count + dot_bytes / 2), points * ((Product::flops + 10) * count + 2),
            count * static_cast<double>(forest_->bcast_sent().messages)};
  }

 private:
  using Vector = SpaceArray<double>;

  /// A halo point is the leaf of the point that it is a copy of, on the rank that has it.
  void connect() {
    std::vector<Root> edges;
    std::vector<std::int64_t> leaves;
    const auto& cut = domain_.cut();
    const int rank = context_.comm.rank();
    const auto meet = [&](std::size_t axis, int step) {
      const int other = cut.ranks.neighbour(rank, axis, step);
      if (other == MPI_PROC_NULL) return;
      const Padded theirs(cut.place(other));
      const bool below = axis == vertical;
      for (std::int64_t k = 0; k < (below ? padded_.cols : padded_.rows); ++k) {
        const auto own = step < 0 ? -1 : (below ? padded_.rows : padded_.cols);
        const auto root = step > 0 ? 0 : (below ? theirs.rows : theirs.cols) - 1;
        leaves.push_back(below ? padded_.at(own, k) : padded_.at(k, own));
        edges.push_back({other, below ? theirs.at(root, k) : theirs.at(k, root)});
      }
    };
    for (const auto axis : {vertical, horizontal}) {
      for (const int step : {-1, 1}) meet(axis, step);
    }
    forest_ = std::make_unique<StarForest>(context_.comm, *space_, padded_.size(), edges, leaves);
  }

  template <class Body>
  void each_row(halobench::cg::Vector vector, const Body& body) const {
    for (const auto& strip : domain_.strips()) {
      for (std::int64_t i = 0; i < strip.rows(); ++i) {
        body((strip.*vector).row(i), padded_.at(domain_.first_row(strip) + i, 0));
      }
    }
  }

  void put(const Vector& vector) {
    space_->copy_in(whole_.data(), vector.data(), padded_.size() * item);
  }

  double* reach(const Vector& vector) const {
    return static_cast<double*>(device_.device().reach(static_cast<void*>(vector.data())));
  }

  /// bytes, written, flops: of a point.
  Traffic traffic(double bytes, double written, double flops) const {
    const auto points = static_cast<double>(padded_.points());
    return {bytes * points, flops * points, 4 * item * points, written * points};
  }

  /// What a phase takes is what it takes to launch.
  template <class Body>
  void launch(Phase& phase, double bytes, double written, double flops, const Body& body) {
    context_.meter.communicate(phase, [&] {
      launch_over(device_.device(), device_.users_stream(), padded_.points(),
                  traffic(bytes, written, flops), body);
    });
  }

  void exchange() {
    context_.meter.communicate(halo_, [&] {
      forest_->bcast_begin(Unit::of<double>(), p_.data(), p_.data());
      forest_->bcast_end(Unit::of<double>(), p_.data(), p_.data());
    });
  }

  /// Its own sum is on the host when the stream has been waited for. A GPU is busy with many short
  /// sums, and with few long ones it is not.
  double inner_product(const Vector& a, const Vector& b) {
    auto& device = device_.device();
    const auto stream = device_.users_stream();
    double sum = 0;
    context_.meter.communicate(dots_, [&] {
      auto count = pieces_of(padded_.points());
      std::int64_t begin = 0;  // of the last sums, as many as `count`
      launch_sums(device, stream, count, padded_.points(), traffic(dot_bytes, 0, 2),
                  Products{{padded_.points(), reach(sums_)}, padded_, reach(a), reach(b)});
      while (count > 1) {
        const auto* values = reach(sums_) + begin;
        begin += count;
        launch_sums(device, stream, pieces_of(count), count,
                    {static_cast<double>(item * count), 0, 0, 0},
                    Sums{{count, reach(sums_) + begin}, values});
        count = pieces_of(count);
      }
      device.copy_out(stream, sums_.data() + begin, sum_.data(), item);
      device.synchronise(stream);
      sum = *static_cast<const double*>(static_cast<const void*>(sum_.data()));
    });
    context_.meter.communicate(reduce_, [&] { sum = context_.comm.sum(sum); });
    return sum;
  }

  const Context context_;
  Domain& domain_;
  std::unique_ptr<Space> space_;
  DeviceSpace& device_;
  const Padded padded_;
  Phase& matvec_;
  Phase& halo_;
  Phase& dots_;
  Phase& updates_;
  Phase& reduce_;
  Vector x_;
  Vector r_;
  Vector p_;
  Vector q_;
  Vector sums_;  ///< of pieces, then of pieces of these, and so on
  Buffer<std::byte> sum_;
  Buffer<double> whole_;  ///< one vector, in the layout of that memory
  std::unique_ptr<StarForest> forest_;
};

}  // namespace

std::unique_ptr<Solver> textbook_on_device(const Context& context, const MemorySettings& memory,
                                           Domain& domain, const SpaceMaker& make_space) {
  return std::make_unique<TextbookOnDevice>(
      context, domain, make_space ? make_space : chosen_memory(context, memory));
}

}  // namespace halobench::cg
