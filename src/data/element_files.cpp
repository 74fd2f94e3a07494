// Elements in files: save, load, and a cache on disk.
#include <unistd.h>

#include <charconv>
#include <filesystem>
#include <fstream>

#include "base/check.h"
#include "data/node.h"
#include "data/wire.h"
#include "plimsoll/data/files.h"
#include "plimsoll/data/io.h"

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
  return make_step({.run = [in, file]() -> std::unique_ptr<Iterator> {
                      if (fs::exists(file)) return elements_in(file, "", kUnknown).make_iterator();
                      const std::string partial = fmt::format("{}.{}.part", file, ::getpid());
                      // Whoever does not come to the end leaves nothing.
                      struct Writing {
                        explicit Writing(std::string p) : path(std::move(p)), writer(path) {}
                        ~Writing() {
                          std::error_code ignored;
                          if (!is_whole) fs::remove(path, ignored);
                        }
                        std::string path;
                        io::TFRecordWriter writer;
                        bool is_whole = false;
                      };
                      return make_run(
                          [run = std::shared_ptr<Iterator>(in.make_iterator()), file,
                           to = std::make_shared<Writing>(partial)]() -> std::optional<Element> {
                            auto element = run->next();
                            if (element) {
                              to->writer.write(to_message(*element));
                              return element;
                            }
                            to->writer.close();
                            fs::rename(to->path, file);
                            to->is_whole = true;
                            return std::nullopt;
                          });
                    },
                    .count = [in] { return in.cardinality(); },
                    .from = {in},
                    .keeps_rows = true,
                    .holds = passing_on(in)});
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
