// HDF5 files, as Keras and h5py write them; no library is needed to read or write them.
//
//   h5::File file("model.weights.h5");
//   for (const std::string& name : file.root().link_names()) ...
//   const h5::Dataset kernel = file.find("layers/dense/vars/0").dataset();
//   kernel.type();                       // float32
//   kernel.shape();                      // {784, 10}
//   kernel.read_into(buffer);            // straight from the file, no copy in between
//   file.root().attribute("layer_names").strings();
//
// What is read: superblocks 0 to 3; groups as symbol tables or links, few or many; numbers, h5py's
// booleans and strings, fixed or variable; compact, contiguous and chunked datasets with deflate
// and shuffle; attributes of any form. What is not is an UnimplementedError that says so. What is
// damaged is a DataLossError with the byte; whatever the bytes are, reading ends, stays inside the
// file, and takes no more memory than the limits in these headers say. Metadata is read when it is
// asked for and not kept.
#pragma once

#include "h5/attribute.h"
#include "h5/dataset.h"
#include "h5/group.h"

namespace plimsoll::h5 {

inline constexpr int kMaxSoftLinks = 40;    // that lead from one path to its object
inline constexpr int kMaxGroupDepth = 128;  // of for_each_object
inline constexpr std::size_t kMaxPathParts = 1024;

struct FileState;

// A group or a dataset, with the messages of its header. Keeps the file open.
class Object {
 public:
  Object(std::shared_ptr<const FileState> file, std::uint64_t address, std::string path);

  const std::string& path() const noexcept { return path_; }  // "/" for the root
  std::uint64_t address() const noexcept { return address_; }
  std::uint64_t header_nbytes() const noexcept;  // of its messages
  std::uint64_t file_nbytes() const noexcept;
  bool is_group() const noexcept;
  bool is_dataset() const noexcept;

  // pre: a group; InvalidArgumentError otherwise. Sorted by name.
  std::vector<Link> links() const;
  std::vector<std::string> link_names() const;
  bool has(std::string_view path) const;
  // "dense/kernel:0", or from the root with "/" in front. Soft links are followed.
  // throws: NotFoundError that says how far the path leads; UnimplementedError for a link to
  // another file.
  Object find(std::string_view path) const;

  // What one of links() leads to; soft links are followed.
  Object follow(const Link& link) const;

  // pre: a dataset; InvalidArgumentError otherwise.
  Dataset dataset() const;

  std::vector<std::string> attribute_names() const;
  bool has_attribute(std::string_view name) const;
  Attribute attribute(std::string_view name) const;  // throws: NotFoundError.

 private:
  std::shared_ptr<const FileState> file_;
  std::uint64_t address_;
  std::string path_;
  std::vector<Message> messages_;
};

class File {
 public:
  // throws: NotFoundError, or DataLossError for what is no HDF5.
  explicit File(const std::string& path);
  // An HDF5 file inside of another, or in memory.
  File(const std::string& path, std::uint64_t offset, std::uint64_t nbytes);
  File(std::string name, std::vector<std::byte> bytes);
  File(std::string name, std::uint64_t nbytes, Source::ReadAt read_at);

  Object root() const;
  Object find(std::string_view path) const { return root().find(path); }
  bool has(std::string_view path) const { return root().has(path); }

 private:
  void open(std::unique_ptr<const Source> source);

  std::shared_ptr<const FileState> state_;
};

// Calls `visit` with `object` and all that hard links of groups lead to, each once.
// throws: DataLossError for groups deeper than kMaxGroupDepth, and for more links or headers than
// the file has room for.
void for_each_object(const Object& object, const std::function<void(const Object&)>& visit);

}  // namespace plimsoll::h5
