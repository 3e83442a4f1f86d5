// A row of the task table as a Task.
// Threading: pure functions.
#ifndef WARPSMITH_COORDINATOR_QUEUE_TASK_ROW_H_
#define WARPSMITH_COORDINATOR_QUEUE_TASK_ROW_H_

#include <vector>

#include "coordinator/queue/task.h"
#include "coordinator/store/database.h"

namespace warpsmith::queue {

// The statement returns all of task's columns.
Task TaskFromRow(const store::Row& row);
std::vector<Task> TasksFromRows(const store::ResultSet& rows);
// Of what runs thousands of times a second: whose it is, what it is of, how it is to be done. The rest stays unset.
std::vector<Task> WorkFromRows(const store::ResultSet& rows);

}  // namespace warpsmith::queue

#endif  // WARPSMITH_COORDINATOR_QUEUE_TASK_ROW_H_
