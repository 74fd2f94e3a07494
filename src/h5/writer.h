// Writes HDF5 files that h5py and Keras read: groups as symbol tables, datasets in one piece.
//
//   h5::Writer writer("model.weights.h5");
//   writer.dataset("layers/dense/vars/0", h5::Type::floating(4), {784, 10}, bytes);
//   writer.attribute("/", "layer_names", {"dense"}, {1}, h5::Type::fixed_string(5));
//   writer.finish();
//
// The file is written under another name beside its own and takes its name in finish(), once all of
// it is on the disk; until then, and if anything fails, whatever stood under that name stays.
#pragma once

#include <map>
#include <optional>

#include "h5/type.h"

namespace plimsoll::h5 {

inline constexpr std::size_t kMaxAttributeBytes = 65528;  // with its name, type and shape

class Writer {
 public:
  // throws: NotFoundError or FailedPreconditionError where no file can be made.
  explicit Writer(std::string path);
  ~Writer();  // removes what was not finished
  Writer(const Writer&) = delete;
  Writer& operator=(const Writer&) = delete;

  // Groups on the way are made. Making a group again is fine.
  // throws (as all below): InvalidArgumentError for a path that is taken by something else;
  // ResourceExhaustedError where the disk is full. After an error only the destructor is left.
  void group(std::string_view path);

  // The bytes go to the file as they are. throws: InvalidArgumentError unless data.size() is that
  // of the shape.
  void dataset(std::string_view path, const Type& type, const Shape& shape,
               std::span<const std::byte> data);
  void dataset(std::string_view path, const std::vector<std::string>& strings, const Shape& shape,
               const Type& type = Type::string());
  // The same in pieces: begin_dataset, then append until all of it is there.
  void begin_dataset(std::string_view path, const Type& type, const Shape& shape);
  void append(std::span<const std::byte> data);

  // Of the group or dataset at `path`, which is there. memory: the bytes, until finish().
  // throws: InvalidArgumentError for more than kMaxAttributeBytes and for a name that is taken.
  void attribute(std::string_view path, const std::string& name, const Type& type,
                 const Shape& shape, std::span<const std::byte> data);
  void attribute(std::string_view path, const std::string& name,
                 const std::vector<std::string>& strings, const Shape& shape,
                 const Type& type = Type::string());
  void attribute(std::string_view path, const std::string& name, const std::string& text) {
    attribute(path, name, std::vector<std::string>{text}, {});
  }
  void attribute(std::string_view path, const std::string& name, std::int64_t value);

  // Writes the groups, brings all of it to the disk and gives the file its name.
  void finish();

 private:
  struct Node {
    bool is_group = true;
    std::map<std::string, std::unique_ptr<Node>, std::less<>> children;  // of a group
    std::vector<std::vector<std::byte>> messages;  // of a dataset, each with its head
    std::map<std::string, std::vector<std::byte>, std::less<>> attributes;  // by name, in messages
    std::vector<std::string> attribute_order;
  };
  // A group's place in the file.
  struct Placed {
    std::uint64_t header = kUndefined;
    std::uint64_t tree = kUndefined;
    std::uint64_t heap = kUndefined;
  };
  struct Child {
    std::uint64_t address;
    std::uint64_t last_name;  // in the local heap
  };

  void check_open() const;
  Node& make_node(std::string_view path, bool is_group);
  Node& find_node(std::string_view path);
  std::vector<std::byte> encode_strings(const std::vector<std::string>& strings, const Type& type);
  void put_string(const std::string& text, std::vector<std::byte>& elements);
  void flush_heap();

  Placed write_node(const Node& node);
  Placed write_links(const Node& node);
  std::uint64_t write_tree(std::vector<Child> children);
  std::uint64_t write_header(const Node& node, const Placed& links);
  void write_superblock(const Placed& root);

  std::uint64_t allocate(std::uint64_t nbytes);  // at the end, aligned to 8
  void write_at(std::uint64_t offset, std::span<const std::byte> bytes);
  std::uint64_t put(std::span<const std::byte> bytes);  // both
  void give_up() noexcept;

  std::string path_;
  std::string temporary_;
  int file_ = -1;
  std::uint64_t end_ = 96;  // after the superblock
  Node root_;
  std::uint64_t data_at_ = 0;    // where append goes on
  std::uint64_t data_left_ = 0;  // of a dataset that was begun
  std::string data_path_;
  // The collection of strings that is being filled.
  std::uint64_t heap_address_ = kUndefined;
  std::size_t heap_nbytes_ = 0;
  std::uint16_t heap_count_ = 0;
  std::vector<std::byte> heap_;
};

}  // namespace plimsoll::h5
