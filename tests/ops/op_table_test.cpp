// Everything that is checked of every case of the op table: on the CPU, on a simulated GPU, and on
// an OpenCL device (PoCL) for the ops and types that its backend has.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <set>

#include "ops/op_case.h"
#include "plimsoll/device.h"
#include "plimsoll/error.h"
#include "plimsoll/function.h"
#include "plimsoll/gradient_tape.h"
#include "plimsoll/ops.h"
#include "plimsoll/settings.h"
#include "runtime/backends.h"
#include "runtime/dispatch.h"
#include "runtime/kernel_cache.h"
#include "runtime/placement.h"
#include "tensor/tensor_impl.h"

namespace plimsoll::testing_ops {
namespace {

struct DeviceCase : OpCase {
  const char* device;
};

std::vector<DeviceCase> cases_on(const char* device) {
  std::vector<DeviceCase> cases;
  for (const OpCase& c : all_cases()) cases.push_back({c, device});
  return cases;
}

// Of the ops and types that the OpenCL backend has a row for.
std::vector<DeviceCase> opencl_cases_on(const char* device) {
  const std::vector<Backend> all = all_backends();
  const auto backend = std::ranges::find(all, "opencl", &Backend::name);
  const KernelTable table(*backend);
  const auto has_row = [&](const OpCase& c, DType dtype) {
    const bool is_given = c.in.empty() || c.in[0].kind == Input::Kind::kDefault;
    const DType key = is_given ? dtype : make_inputs(c, dtype)[0].dtype;
    const auto fits = [&](const KernelDef* row) { return row->dtypes.has(key); };
    return op_def(c.op).is_view || std::ranges::any_of(table.rows(c.op), fits);
  };
  std::vector<DeviceCase> cases = cases_on(device);
  std::size_t turn = 0;
  for (DeviceCase& c : cases) {
    std::erase_if(c.dtypes, [&](DType dtype) { return !has_row(c, dtype); });
    // Each type is a program to compile: of the narrow ones and the integers, cases take turns.
    const auto others = std::ranges::stable_partition(
        c.dtypes, [](DType dtype) { return dtype == DType::kFloat32 || dtype == DType::kFloat64; });
    if (others.size() < 2) continue;
    const DType chosen = others.begin()[static_cast<std::ptrdiff_t>(turn++ % others.size())];
    c.dtypes.erase(others.begin(), others.end());
    c.dtypes.push_back(chosen);
  }
  std::erase_if(cases, [](const DeviceCase& c) { return c.dtypes.empty(); });
#ifdef __SANITIZE_ADDRESS__
  // Sanitizers see the host's side alone, which is the same for every case of an op.
  std::set<OpId> seen;
  std::erase_if(cases, [&](const DeviceCase& c) { return !seen.insert(c.op).second; });
#endif
  return cases;
}

// GPUs have to be asked for before any test of the program starts the runtime.
class Gpus : public testing::Environment {
  void SetUp() override {
    settings::set("sim_devices", "rtx-3060-12gb");
    settings::set("opencl", "on");
  }
};
[[maybe_unused]] const auto* const kGpus = testing::AddGlobalTestEnvironment(new Gpus);

class OpTableTest : public testing::TestWithParam<DeviceCase> {
 protected:
  void SetUp() override {
    ASSERT_NE(Context::get().find_device(parse_device_spec(GetParam().device)), nullptr)
        << "there is no " << GetParam().device
        << "; an OpenCL device comes with the package pocl-opencl-icd";
  }
  std::vector<Tensor> inputs(DType dtype) const {
    std::vector<Tensor> tensors;
    for (const HostTensor& host : make_inputs(GetParam(), dtype))
      tensors.push_back(to_device(host));
    return tensors;
  }
  std::vector<Tensor> run(const std::vector<Tensor>& in) const {
    return call_all(GetParam().op, in, GetParam().attrs);
  }
  // The device under test; everything here runs on it.
  static Device& own_device() {
    return *Context::get().find_device(parse_device_spec(GetParam().device));
  }

