// The database as the rest of the coordinator sees it: named statements, text parameters, rows by column name. Nothing
// outside store/ knows libpqxx, and no C++ file holds SQL.
// Threading: a Database is safe from any thread; a Transaction belongs to the function that it was handed to.
// Errors: Unavailable (database gone; try again), ResourceExhausted (disk full), FailedPrecondition (another
// coordinator took over, or missing rights), AlreadyExists (unique key), Aborted (deadlock), Internal otherwise; texts
// name the remedy.
#ifndef WARPSMITH_COORDINATOR_STORE_DATABASE_H_
#define WARPSMITH_COORDINATOR_STORE_DATABASE_H_

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "common/status.h"

namespace warpsmith::store {

// Raw bytes, for bytea columns.
struct Bytes {
  std::string_view data;
};

// One parameter: text as PostgreSQL reads it, or null. Text must be clean (text.h): no NUL, valid UTF-8.
class Parameter {
 public:
  Parameter(std::nullopt_t) {}                                      // NOLINT(google-explicit-constructor)
  Parameter(std::string value) : text_(std::move(value)) {}         // NOLINT(google-explicit-constructor)
  Parameter(const char* value) : text_(value) {}                    // NOLINT(google-explicit-constructor)
  Parameter(int64_t value);                                         // NOLINT(google-explicit-constructor)
  Parameter(int value) : Parameter(static_cast<int64_t>(value)) {}  // NOLINT(google-explicit-constructor)
  Parameter(double value);                                          // NOLINT(google-explicit-constructor)
  Parameter(bool value) : text_(value ? "t" : "f") {}               // NOLINT(google-explicit-constructor)
  Parameter(Bytes value);                                           // NOLINT(google-explicit-constructor)
  Parameter(const std::vector<int64_t>& values);                    // NOLINT(google-explicit-constructor)
  Parameter(const std::vector<int>& values);                        // NOLINT(google-explicit-constructor)
  Parameter(const std::vector<double>& values);                     // NOLINT(google-explicit-constructor)
  Parameter(const std::vector<std::string>& values);                // NOLINT(google-explicit-constructor)

  const char* text() const { return text_ ? text_->c_str() : nullptr; }

 private:
  std::optional<std::string> text_;
};
using Parameters = std::vector<Parameter>;

// Null where `value` is empty.
Parameter NullIfEmpty(const std::string& value);

class ResultSet;

// A row of a ResultSet that must outlive it. A column that the statement does not return is a bug and aborts.
class Row {
 public:
  Row(const ResultSet* set, size_t row) : set_(set), row_(row) {}
  bool Null(std::string_view column) const;
  std::string Text(std::string_view column) const;       // "" for null
  int64_t Int(std::string_view column) const;            // 0 for null
  double Double(std::string_view column) const;          // 0 for null
  bool Bool(std::string_view column) const;              // false for null
  std::string Blob(std::string_view column) const;       // bytea; "" for null
  std::vector<int> Ints(std::string_view column) const;  // integer[]

 private:
  const std::optional<std::string>& Value(std::string_view column) const;
  const ResultSet* set_;
  size_t row_;
  mutable size_t next_ = 0;  // the column after the last one that was asked for: columns are mostly read in their order
};

class ResultSet {
 public:
  class Iterator {
   public:
    Iterator(const ResultSet* set, size_t row) : set_(set), row_(row) {}
    Row operator*() const { return Row(set_, row_); }
    Iterator& operator++() {
      ++row_;
      return *this;
    }
    bool operator!=(const Iterator& other) const { return row_ != other.row_; }

   private:
    const ResultSet* set_;
    size_t row_;
  };

  bool empty() const { return rows.empty(); }
  size_t size() const { return rows.size(); }
  Row operator[](size_t row) const { return Row(this, row); }
  Iterator begin() const { return Iterator(this, 0); }
  Iterator end() const { return Iterator(this, rows.size()); }

  std::vector<std::string> columns;
  std::vector<std::vector<std::optional<std::string>>> rows;
};

class Transaction {
 public:
  virtual ~Transaction() = default;
  // Runs a statement of the SQL library.
  virtual absl::StatusOr<ResultSet> Execute(std::string_view statement, const Parameters& parameters) = 0;
};

using Work = std::function<absl::Status(Transaction&)>;

class Database {
 public:
  virtual ~Database() = default;
  // Runs `work` in one transaction and commits if it returns OK. It may be run again after a deadlock, so it must set
  // whatever it hands out anew each time. Write checks the coordinator's term first.
  virtual absl::Status Write(const Work& work) = 0;
  virtual absl::Status Read(const Work& work) = 0;
};

}  // namespace warpsmith::store

#endif  // WARPSMITH_COORDINATOR_STORE_DATABASE_H_
