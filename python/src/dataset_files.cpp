// Datasets of files, and records in and out.
#include "plimsoll/data/files.h"

#include <nanobind/nanobind.h>
#include <nanobind/stl/optional.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>

#include "convert.h"
#include "gil.h"

namespace plimsoll::python {

namespace nb = nanobind;

void bind_dataset_files(nb::module_& m) {
  using Names = std::vector<std::string>;
  m.def("tfrecord_dataset", [](const Names& names, const std::string& compression) {
    return data::TFRecordDataset(names, {.compression_type = compression});
  });
  m.def("text_line_dataset", [](const Names& names, const std::string& compression) {
    return data::TextLineDataset(names, {.compression_type = compression});
  });
  m.def("fixed_length_dataset", [](const Names& names, std::int64_t record, std::int64_t header,
                                   std::int64_t footer, const std::string& compression) {
    return data::FixedLengthRecordDataset(
        names, record,
        {.header_bytes = header, .footer_bytes = footer, .compression_type = compression});
  });
  m.def(
      "list_files",
      [](const Names& patterns, bool shuffle, std::optional<std::int64_t> seed) {
        return data::list_files(patterns, shuffle, seed);
      },
      nb::arg("patterns"), nb::arg("shuffle"), nb::arg("seed").none());

  m.def("save_dataset",
        [](const data::Dataset& dataset, const std::string& path, const std::string& compression) {
          without_gil([&] { data::save(dataset, path, compression); });
        });
  m.def("load_dataset", [](const std::string& path) { return data::load(path); });
  m.def("cache_dataset", [](const data::Dataset& dataset, const std::string& file) {
    return data::cache(dataset, file);
  });
  m.def("assert_cardinality", [](const data::Dataset& dataset, std::int64_t expected) {
    return data::assert_cardinality(dataset, expected);
  });

  nb::class_<io::TFRecordWriter>(m, "TFRecordWriter")
      .def(nb::init<const std::string&, const std::string&>())
      .def("write",
           [](io::TFRecordWriter& writer, nb::handle record) {
             const std::string bytes = to_text(record, "record");
             without_gil([&] { writer.write(bytes); });
           })
      .def("flush", [](io::TFRecordWriter& writer) { without_gil([&] { writer.flush(); }); })
      .def("close", [](io::TFRecordWriter& writer) { without_gil([&] { writer.close(); }); });
}

}  // namespace plimsoll::python
