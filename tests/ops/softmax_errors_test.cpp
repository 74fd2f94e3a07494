// What softmax and the cross-entropies refuse, and in which words.
#include <cmath>

#include "ops/error_text.h"
#include "plimsoll/ops.h"

namespace plimsoll {
namespace {

using testing_ops::error_of;

TEST(SoftmaxErrorsTest, LabelOutOfRange) {
  const Tensor logits = constant({1.0F, 2.0F, 3.0F, 4.0F, 5.0F}, {1, 5});
  const std::string start =
      "Received a label value of 7 which is outside the valid range of [0, 5).";
  EXPECT_EQ(error_of([&] {
              nn::sparse_softmax_cross_entropy_with_logits(constant({7}), logits);
            }).substr(0, start.size()),
            start);
  EXPECT_NE(error_of([&] { nn::sparse_softmax_cross_entropy_with_logits(constant({-1}), logits); }),
            "no error");
}

TEST(SoftmaxErrorsTest, ShapesThatDoNotFit) {
  const Tensor logits = constant({1.0F, 2.0F, 3.0F, 4.0F, 5.0F}, {1, 5});
  const Tensor two = constant({0.5F, 0.5F}, {1, 2});
  EXPECT_NE(error_of([&] { nn::softmax_cross_entropy_with_logits(two, logits); }), "no error");
  EXPECT_EQ(error_of([&] {
              nn::sparse_softmax_cross_entropy_with_logits(constant({0, 1}), logits);
            }),
            "`labels.shape` must equal `logits.shape` except for the last dimension. Received: "
            "labels.shape=[2] and logits.shape=[1,5]");
  EXPECT_EQ(error_of([&] { nn::sigmoid_cross_entropy_with_logits(two, logits); }),
            "`logits` and `labels` must have the same shape, received ([1,5] vs [1,2]).");
  EXPECT_EQ(error_of([&] { nn::softmax(two, 3); }),
            "`dim` must be in the range [-2, 2) where 2 is the number of dimensions in the input. "
            "Received: dim=3");
}

TEST(SoftmaxTest, CrossEntropyAlongAnotherAxisAndWeighted) {
  const Tensor logits = constant({1.0F, 2.0F, 3.0F, 4.0F}, {2, 2});
  const Tensor labels = constant({0.0F, 1.0F, 1.0F, 0.0F}, {2, 2});
  const auto loss = nn::softmax_cross_entropy_with_logits(labels, logits, 0).to_vector<float>();
  EXPECT_NEAR(loss[0], 0.126928, 1e-6);  // log(1 + exp(-2))
  EXPECT_NEAR(loss[1], 2.126928, 1e-6);
  // TensorFlow's result.
  const auto weighted =
      nn::weighted_cross_entropy_with_logits(labels, logits, constant(2.0F)).to_vector<float>();
  EXPECT_NEAR(weighted[0], 1.3132616, 1e-6);
  EXPECT_NEAR(weighted[1], 0.25385602, 1e-6);
}

}  // namespace
}  // namespace plimsoll
