// Elements in files: save, load, and a cache on disk.
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <charconv>
#include <filesystem>
#include <fstream>

#include "base/check.h"
#include "data/file_stream.h"
#include "data/node.h"
#include "data/retry.h"
#include "data/wire.h"
#include "plimsoll/data/files.h"
#include "plimsoll/data/io.h"
#include "runtime/budget_scope.h"

namespace plimsoll::data {
namespace {

namespace fs = std::filesystem;

// A structure as a message: 1 a tensor, 2 an item of a list, 3 a key and 4 its member; 5 says that
// it is a list or a dictionary, which may be empty.
std::string to_message(const Element& element) {
  std::string made;
  if (element.is_leaf()) put_bytes(made, 1, io::serialize_tensor(element.leaf()));
  if (element.is_list()) {
    put_integer(made, 5, 1);
    for (const Element& item : element.list()) put_bytes(made, 2, to_message(item));
  }
  if (element.is_dict()) {
    put_integer(made, 5, 2);
    for (const auto& [key, item] : element.dict()) {
      put_bytes(made, 3, key);
      put_bytes(made, 4, to_message(item));
    }
  }
  return made;
}

Element from_message(std::string_view bytes, int depth = 0) {
  WireReader message(bytes);
  Element made;
  std::string key;
  const bool is_deep = depth > 64;
  while (!is_deep && message.next()) {
    switch (message.number()) {
      case 1:
        made = io::parse_tensor(message.bytes());
        break;
      case 2:
        if (made.is_list()) made.list().push_back(from_message(message.bytes(), depth + 1));
        break;
      case 3:
        key = message.bytes();
        break;
      case 4:
        if (made.is_dict()) made.dict().emplace_back(key, from_message(message.bytes(), depth + 1));
        break;
      case 5:
        made = message.integer() == 1 ? Element(Element::List()) : Element(Element::Dict());
        break;
      default:
        break;
    }
  }
  PLIMSOLL_CHECK(message.is_ok() && !is_deep, DataLossError, "an element of a dataset is damaged");
  return made;
}

Dataset elements_in(const std::string& file, const std::string& compression, std::int64_t count) {
  const Dataset records = TFRecordDataset({file}, {.compression_type = compression});
  const Dataset elements = records.map(
      [](const Element& record) { return from_message(record.leaf().item<std::string>()); });
  return make_step({.run = [elements] { return elements.make_iterator(); },
                    .count = [count] { return count; },
                    .holds = passing_on(elements)});
}

// What it takes to write an element: its message, and parts of it that are put together.
std::uint64_t message_bytes(std::uint64_t element) {
  return 4 * element;
}
memory::Reservation book_message(const Element& element) {
  return host_budget().reserve(message_bytes(bytes_of(element)), batch_owner());
}

// Writes what it gives. Whoever does not come to the end leaves nothing.
class WritingRun : public Iterator {
 public:
  WritingRun(std::unique_ptr<Iterator> in, std::string file)
      : in_(std::move(in)),
        file_(std::move(file)),
        partial_(fmt::format("{}.{}.{}.part", file_, ::getpid(), num_begun++)),
        writer_(std::make_unique<io::TFRecordWriter>(partial_)) {}
  ~WritingRun() override {
    writer_.reset();
    std::error_code ignored;
    if (!is_whole_) fs::remove(partial_, ignored);
  }

  std::optional<Element> next() override {
    if (is_whole_) return std::nullopt;
    if (!waiting_) waiting_ = in_->next();
    if (waiting_) {
      const memory::Reservation claim = book_message(*waiting_);  // without it it waits
      call_or_drop([&] { writer_->write(to_message(*waiting_)); },
                   [&] {
                     waiting_.reset();
                     lacks_some_ = true;
                   });
      return std::exchange(waiting_, std::nullopt);
    }
    if (lacks_some_) return std::nullopt;
    writer_->close();
    fs::rename(partial_, file_);
    is_whole_ = true;
    return std::nullopt;
  }

