// What fronts in other languages use.
#include "plimsoll/interop.h"

#include "plimsoll/device.h"
#include "plimsoll/function.h"
#include "plimsoll/gradient_tape.h"
#include "plimsoll/memory_api.h"
#include "plimsoll/ops.h"
#include "plimsoll/variable.h"
#include "runtime/fresh.h"

namespace plimsoll {
namespace {

using Floats = std::vector<float>;

class InteropTest : public FreshTest {};

TEST_F(InteropTest, ShowsTheMemoryOfTensorsOnTheCpu) {
  const Tensor x = constant({1.0F, 2.0F, 3.0F, 4.0F}, {2, 2});
  const auto* data = static_cast<const float*>(interop::host_data(x));
  ASSERT_NE(data, nullptr);
  EXPECT_EQ(data[3], 4.0F);
  EXPECT_EQ(interop::host_data(reshape(x, {4})), data);
  EXPECT_EQ(interop::host_data(constant("word")), nullptr);
  const Tensor y = interop::copy_from_host(float32, {2, 2}, data);
  EXPECT_NE(interop::tensor_id(x), interop::tensor_id(y));
  Floats copied(4);
  interop::copy_to_host(y, copied.data());
  EXPECT_EQ(copied, Floats({1, 2, 3, 4}));
}

TEST_F(InteropTest, CopiesFromOtherDevices) {
  simulate("rtx-3060-12gb");
  const auto scope = device("/GPU:0");
  const Tensor x = fill({1000}, 2);
  EXPECT_EQ(interop::host_data(x), nullptr);
  Floats copied(1000);
  interop::copy_to_host(x, copied.data());
  EXPECT_EQ(copied, Floats(1000, 2));
}

TEST_F(InteropTest, BorrowsMemoryThatIsNotCounted) {
  auto values = std::make_shared<Floats>(1 << 20, 2.0F);
  const std::weak_ptr<Floats> watched = values;
  const Tensor none = ones({1});  // the runtime is there
  const std::uint64_t before = memory::report().total;
  Tensor x = interop::borrow_from_host(float32, {1 << 10, 1 << 10}, values->data(), values);
  EXPECT_EQ(interop::host_data(x), values->data());
  EXPECT_EQ(memory::report().total, before);
  EXPECT_EQ(memory::report().external, 4U << 20);
  EXPECT_NE(memory::report().to_string().find("(the caller's, not counted)"), std::string::npos);
  values.reset();
  Tensor flat = reshape(x, {1 << 20});
  x = Tensor();
  EXPECT_EQ(reduce_sum(flat).item<float>(), 2.0F * (1 << 20));
  EXPECT_FALSE(watched.expired());
  flat = Tensor();
  EXPECT_TRUE(watched.expired());
  EXPECT_EQ(memory::report().external, 0U);
}

TEST_F(InteropTest, NobodyWritesToBorrowedMemory) {
  Floats values(64, 1.0F);
  Variable v(interop::borrow_from_host(float32, {64}, values.data(), nullptr));
  v.assign_add(ones({64}));
  EXPECT_EQ(v.value().to_vector<float>(), Floats(64, 2));
  EXPECT_EQ(values, Floats(64, 1));
  EXPECT_EQ(memory::report().external, 0U);
}

TEST_F(InteropTest, BorrowsOnlyWhatIsAligned) {
  std::vector<float> values(4);
  const char* odd = reinterpret_cast<const char*>(values.data()) + 1;
  EXPECT_THROW(interop::borrow_from_host(float32, {2}, odd, nullptr), InvalidArgumentError);
  EXPECT_THROW(interop::borrow_from_host(float32, {2}, nullptr, nullptr), InvalidArgumentError);
}

TEST_F(InteropTest, NamesSymbolicTensors) {
  std::vector<std::string> names;
  const auto f = function([&](const Tensor& x) {
    EXPECT_TRUE(interop::is_tracing() && interop::is_symbolic(x));
    interop::set_symbolic_name(x, "x:0");
    const Tensor y = x + x;
    const Tensor z = matmul(y, y + x);
    for (const Tensor& t : {x, y, z}) names.push_back(interop::symbolic_name(t));
    names.push_back(interop::symbolic_name(x + z));
    return z;
  });
  const Tensor one = ones({2, 2});
  f(one);
  EXPECT_EQ(names, (std::vector<std::string>{"x:0", "add:0", "MatMul:0", "add_2:0"}));
  EXPECT_FALSE(interop::is_tracing() || interop::is_symbolic(one));
}

TEST_F(InteropTest, InitScopeExecutesWhileAFunctionIsTraced) {
  GradientTape outside;
  const auto f = function([&](const Tensor& x) {
    GradientTape tape;
    const interop::InitScope now;
    EXPECT_FALSE(interop::is_tracing() || interop::is_recording());
    EXPECT_EQ((constant({1.0F}) + constant({2.0F})).to_vector<float>(), Floats({3}));
    return x;
  });
  f(ones({1}));
  EXPECT_TRUE(interop::is_recording());
}

std::string a_line() {
  return "train.py:12";
}

TEST_F(InteropTest, ReportsNameTheLineOfLargeTensors) {
  memory::set_budget("16MiB");
  interop::set_call_site(&a_line);
  const Tensor small = ones({1000});
  const Tensor large = ones({1 << 20});
  std::vector<std::string> owners;
  for (const memory::ReportRow& row : memory::report().rows) owners.push_back(row.owner);
  EXPECT_EQ(owners, (std::vector<std::string>{"Fill at train.py:12", "Fill"}));
  const std::string text = message_of<ResourceExhaustedError>([] { ones({1 << 22}); });
  EXPECT_NE(text.find("asked for activations 'Fill at train.py:12'"), std::string::npos) << text;
  EXPECT_NE(text.find("largest: 4.0 MiB activations 'Fill at train.py:12'"), std::string::npos);
  interop::set_call_site(nullptr);
}

TEST_F(InteropTest, PlansNameTheLineOfTheirBuffers) {
  interop::set_call_site(&a_line);
  const auto f = function([](const Tensor& x) { return reduce_sum(matmul(x, x)); });
  const MemoryPlan plan = f.plan({{float32, {256, 256}}});
  interop::set_call_site(nullptr);
  ASSERT_FALSE(plan.largest(1).empty());
  for (const PlannedBuffer& b : plan.buffers) {
    if (b.op != "MatMul") continue;
    EXPECT_EQ(b.site, "train.py:12");
  }
  EXPECT_NE(plan.to_json().find("\"site\": \"train.py:12\""), std::string::npos);
}

TEST_F(InteropTest, ATapeGoesOnAfterAStop) {
  const Tensor x = constant({3.0F});
  GradientTape tape({.persistent = true});
  tape.watch(x);
  const Tensor y = x * x;
  tape.stop();
  const Tensor unseen = y * y;
  tape.resume();
  EXPECT_EQ(message_of<FailedPreconditionError>([&] { tape.resume(); }),
            "Tape is still recording.");
  const Tensor z = y * x;
  EXPECT_EQ(tape.gradient(z, x).to_vector<float>(), Floats({27}));
  EXPECT_FALSE(tape.gradient(unseen, x).is_valid());
}

TEST_F(InteropTest, AVariableStandsForAllItsValues) {
  Variable v(constant({3.0F}));
  GradientTape tape;
  Tensor y = v.value() * v.value();
  v.assign(constant({10.0F}));
  y = y + 2.0 * v.value();
  v.assign(constant({0.0F}));
  const Variable* variables[] = {&v};
  EXPECT_EQ(tape.gradient(y, variables)[0].to_vector<float>(), Floats({8}));
}

}  // namespace
}  // namespace plimsoll