 private:
  const DeviceScope scope_ = device(GetParam().device);
};

std::string case_name(const testing::TestParamInfo<DeviceCase>& test) {
  return std::string(op_name(test.param.op)) + "_" + test.param.name;
}
INSTANTIATE_TEST_SUITE_P(Cpu, OpTableTest, testing::ValuesIn(cases_on("/CPU:0")), case_name);
INSTANTIATE_TEST_SUITE_P(Sim, OpTableTest, testing::ValuesIn(cases_on("/GPU:0")), case_name);
INSTANTIATE_TEST_SUITE_P(OpenCl, OpTableTest, testing::ValuesIn(opencl_cases_on("/GPU:1")),
                         case_name);

void expect_near(const HostTensor& got, const HostTensor& wanted, double tolerance,
                 const std::string& what) {
  ASSERT_EQ(got.shape, wanted.shape) << what;
  for (std::size_t i = 0; i < wanted.values.size(); ++i) {
    const double w = wanted.values[i];
    const double g = got.values[i];
    if (std::isnan(w)) {
      ASSERT_TRUE(std::isnan(g)) << what << " element " << i;
    } else if (g != w) {  // equal infinities are fine
      ASSERT_LE(std::abs(g - w), tolerance * std::max(1.0, std::abs(w)))
          << what << " element " << i << ": " << g << " for " << w;
    }
  }
}

TEST_P(OpTableTest, MatchesReference) {
  for (const DType dtype : GetParam().dtypes) {
    const auto host = make_inputs(GetParam(), dtype);
    const auto out = run(inputs(dtype));
    for (const Tensor& t : out) ASSERT_EQ(t.device(), own_device().full_name());
    const auto wanted = GetParam().ref({host, GetParam().attrs});
    std::vector<HostTensor> got;
    for (const Tensor& t : out) got.push_back(to_host(t));
    if (GetParam().compared) got = GetParam().compared(got);
    ASSERT_EQ(got.size(), wanted.size());
    for (std::size_t i = 0; i < got.size(); ++i) {
      expect_near(got[i], wanted[i], GetParam().tolerance * tolerance_of(dtype),
                  std::string(dtype_name(dtype)));
    }
  }
}

void expect_same_bits(std::span<const Tensor> got, std::span<const Tensor> wanted,
                      const std::string& what) {
  ASSERT_EQ(got.size(), wanted.size()) << what;
  for (std::size_t i = 0; i < wanted.size(); ++i) {
    ASSERT_EQ(got[i].is_valid(), wanted[i].is_valid()) << what << " result " << i;
    if (!wanted[i].is_valid()) continue;
    ASSERT_EQ(got[i].shape(), wanted[i].shape()) << what << " result " << i;
    ASSERT_EQ(got[i].dtype(), wanted[i].dtype()) << what << " result " << i;
    const auto bytes = [](const Tensor& t) {
      std::vector<unsigned char> read(static_cast<std::size_t>(t.nbytes()));
      owner_of(t)->read(read.data(), address_of(t), read.size());
      return read;
    };
    EXPECT_EQ(bytes(got[i]), bytes(wanted[i])) << what << " result " << i;
  }
}

TEST_P(OpTableTest, RepeatsBitForBit) {
  const auto in = inputs(GetParam().dtypes[0]);
  const auto first = run(in);
  for (int round = 0; round < 3; ++round) expect_same_bits(run(in), first, "again");
}

// Traced, planned and run, a call gives the same bits as by itself, and so do its gradients.
TEST_P(OpTableTest, IsTheSameInAFunction) {
  for (const DType dtype : GetParam().dtypes) {
    const bool is_first = dtype == GetParam().dtypes[0];
    // Not all where the kernels are the same.
    if (!own_device().is_host() && !is_first && dtype != DType::kFloat64) continue;
    const auto in = inputs(dtype);
    const auto body = [&](std::span<const Tensor> given) {
      return outputs_and_gradients(GetParam(), given, dtype == DType::kFloat64);
    };
    const auto wanted = body(in);
    auto f = function(body);
    for (int round = 0; round < 2; ++round)
      expect_same_bits(f(std::span<const Tensor>(in)), wanted, std::string(dtype_name(dtype)));
  }
}

// The gradient of sum(w * op(x)) in float64, against central differences of it.
TEST_P(OpTableTest, GradientMatchesFiniteDifferences) {
  const OpCase& c = GetParam();
  if (!op_def(c.op).grad || !c.has_grad) return;
  auto host = make_inputs(c, DType::kFloat64);
  const auto tensors = inputs(DType::kFloat64);
  std::vector<HostTensor> weights;
  const auto weigh = [&](const std::vector<Tensor>& out) {
    Tensor sum;
    for (std::size_t i = 0; i < out.size(); ++i) {
      if (out[i].dtype() != DType::kFloat64) continue;
      if (weights.size() <= i) {
        weights.resize(i + 1);
        weights[i] = make_inputs({.name = "w", .op = c.op, .in = {{out[i].shape(), 0.5, 1.5}}},
                                 DType::kFloat64)[0];
      }
      const Tensor part = reduce_sum(out[i] * to_device(weights[i]));
      sum = sum.is_valid() ? sum + part : part;
    }
    return sum;
  };
  GradientTape tape;
  for (const Tensor& t : tensors) {
    if (is_floating(t.dtype())) tape.watch(t);
  }
  const Tensor target = weigh(run(tensors));
  const auto gradients =
      tape.gradient(std::span(&target, 1), tensors, {}, UnconnectedGradients::kZero);
  constexpr double kStep = 1e-5;
  for (std::size_t i = 0; i < host.size(); ++i) {
    if (!is_floating(host[i].dtype)) continue;
    const HostTensor got = to_host(gradients[i]);
    ASSERT_EQ(got.shape, host[i].shape);
    // A sample of large inputs; a small one where the kernels are the same.
    const std::size_t num_samples = own_device().is_host() ? 24 : 6;
    const std::size_t stride = std::max<std::size_t>(1, host[i].values.size() / num_samples);
    for (std::size_t k = 0; k < host[i].values.size(); k += stride) {
      const std::size_t mirror = c.in[i].is_symmetric ? mirrored(host[i].shape, k) : k;
      double sides[2];
      for (int side = 0; side < 2; ++side) {
        auto moved = host;
        moved[i].values[k] += side ? kStep : -kStep;
        if (mirror != k) moved[i].values[mirror] += side ? kStep : -kStep;
        std::vector<Tensor> in;
        for (const HostTensor& h : moved) in.push_back(to_device(h));
        sides[side] = weigh(run(in)).item<double>();
      }
      const double wanted = (sides[1] - sides[0]) / (2 * kStep);
      const double sum = got.values[k] + (mirror != k ? got.values[mirror] : 0);
      ASSERT_NEAR(sum, wanted, 2e-5 * std::max(1.0, std::abs(wanted)))
          << "input " << i << " element " << k;
    }
  }
}

// Runs a kernel on memory of its own, with a canary behind every output and scratch slot.
TEST_P(OpTableTest, StaysInsideItsOutputsAndScratch) {
  const OpCase& c = GetParam();
  if (op_def(c.op).is_view) return;
  constexpr std::size_t kCanary = 128;
  for (const DType dtype : c.dtypes) {
    const auto tensors = inputs(dtype);
    std::vector<TensorSpec> in_specs;
    std::vector<DeviceSpan> in;
    for (const Tensor& t : tensors) {
      in_specs.push_back({t.dtype(), t.shape()});
      in.push_back({t.impl()->buffer->block.address(), 0, static_cast<std::uint64_t>(t.nbytes())});
    }
    OutSpecs specs;
    InferCtx ctx{c.op, c.attrs, in_specs, specs};
    op_def(c.op).infer(ctx);
    const KernelCall call{c.op, c.attrs, in_specs, specs.all()};
    const PreparedKernel kernel = find_kernel(own_device().kernels(), call);
    std::vector<memory::Block> guarded;
    std::vector<unsigned char> bytes;
    const auto guard = [&](std::uint64_t nbytes) {
      bytes.assign(nbytes + kCanary, 0xA5);
      guarded.push_back(own_device().heap().allocate(
          bytes.size(), memory::Owner(memory::Tag::kWorkspace, "guarded")));
      own_device().write(guarded.back().address(), bytes.data(), bytes.size());
      return DeviceSpan{guarded.back().address(), 0, nbytes};
    };
    std::vector<DeviceSpan> out, scratch;
    for (const TensorSpec& spec : specs.all())
      out.push_back(guard(tensor_bytes(spec.dtype, spec.shape)));
    DeviceSpan slots[ScratchBook::kMaxSlots];
    for (const DeviceSpan& slot : kernel.grant(64, slots)) scratch.push_back(guard(slot.nbytes));
    kernel.run({call, in, out, scratch, kernel.state()}).throw_if_error("test");
    for (const memory::Block& block : guarded) {
      bytes.resize(kCanary);
      own_device().read(bytes.data(), block.address() + block.nbytes() - kCanary, kCanary);
      for (std::size_t i = 0; i < kCanary; ++i)
        ASSERT_EQ(bytes[i], 0xA5) << "byte " << i << " behind a buffer was written";
    }
  }
}

// What an op may overwrite, it may: the result is the same.
TEST_P(OpTableTest, MayOverwriteWhatItSays) {
  const OpCase& c = GetParam();
  const Alias alias = op_def(c.op).may_alias;
  if (alias == Alias::kNone) return;
  const auto wanted = run(inputs(c.dtypes[0]));
  for (std::size_t over = 0; over < c.in.size(); ++over) {
    if ((alias == Alias::kIn0 && over != 0) || (alias == Alias::kIn1 && over != 1)) continue;
    const auto tensors = inputs(c.dtypes[0]);
    if (tensors[over].shape() != wanted[0].shape() || tensors[over].dtype() != wanted[0].dtype())
      continue;
    std::vector<TensorSpec> specs;
    std::vector<DeviceSpan> in;
    for (const Tensor& t : tensors) {
      specs.push_back({t.dtype(), t.shape()});
      in.push_back({t.impl()->buffer->block.address(), 0, static_cast<std::uint64_t>(t.nbytes())});
    }
    const TensorSpec out_spec{wanted[0].dtype(), wanted[0].shape()};
    const KernelCall call{c.op, c.attrs, specs, {&out_spec, 1}};
    const PreparedKernel kernel = find_kernel(own_device().kernels(), call);
    if (kernel.scratch_bytes()) continue;
    kernel.run({call, in, {&in[over], 1}, {}, kernel.state()}).throw_if_error("test");
    EXPECT_EQ(to_host(tensors[over]).values, to_host(wanted[0]).values) << "over input " << over;
  }
}

// P3: memory that ends at any of the call's reservations is an error, and nothing has changed.
TEST_P(OpTableTest, OutOfMemoryChangesNothing) {
  const auto in = inputs(GetParam().dtypes[0]);
  memory::Budget budget = own_device().budget();
  const std::uint64_t limit = budget.limit();
  run(in);  // kernels are prepared and cached
  budget.reset_peak();
  const std::uint64_t before = budget.in_use();
  run(in);
  const std::uint64_t needed = budget.peak() - before;
  const auto refuse = [&](std::uint64_t room) {
    budget.set_limit(before + room);
    EXPECT_THROW(run(in), ResourceExhaustedError) << room << " of " << needed;
    EXPECT_EQ(budget.in_use(), before);
  };
  const std::uint64_t step = std::max<std::uint64_t>(64, needed / 4 / 64 * 64);
  for (std::uint64_t room = 0; room < needed; room += step) refuse(room);
  if (needed) refuse(needed - 64);
  budget.set_limit(before + needed);
  EXPECT_NO_THROW(run(in));
  budget.set_limit(limit);
}

TEST(OpTableCoverageTest, EveryOpHasACase) {
  std::set<OpId> covered;
  std::set<std::string> names;
  for (const OpCase& c : all_cases()) {
    covered.insert(c.op);
    EXPECT_TRUE(names.insert(std::string(op_name(c.op)) + "_" + c.name).second)
        << c.name << " is there twice";
  }
  // Passes alone make these, with a program that no caller can give: tests/runtime/passes_test.cpp.
  covered.insert(OpId::Fused);
  for (int i = 0; i < kNumOps; ++i) {
    EXPECT_TRUE(covered.count(static_cast<OpId>(i)))
        << op_name(static_cast<OpId>(i)) << " has no case";
  }
}

}  // namespace
}  // namespace plimsoll::testing_ops
