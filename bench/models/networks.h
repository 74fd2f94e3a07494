// The networks, without loss and optimizer: Keras models that give logits.
#pragma once

#include "plimsoll/keras/model.h"

namespace plimsoll::bench {

keras::ModelPtr make_mlp();                      // 784-512-512-10
keras::ModelPtr make_mnist_cnn(double dropout);  // Keras's simple_mnist_convnet
keras::ModelPtr make_resnet50();                 // v1, stride on the 3x3
keras::ModelPtr make_mobilenet_v2();             // width 1
keras::ModelPtr make_transformer_encoder();      // 4 layers of 256, 4 heads
keras::ModelPtr make_lstm();                     // 256 units over 64 steps of 128

}  // namespace plimsoll::bench
