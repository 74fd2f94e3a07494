// The networks, without loss and optimizer.
#pragma once

#include <functional>

#include "models/layers.h"

namespace plimsoll::bench {

using Network = std::function<Tensor(const Tensor& x)>;  // gives logits

Network make_mlp(Weights& weights);                        // 784-512-512-10
Network make_mnist_cnn(Weights& weights, double dropout);  // Keras's simple_mnist_convnet
Network make_resnet50(Weights& weights);                   // v1, stride on the 3x3
Network make_mobilenet_v2(Weights& weights);               // width 1
Network make_transformer_encoder(Weights& weights);        // 4 layers of 256, 4 heads
Network make_lstm(Weights& weights);                       // 256 units over 64 steps of 128

}  // namespace plimsoll::bench
