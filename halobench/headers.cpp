// SPDX-License-Identifier: BSD-3-Clause
// Headers that are compiled once for all sources: CMakeLists.txt names them.
