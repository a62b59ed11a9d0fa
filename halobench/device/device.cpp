// SPDX-License-Identifier: BSD-3-Clause
#include "device/device.hpp"

namespace halobench {

void Device::report_to(Meter& meter) {
  meter_ = &meter;
  meter.follow({[this] { return traced(); }, [this] { return is_waited_for(); }});
}

}  // namespace halobench
