// SPDX-License-Identifier: BSD-3-Clause
#include "kernels/spmv/on_device.hpp"

#include <cstdint>

#include "star_forest/device_space.hpp"

namespace halobench {
namespace {

/// Rows times x, each a sum: neighbouring threads take neighbouring nonzeros.
struct Rows {
  Csr a;
  const double* x;

  HALOBENCH_ANYWHERE std::int64_t begin(std::int64_t row) const { return a.begin[row]; }
  HALOBENCH_ANYWHERE std::int64_t end(std::int64_t row) const { return a.begin[row + 1]; }
  HALOBENCH_ANYWHERE double term(std::int64_t /*row*/, std::int64_t k) const {
    return a.values[k] * x[a.columns[k]];
  }
};

struct Product : Rows {
  double* y;

  HALOBENCH_ANYWHERE void put(std::int64_t row, double sum) const { y[row] = sum; }
};

/// Of a matrix without its empty rows.
struct ProductAdded : Rows {
  const std::int32_t* places;
  double* y;

  HALOBENCH_ANYWHERE void put(std::int64_t row, double sum) const { y[places[row]] += sum; }
};

struct Added {
  const std::int32_t* places;
  const double* z;
  double* y;

  HALOBENCH_ANYWHERE void operator()(std::int64_t row) const { y[places[row]] += z[row]; }
};

class Products : public ProductsOnDevice {
 public:
  Products(DeviceSpace& space, const DistributedCsr& matrix, bool temporary);

  double* x() const override { return x_.data(); }
  double* ghosts() const override { return ghosts_.data(); }
  void set(const double* x, const double* y, const double* ghosts) override;
  void fetch(double* y) const override;
  void diagonal(const Traffic& traffic) override;
  void off_diagonal(const Traffic& traffic) override;
  void add(const Traffic& traffic) override;
  void synchronise() const override { space_.device().synchronise(space_.users_stream()); }

 private:
  struct Block {
    SpaceArray<std::int64_t> begin;
    SpaceArray<std::int32_t> columns;
    SpaceArray<double> values;
  };

  template <class Value>
  SpaceArray<Value> placed(const Value* values, std::int64_t count);
  template <class Value>
  Value* reach(const SpaceArray<Value>& array) const;
  Csr view(const Block& block) const;

  DeviceSpace& space_;
  CsrCounts counts_;
  bool temporary_;
  Stream beside_;       ///< of the product into a vector of its own
  Event ghosts_there_;  ///< where they are copied from the host's memory
  Event product_there_;
  Block diagonal_;
  Block off_diagonal_;
  SpaceArray<std::int32_t> coupled_rows_;
  SpaceArray<double> x_;
  SpaceArray<double> y_;
  SpaceArray<double> ghosts_;
  SpaceArray<double> z_;  ///< what is to be added
};

Products::Products(DeviceSpace& space, const DistributedCsr& matrix, bool temporary)
    : space_(space),
      counts_(matrix.counts()),
      temporary_(temporary),
      beside_(space.device().new_stream()),
      ghosts_there_(space.device().new_event()),
      product_there_(space.device().new_event()),
      x_(space.allocate<double>(counts_.rows)),
      y_(space.allocate<double>(counts_.rows)),
      ghosts_(space.allocate<double>(counts_.ghosts)),
      z_(space.allocate<double>(temporary ? counts_.coupled : 0)) {
  const auto block = [&](const Csr& csr, std::int64_t rows, std::int64_t nonzeros) {
    return Block{placed(csr.begin, rows + 1), placed(csr.columns, nonzeros),
                 placed(csr.values, nonzeros)};
  };
  diagonal_ = block(matrix.diagonal(), counts_.rows, counts_.diagonal);
  off_diagonal_ = block(matrix.off_diagonal(), counts_.coupled, counts_.off_diagonal);
  coupled_rows_ = placed(matrix.coupled_rows(), counts_.coupled);
  space.device().synchronise();
}

template <class Value>
SpaceArray<Value> Products::placed(const Value* values, std::int64_t count) {
  auto array = space_.allocate<Value>(count);
  space_.copy_in(values, array.data(), count * std::int64_t{sizeof(Value)});
  return array;
}

void Products::set(const double* x, const double* y, const double* ghosts) {
  constexpr std::int64_t bytes = sizeof(double);
  space_.copy_in(x, x_.data(), counts_.rows * bytes);
  space_.copy_in(y, y_.data(), counts_.rows * bytes);
  space_.copy_in(ghosts, ghosts_.data(), counts_.ghosts * bytes);
}

void Products::fetch(double* y) const {
  space_.copy_out(y_.data(), y, counts_.rows * std::int64_t{sizeof(double)});
}

template <class Value>
Value* Products::reach(const SpaceArray<Value>& array) const {
  return static_cast<Value*>(space_.device().reach(static_cast<void*>(array.data())));
}

Csr Products::view(const Block& block) const {
  return {reach(block.begin), reach(block.columns), reach(block.values)};
}

void Products::diagonal(const Traffic& traffic) {
  if (counts_.rows == 0) return;
  launch_sums(space_.device(), space_.users_stream(), counts_.rows, counts_.diagonal, traffic,
              Product{{view(diagonal_), reach(x_)}, reach(y_)});
}

void Products::off_diagonal(const Traffic& traffic) {
  if (counts_.coupled == 0) return;
  auto& device = space_.device();
  if (!temporary_) {
    launch_sums(
        device, space_.users_stream(), counts_.coupled, counts_.off_diagonal, traffic,
        ProductAdded{{view(off_diagonal_), reach(ghosts_)}, reach(coupled_rows_), reach(y_)});
    return;
  }
  if (space_.staged()) {  // else MPI has put them there
    device.record(ghosts_there_, space_.stream());
    device.wait(beside_, ghosts_there_);
  }
  launch_sums(device, beside_, counts_.coupled, counts_.off_diagonal, traffic,
              Product{{view(off_diagonal_), reach(ghosts_)}, reach(z_)});
  device.record(product_there_, beside_);
}

void Products::add(const Traffic& traffic) {
  if (counts_.coupled == 0) return;
  space_.device().wait(space_.users_stream(), product_there_);
  launch_over(space_.device(), space_.users_stream(), counts_.coupled, traffic,
              Added{reach(coupled_rows_), reach(z_), reach(y_)});
}

}  // namespace

std::unique_ptr<ProductsOnDevice> products_on_device(DeviceSpace& space,
                                                     const DistributedCsr& matrix, bool temporary) {
  return std::make_unique<Products>(space, matrix, temporary);
}

}  // namespace halobench
