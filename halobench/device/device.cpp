// SPDX-License-Identifier: BSD-3-Clause
#include "device/device.hpp"

namespace halobench {

void Device::trace_by(Meter& meter) {
  meter_ = &meter;
  meter.trace_streams([this] { return traced(); });
}

}  // namespace halobench
