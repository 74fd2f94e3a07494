// An index that is out of range is named with its position and the bound, and nothing has changed.
#include "ops/error_text.h"
#include "plimsoll/ops.h"
#include "runtime/context.h"

namespace plimsoll::testing_ops {
namespace {

const auto x() {
  return ones({2, 3});
}

TEST(GatherErrorsTest, IndexOutOfRange) {
  EXPECT_INVALID(gather(x(), constant({7})), "indices[0] = 7 is not in [0, 2)");
  EXPECT_INVALID(gather(x(), constant({-1})), "indices[0] = -1 is not in [0, 2)");
  EXPECT_INVALID(gather(x(), constant(7)), "indices = 7 is not in [0, 2)");
  EXPECT_INVALID(gather(x(), constant({0, 1, 0, 7}, {2, 2})), "indices[1,1] = 7 is not in [0, 2)");
  EXPECT_INVALID(gather(x(), constant({0, 5}, {2, 1}), 1, 1), "indices[1,0] = 5 is not in [0, 3)");
  EXPECT_INVALID(gather(zeros({0, 3}), constant({0})), "indices[0] = 0 is not in [0, 0)");
  EXPECT_INVALID(nn::embedding_lookup(x(), constant({std::int64_t{1} << 40})),
                 "indices[0] = 1099511627776 is not in [0, 2)");
}

TEST(GatherErrorsTest, IndexVectorOutOfRange) {
  EXPECT_INVALID(gather_nd(x(), constant({0, 7}, {1, 2})),
                 "indices[0] = [0, 7] does not index into param shape [2,3]");
  EXPECT_INVALID(gather_nd(x(), constant({0, 1, 2, 0}, {1, 2, 2})),
                 "indices[0,1] = [2, 0] does not index into param shape [2,3]");
  EXPECT_INVALID(gather_nd(x(), constant({7})),
                 "indices = [7] does not index into param shape [2,3]");
  EXPECT_INVALID(scatter_nd(constant({7}, {1, 1}), ones({1}), {5}),
                 "indices[0] = [7] does not index into shape [5]");
  EXPECT_INVALID(tensor_scatter_nd_add(x(), constant({7}, {1, 1}), ones({1, 3})),
                 "indices[0] = [7] does not index into shape [2,3]");
  EXPECT_INVALID(tensor_scatter_nd_update(x(), constant({0, -1}, {2, 1}), ones({2, 3})),
                 "indices[1] = [-1] does not index into shape [2,3]");
}

TEST(GatherErrorsTest, NothingIsHeldAfterwards) {
  const Tensor params = x();
  const Tensor indices = constant({0, 7});
  const memory::Budget& budget = Context::get().cpu().budget();
  EXPECT_THROW(gather(params, indices), InvalidArgumentError);
  const std::uint64_t before = budget.in_use();
  for (int i = 0; i < 100; ++i) EXPECT_THROW(gather(params, indices), InvalidArgumentError);
  EXPECT_EQ(budget.in_use(), before);
  EXPECT_EQ(params.to_vector<float>(), std::vector<float>(6, 1.0F));
}

TEST(GatherErrorsTest, Shapes) {
  EXPECT_INVALID(gather(x(), constant({0}), 3), "Shape must be at least rank 4 but is rank 2");
  EXPECT_INVALID(gather(x(), constant({0}), -3), "Expected axis in the range [-2, 2), but got -3");
  EXPECT_INVALID(gather(x(), constant({0, 1, 0}, {3, 1}), 1, 1),
                 "params.shape[0]: 2 should be equal to indices.shape[0]: 3");
  EXPECT_INVALID(gather(x(), constant({0}), 0, 1), "batch_dims (1) must be less than or equal to");
  EXPECT_INVALID(gather(x(), constant({1.5F})),
                 "Value for attr 'Tindices' of float is not in the list of allowed values");
  EXPECT_INVALID(gather_nd(x(), constant({0, 1, 1}, {1, 3})),
                 "index innermost dimension length must be <= params rank; saw: 3 vs. 2");
  EXPECT_INVALID(scatter_nd(constant({1}, {1, 1}), ones({1, 1}), {5}),
                 "Dimensions [1,1) of input[shape=[5]] must match dimensions [1,2) of "
                 "updates[shape=[1,1]]");
  EXPECT_INVALID(scatter_nd(constant({1, 2}, {2, 1}), ones({1}), {5}),
                 "Dimensions [0,1) of indices[shape=[2,1]] must match dimensions [0,1) of "
                 "updates[shape=[1]]");
  EXPECT_INVALID(tensor_scatter_nd_update(x(), constant({1}, {1, 1}), ones({1, 3}, int32)),
                 "cannot compute TensorScatterUpdate as input #2(zero-based) was expected to be a "
                 "float tensor but is a int32 tensor");
}

TEST(GatherErrorsTest, Masks) {
  const Tensor mask = constant({true, false});
  EXPECT_INVALID(boolean_mask(x(), x()), "boolean_mask needs a mask of type bool, got float");
  EXPECT_INVALID(boolean_mask(x(), constant(true)), "mask cannot be scalar.");
  EXPECT_INVALID(boolean_mask(x(), mask, 1), "Shapes [3] and [2] are incompatible");
  EXPECT_INVALID(boolean_mask(x(), constant({true, true}, {1, 2})),
                 "Shapes [2,3] and [1,2] are incompatible");
  EXPECT_INVALID(boolean_mask(x(), ones({2, 3, 1}, bool_)), "Shapes [2,3] and [2,3,1]");
  EXPECT_INVALID(boolean_mask(x(), mask, 2), "Expected axis in the range [-2, 2), but got 2");
  EXPECT_INVALID(where(Tensor()), "where of an empty Tensor");
}

}  // namespace
}  // namespace plimsoll::testing_ops