 private:
  inline static std::atomic<int> num_begun{0};  // names of their own for runs side by side

  const std::unique_ptr<Iterator> in_;
  const std::string file_, partial_;
  std::unique_ptr<io::TFRecordWriter> writer_;
  std::optional<Element> waiting_;  // for memory
  bool lacks_some_ = false;         // that could not be written
  bool is_whole_ = false;
};

constexpr const char* kFirstLine = "plimsoll dataset 1";

}  // namespace

void save(const Dataset& dataset, const std::string& path, const std::string& compression_type) {
  std::error_code failed;
  fs::create_directories(path, failed);
  PLIMSOLL_CHECK(!failed, FailedPreconditionError, "cannot make the folder '{}': {}", path,
                 failed.message());
  const fs::path folder(path);
  std::int64_t count = 0;
  {
    io::TFRecordWriter writer((folder / "elements").string(), compression_type);
    for (const Element& element : dataset) {
      const memory::Reservation claim = book_message(element);
      writer.write(to_message(element));
      ++count;
    }
    writer.close();
  }
  io::write_file((folder / "about").string(),
                 fmt::format("{}\n{}\n{}\n", kFirstLine, compression_type, count));
}

Dataset load(const std::string& path) {
  const fs::path folder(path);
  std::ifstream about(folder / "about");
  PLIMSOLL_CHECK(about.good(), NotFoundError, "there is no saved dataset in '{}'", path);
  std::string first, compression, count;
  std::getline(about, first);
  std::getline(about, compression);
  std::getline(about, count);
  std::int64_t number = -1;
  std::from_chars(count.data(), count.data() + count.size(), number);
  PLIMSOLL_CHECK(first == kFirstLine && number >= 0, DataLossError,
                 "'{}' was not written by save, or is damaged", (folder / "about").string());
  return elements_in((folder / "elements").string(), compression, number);
}

Dataset cache(const Dataset& in, const std::string& filename) {
  const std::string file = filename + ".plimsoll";
  const auto run = [in, file]() -> std::unique_ptr<Iterator> {
    if (fs::exists(file)) return elements_in(file, "", kUnknown).make_iterator();
    return std::make_unique<WritingRun>(in.make_iterator(), file);
  };
  const auto holds = [in, file](const Use& use, std::uint64_t seen) {
    // A record has what its elements have, and less than that beside it.
    const std::uint64_t stream = FileStream::most_bytes("");
    Holds read{.element = seen,
               .given = seen,
               .owned = seen,
               .kept = stream,
               .busy = stream + 3 * seen,
               .trust = Trust::kMost};
    if (fs::exists(file)) return read;
    Holds written = in.node()->holds(use);
    written.busy = std::max(written.busy, written.kept + written.given + message_bytes(seen));
    written.kept = std::max(written.kept + stream, read.kept);
    written.busy = std::max(written.busy + stream, read.busy);
    written.given = written.owned = std::max(written.given, seen);
    written.trust = std::max(written.trust, Trust::kMost);
    return written;
  };
  return make_step({.run = run,
                    .count = [in] { return in.cardinality(); },
                    .from = {in},
                    .keeps_rows = true,
                    .holds = holds});
}

Dataset assert_cardinality(const Dataset& in, std::int64_t expected) {
  return make_step(
      {.run =
           [in, expected] {
             return make_run([run = std::shared_ptr<Iterator>(in.make_iterator()), expected,
                              seen = std::int64_t{0}]() mutable -> std::optional<Element> {
               auto element = run->next();
               if (element) ++seen;
               PLIMSOLL_CHECK(
                   element ? expected < 0 || seen <= expected
                           : expected == kUnknown || seen == expected,
                   FailedPreconditionError,
                   "Input dataset was expected to contain {} elements but contained {} {}.",
                   expected, element ? "at least" : "only", seen);
               return element;
             });
           },
       .count = [expected] { return expected; },
       .from = {in},
       .keeps_rows = true,
       .holds = passing_on(in)});
}

}  // namespace plimsoll::data
