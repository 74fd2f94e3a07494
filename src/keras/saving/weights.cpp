#include "keras/saving/weights.h"

#include <map>

#include "base/check.h"
#include "plimsoll/bytes.h"
#include "plimsoll/keras/keras_tensor.h"
#include "plimsoll/memory/budget.h"
#include "plimsoll/ops/elementwise.h"
#include "runtime/budget_scope.h"
#include "runtime/context.h"
#include "runtime/copies.h"
#include "runtime/dispatch.h"
#include "runtime/variable_state.h"

namespace plimsoll::keras {
namespace {

struct TypeRow {
  DType dtype;
  h5::Type type;
};
const TypeRow kTypes[] = {
    {DType::kFloat32, h5::Type::floating(4)},    {DType::kFloat64, h5::Type::floating(8)},
    {DType::kFloat16, h5::Type::floating(2)},    {DType::kInt8, h5::Type::signed_int(1)},
    {DType::kInt16, h5::Type::signed_int(2)},    {DType::kInt32, h5::Type::signed_int(4)},
    {DType::kInt64, h5::Type::signed_int(8)},    {DType::kUInt8, h5::Type::unsigned_int(1)},
    {DType::kUInt16, h5::Type::unsigned_int(2)}, {DType::kBool, h5::Type::boolean()},
};

std::span<std::byte> bytes_of(const Tensor& tensor) {
  const TensorImpl& impl = *tensor.impl();
  return {reinterpret_cast<std::byte*>(impl.buffer->block.address()) + impl.offset,
          static_cast<std::size_t>(tensor.nbytes())};
}

std::uint64_t rounded(std::uint64_t nbytes) {
  return (nbytes + 63) / 64 * 64;
}

// What is read and has another type than its variable, or another place.
Tensor read_apart(const h5::Dataset& dataset) {
  static const memory::Owner owner(memory::Tag::kIo, "model file");
  Tensor made = allocate_tensor(Context::get().cpu(), dtype_of(dataset), shape_of(dataset), owner);
  dataset.read_into(bytes_of(made));
  return made;
}

void read_variable(const h5::Dataset& dataset, plimsoll::Variable& variable) {
  VariableState& state = *variable.state();
  if (dtype_of(dataset) != variable.dtype() || !state.home().is_host()) {
    const Tensor value = read_apart(dataset);
    variable.assign(value.dtype() == variable.dtype() ? value : cast(value, variable.dtype()));
    return;
  }
  if (variable.has_value() && !state.is_alone()) {
    variable.assign(read_apart(dataset));
    return;
  }
  variable.allocate();
  dataset.read_into(bytes_of(state.value));
  // A new version: tapes that saw the old value do not take this one for it.
  state.value = make_tensor(variable.dtype(), variable.shape(), state.value.impl()->buffer);
}

}  // namespace

DType dtype_of(const h5::Dataset& dataset) {
  for (const TypeRow& row : kTypes) {
    if (row.type.kind == dataset.type().kind && row.type.nbytes == dataset.type().nbytes)
      return row.dtype;
  }
  throw UnimplementedError("weights of type " + dataset.type().name() + " are not read");
}

Shape shape_of(const h5::Dataset& dataset) {
  std::vector<std::int64_t> dims;
  for (const std::uint64_t dim : dataset.shape()) {
    PLIMSOLL_CHECK(dim <= static_cast<std::uint64_t>(INT64_MAX), DataLossError,
                   "a dataset has a dimension of {}", dim);
    dims.push_back(static_cast<std::int64_t>(dim));
  }
  return Shape(std::move(dims));
}

WeightInfo weight_info(const h5::Object& object) {
  const h5::Dataset dataset = object.dataset();
  return {object.path(), dataset.type().name(), shape_of(dataset), dataset.nbytes()};
}

void WeightReader::add(const h5::Object& object, const VariablePtr& variable) {
  h5::Dataset dataset = object.dataset();
  PLIMSOLL_CHECK(shape_of(dataset) == variable->shape(), InvalidArgumentError,
                 "'{}': '{}' has shape {}, and weight '{}' of the model has {}", file_,
                 object.path(), PartialShape(shape_of(dataset)).to_string(), variable->path(),
                 PartialShape(variable->shape()).to_string());
  dtype_of(dataset);
  rows_.push_back({std::move(dataset), object.path(), variable});
}

void WeightReader::check_fits() const {
  std::map<Device*, std::uint64_t> needed;
  for (const Row& row : rows_) {
    if (!row.variable->has_value())
      needed[&row.variable->raw().state()->home()] +=
          rounded(static_cast<std::uint64_t>(row.variable->nbytes()));
  }
  for (const auto& [device, nbytes] : needed) {
    std::uint64_t room = device->budget().available();
    if (const memory::Budget* scope = scope_budget(*device))
      room = std::min(room, scope->available());
    if (nbytes <= room) continue;
    const memory::BudgetStats stats = device->budget().stats();
    throw ResourceExhaustedError(fmt::format(
        "OOM when loading '{}': its weights need {} ({} bytes) on {}, where {} ({} bytes) are free "
        "and {} are in use. Nothing was loaded. `plimsoll plan` says what a model needs before it "
        "is loaded",
        file_, format_bytes(nbytes), nbytes, device->full_name(), format_bytes(room), room,
        format_bytes(stats.in_use)));
  }
}

void WeightReader::read() {
  check_fits();
  for (const Row& row : rows_) {
    if (!row.variable->has_value()) row.variable->raw().allocate();
  }
  for (const Row& row : rows_) read_variable(row.dataset, row.variable->raw());
}

void write_variable(h5::Writer& writer, const std::string& path, const Variable& variable) {
  const h5::Type* type = nullptr;
  for (const TypeRow& row : kTypes) {
    if (row.dtype == variable.dtype()) type = &row.type;
  }
  PLIMSOLL_CHECK(type, UnimplementedError, "weight '{}' is of type {}, which is not written",
                 variable.path(), dtype_name(variable.dtype()));
  h5::Shape shape;
  for (const std::int64_t dim : variable.shape().dims())
    shape.push_back(static_cast<std::uint64_t>(dim));
  static const memory::Owner owner(memory::Tag::kIo, "model file");
  const Tensor& value = variable.raw().value();
  const Tensor near =
      owner_of(value)->is_host() ? value : copy_to(Context::get().cpu(), value, owner);
  writer.dataset(path, *type, shape, bytes_of(near));
}

}  // namespace plimsoll::keras
