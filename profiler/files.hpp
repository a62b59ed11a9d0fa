// SPDX-License-Identifier: BSD-3-Clause
// The files of a process: lines that say what is counted, counts, and when messages were passed.
#pragma once

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <string>

namespace {

struct Count {
  std::int64_t calls, bytes;
};

enum class Passing : std::int32_t { none, send, receive, collective };

// One end of a message, or a rank's part of a collective operation. Times are nanoseconds.
struct Event {
  std::int64_t posted;           // when the call that began it was entered
  std::int64_t begin, end;       // of the call that it ended in; 0: it did not end
  std::int32_t line;             // that call's time is counted in this line
  std::int32_t comm, peer, tag;  // peer: rank in comm; of a collective operation its root
  Passing passing;
  std::int32_t unused = 0;
};
static_assert(sizeof(Event) == 48);

// A file of items that grows, mapped into memory.
template <class Item>
class Mapped {
 public:
  bool open(const std::string& path, std::size_t most) {
    most_ = most;
    file_ = ::open(path.c_str(), O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
    return file_ >= 0 && fchmod(file_, 0644) == 0;
  }

  // The number of a new item; -1 if there is no room.
  std::int64_t add() { return used_ < room_ || grow() ? static_cast<std::int64_t>(used_++) : -1; }

  Item* at(std::size_t number) { return mapped_ ? &mapped_[number] : nullptr; }
  bool is_full() const { return used_ >= most_; }

  void sync() {
    if (mapped_) msync(mapped_, room_ * sizeof(Item), MS_SYNC);
  }

  void close() {
    if (mapped_) munmap(mapped_, room_ * sizeof(Item));
    mapped_ = nullptr;
    room_ = most_ = used_;
  }

 private:
  bool grow() {
    const std::size_t more =
        std::min({room_ + 16'384, std::max<std::size_t>(2 * room_, 256), most_});
    if (file_ < 0 || more <= room_) return false;
    const auto bytes = more * sizeof(Item);
    errno = posix_fallocate(file_, 0, static_cast<off_t>(bytes));  // detects a full disk now
    if (errno) return false;
    if (mapped_) munmap(mapped_, room_ * sizeof(Item));
    void* there = mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_SHARED, file_, 0);
    mapped_ = there == MAP_FAILED ? nullptr : static_cast<Item*>(there);
    room_ = mapped_ ? more : 0;
    return mapped_ != nullptr;
  }

  int file_ = -1;
  Item* mapped_ = nullptr;
  std::size_t used_ = 0, room_ = 0, most_ = 0;
};

// Lines that say what is counted; beside them the counts of these lines, in the same order, behind
// the times at which this process began and ended its last call; and events, up to a number.
class File {
 public:
  bool is_open() const { return lines_ >= 0; }

  void open(const std::string& folder, std::size_t events) {
    std::string path = folder + "/rank-XXXXXX";
    lines_ = mkostemp(path.data(), O_CLOEXEC | O_APPEND);
    path_ = path;
    if (lines_ < 0 || fchmod(lines_, 0644) != 0 || !counts_.open(path + ".counts", SIZE_MAX) ||
        !events_.open(path + ".events", events))
      return fail();
    if (counts_.add() < 0) fail();
  }

  void say(std::string line) {
    if (!is_open()) return;
    line += '\n';
    if (::write(lines_, line.data(), line.size()) != static_cast<ssize_t>(line.size())) fail();
  }

  // The count of a line that is written now.
  std::size_t add(const std::string& line) {
    const std::int64_t number = counts_.add();
    if (number < 0) fail();
    say(line);
    return static_cast<std::size_t>(std::max<std::int64_t>(number, 0));
  }

  void count(std::size_t number, std::int64_t bytes) {
    if (!is_open()) return;
    Count* count = counts_.at(number);
    ++count->calls;
    count->bytes += bytes;
  }

  // When it began, or did something last.
  void begins(std::int64_t time) {
    if (is_open()) *counts_.at(0) = {time, time};
  }
  void is_at(std::int64_t time) {
    if (is_open()) counts_.at(0)->bytes = time;
  }

  // The number of an event that is kept; -1 if there is no room.
  std::int64_t add(const Event& event) {
    if (!is_open() || events_.is_full()) return -1;
    const std::int64_t number = events_.add();
    if (number >= 0) *events_.at(static_cast<std::size_t>(number)) = event;
    if (events_.is_full() || number < 0) {  // all that is before this event is there
      say("{\"events_until\":" + std::to_string(event.posted) + "}");
      if (number < 0) events_.close();
    }
    return number;
  }

  Event* event(std::int64_t number) { return events_.at(static_cast<std::size_t>(number)); }

  void sync() {
    counts_.sync();
    events_.sync();
  }

 private:
  void fail() {
    std::fprintf(stderr, "haloscope: %s: %s; this rank is not counted from here on\n",
                 path_.c_str(), std::strerror(errno));
    lines_ = -1;
  }

  int lines_ = -1;
  std::string path_;
  Mapped<Count> counts_;
  Mapped<Event> events_;
};

}  // namespace
