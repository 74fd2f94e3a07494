// Finds which values a gradient reads, by running it on tensors without memory.
#include <mutex>
#include <unordered_map>

#include "base/check.h"
#include "base/hash.h"
#include "base/mutex.h"
#include "runtime/tape.h"
#include "tensor/tensor_impl.h"

namespace plimsoll {
namespace {

class ProbeCtx final : public GradCtx {
 public:
  ProbeCtx(const Attrs& attrs, std::span<const TensorSpec> in, std::span<const TensorSpec> out,
           std::uint64_t needs)
      : attrs_(attrs), in_(in), out_(out), needs_(needs) {}

  int num_in() const noexcept override { return static_cast<int>(in_.size()); }
  int num_out() const noexcept override { return static_cast<int>(out_.size()); }
  const Attrs& attrs() const noexcept override { return attrs_; }
  const TensorSpec& in_spec(int i) const noexcept override {
    return in_[static_cast<std::size_t>(i)];
  }
  const TensorSpec& out_spec(int i) const noexcept override {
    return out_[static_cast<std::size_t>(i)];
  }
  bool needs(int i) const noexcept override { return needs_ >> std::min(i, 63) & 1U; }
  bool has_dout(int) const noexcept override { return true; }

  Tensor in(int i) override {
    reads.in |= 1ULL << std::min(i, 63);
    return spec_tensor(in_spec(i));
  }
  Tensor out(int i) override {
    reads.out |= 1ULL << std::min(i, 63);
    return spec_tensor(out_spec(i));
  }
  Tensor dout(int i) override { return spec_tensor(out_spec(i)); }
  Tensor scalar(double, DType dtype) override { return make_spec_tensor(dtype, Shape()); }
  void set_din(int, const Tensor&) override {}

  std::vector<Tensor> emit_all(OpId op, std::span<const Tensor> in, const Attrs& attrs) override {
    std::vector<TensorSpec> specs;
    for (const Tensor& t : in) specs.push_back({t.dtype(), t.shape()});
    OutSpecs out;
    InferCtx ctx{op, attrs, specs, out};
    op_def(op).infer(ctx);
    std::vector<Tensor> made;
    for (const TensorSpec& spec : out.all()) made.push_back(spec_tensor(spec));
    return made;
  }

  GradReads reads;

 private:
  static Tensor spec_tensor(const TensorSpec& spec) {
    return make_spec_tensor(spec.dtype, spec.shape);
  }

  const Attrs& attrs_;
  std::span<const TensorSpec> in_, out_;
  const std::uint64_t needs_;
};

struct Known {
  OpId op;
  std::uint64_t needs;
  Attrs attrs;
  GradReads reads;
};

struct Cache {
  Mutex mutex;
  std::unordered_multimap<std::uint64_t, Known> known;
};
Cache& cache() {
  static Cache& made = *new Cache;
  return made;
}

constexpr std::size_t kMaxKnown = 4096;

}  // namespace

// What a gradient reads may depend on the op, its attributes and the gradients wanted, not on
// shapes.
GradReads grad_reads(OpId op, const Attrs& attrs, std::span<const TensorSpec> in,
                     std::span<const TensorSpec> out, std::uint64_t needs) {
  const std::uint64_t hash =
      hash_mix(hash_mix(attrs.hash(), needs), static_cast<std::uint64_t>(op));
  Cache& c = cache();
  {
    std::scoped_lock lock(c.mutex);
    const auto [begin, end] = c.known.equal_range(hash);
    for (auto it = begin; it != end; ++it) {
      const Known& k = it->second;
      if (k.op == op && k.needs == needs && k.attrs == attrs) return k.reads;
    }
  }
  ProbeCtx probe(attrs, in, out, needs);
  try {
    op_def(op).grad(probe);
  } catch (const UnimplementedError&) {  // comes again when somebody asks for the gradient
  }
  std::scoped_lock lock(c.mutex);
  if (c.known.size() >= kMaxKnown) c.known.clear();
  c.known.emplace(hash, Known{op, needs, attrs, probe.reads});
  return probe.reads;
}

}  // namespace plimsoll
