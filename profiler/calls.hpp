// SPDX-License-Identifier: BSD-3-Clause
// A call of the program: its time, what it moves, and the requests that it begins and ends.
#pragma once

#include <mpi.h>

#include <cstdint>

#include "counts.hpp"
#include "processes.hpp"

namespace {

// A call of a function that may move data or wait: what it moves is counted if the program made it.
class Call {
 public:
  Call(const void* caller, const char* name) : caller_(caller), name_(name) {}

  int ended(int code) {
    end_ = now();
    code_ = code;
    return code;
  }

  // Counts its time and, once it succeeded, what it moves. request: that it ends with.
  template <class Says>
  void count(MPI_Comm comm, Says&& moves, MPI_Request* request = nullptr,
             const MPI_Status* status = nullptr, bool is_prepared = false) {
    const Lock lock(state().mutex);
    State& own = state();
    const Place place = own.file.is_open() ? place_of(caller_) : Place{false, nullptr};
    if (!place.is_call) return;
    is_counted_ = true;
    watch_threads();
    const bool is_good = code_ == MPI_SUCCESS;
    const int number = is_good && comm != MPI_COMM_NULL ? number_of(comm) : -1;
    line_ = line_of({own.named, place.address, name_, Way::time, {}, number, 0});
    if (depth == 1) own.file.count(line_, end_ - begin_);  // what it is called in has its time
    own.file.is_at(end_);
    if (!is_good) return;
    const Moves all = moves();
    if (is_prepared) {
      own.requests[(std::uintptr_t)*request] = {{}, true, place.address, line_, number, all};
      return;
    }
    add(place.address, number, all);
    pass(all, number, request, status);
  }

  // Counts what a persistent request moves, once it is started.
  void start(MPI_Request request) {
    const Lock lock(state().mutex);
    State& own = state();
    const auto found = own.requests.find((std::uintptr_t)request);
    if (found == own.requests.end() || !found->second.is_persistent) return;
    Request& one = found->second;
    line_ = one.line;
    add(one.place, one.comm, one.moves);
    pass(one.moves, one.comm, &request, nullptr);
  }

  // Ends a request: its messages have passed.
  void complete(MPI_Request request, const MPI_Status& status) {
    if (!is_counted_) return;
    const Lock lock(state().mutex);
    State& own = state();
    const auto found = own.requests.find((std::uintptr_t)request);
    if (found == own.requests.end()) return;
    for (const std::int64_t number : found->second.events)
      if (Event* event = own.file.event(number)) end(*event, &status);
    found->second.events.clear();
    if (!found->second.is_persistent) own.requests.erase(found);
  }

 private:
  // Keeps when messages were passed.
  void pass(const Moves& moves, int comm, MPI_Request* request, const MPI_Status* status) {
    State& own = state();
    for (const Move& move : moves) {
      if (move.passing == Passing::none || (request && move.passing == Passing::collective))
        continue;
      Event event{begin_,         0,        0,           static_cast<std::int32_t>(line_), comm,
                  move.comm_rank, move.tag, move.passing};
      if (!request) end(event, status);
      const std::int64_t number = own.file.add(event);
      if (request && number >= 0) own.requests[(std::uintptr_t)*request].events.push_back(number);
    }
  }

  void end(Event& event, const MPI_Status* status) const {
    event.begin = begin_;
    event.end = end_;
    event.line = static_cast<std::int32_t>(line_);
    if (event.passing != Passing::receive || !status) return;
    event.peer = status->MPI_SOURCE;
    event.tag = status->MPI_TAG;
  }

  static void watch_threads() {
    thread_local const int own = 0;
    State& all = state();
    if (!all.thread) all.thread = &own;
    if (all.thread == &own || all.has_threads) return;
    all.has_threads = true;
    all.file.say("{\"threads\":true}");
  }

  const void* caller_;
  const char* name_;
  std::int64_t begin_ = now(), end_ = 0;
  std::size_t line_ = 0;
  int code_ = MPI_SUCCESS;
  bool is_counted_ = false;
};

}  // namespace
