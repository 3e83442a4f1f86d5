// The thread behind retention and the disk alarm. Threading: Start and Stop by one thread; the rest from any.
#ifndef WARPSMITH_COORDINATOR_OPERATIONS_JANITOR_H_
#define WARPSMITH_COORDINATOR_OPERATIONS_JANITOR_H_

#include <condition_variable>
#include <functional>
#include <mutex>
#include <string>
#include <thread>

#include "coordinator/operations/disk_alarm.h"
#include "coordinator/operations/retention.h"

namespace warpsmith::operations {

struct OperationsSettings {
  RetentionSettings retention;
  DiskSettings disk;
  double check_seconds = 15;       // between two looks at the disk
  double retention_seconds = 300;  // between two rounds of retention
  FreeSpace free_space = FreeBytesOf;
};

class Janitor {
 public:
  Janitor(store::Database& database, const OperationsSettings& settings, Clock& clock,
          std::function<void(bool held)> on_hold);
  ~Janitor();

  void Start();
  void Stop();

  const Retention& retention() const { return retention_; }
  const DiskAlarm& disk() const { return disk_; }
  std::string last_error() const;  // of retention; empty: the last step did well

 private:
  void Loop();
  bool Wait(double seconds);  // false: stopped

  const OperationsSettings settings_;
  Clock& clock_;
  Retention retention_;
  DiskAlarm disk_;
  mutable std::mutex mutex_;
  std::condition_variable wake_;
  bool stopping_ = false;   // guarded by mutex_
  std::string last_error_;  // guarded by mutex_
  std::thread thread_;
};

}  // namespace warpsmith::operations

#endif  // WARPSMITH_COORDINATOR_OPERATIONS_JANITOR_H_
