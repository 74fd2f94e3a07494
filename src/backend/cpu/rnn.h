// The inner parts of recurrent layers, compiled for several instruction sets.
//
// A step of a block of rows is a product of [x h] with the kernels and the arithmetic of the gates.
// The kernels are packed once, in panels that hold the same units of all gates side by side, so
// that a panel's sums become gates, state and output while they are in the cache. Rows do not
// depend on each other: a thread takes its rows through all steps by itself.
//
// The gradient goes back in chunks of steps. In a chunk each thread takes its rows back, and leaves
// the gradients of the gates before activation (dg) behind, next to x and h of each step; then the
// threads share the columns of the weights' gradients, which add up over chunks.
#pragma once

#include <algorithm>
#include <cstdint>

#include "ops/rnn_setup.h"
#include "plimsoll/dtype.h"

namespace plimsoll::cpu {

inline constexpr std::int64_t kRnnBlockBytes =
    64;  // of a packed row; panels are 1 to 4 of them wide
inline constexpr std::int64_t kRnnMaxBlocks = 4;
inline constexpr std::int64_t kRnnMaxRows = 64;  // of the batch, that go through a step together

// A matrix [k, gates units] in panels of `span` units, each [k, gates span], filled up with zeros.
struct RnnPanels {
  std::int64_t k, gates, units, span;

  std::int64_t width() const noexcept { return gates * span; }
  std::int64_t num() const noexcept { return (units + span - 1) / span; }
  std::int64_t size() const noexcept { return num() * k * width(); }
  std::int64_t units_of(std::int64_t panel) const noexcept {
    return std::min(span, units - panel * span);
  }
};
// As many units as make a panel wide enough; `element_bytes`: of float or double.
inline RnnPanels rnn_panels(std::int64_t k, std::int64_t gates, std::int64_t units,
                            std::int64_t element_bytes) noexcept {
  const std::int64_t block = kRnnBlockBytes / element_bytes;
  return {k, gates, units, block * std::max<std::int64_t>(1, kRnnMaxBlocks / gates)};
}

// What both directions know of a layer. Tensors are of `dtype`; C is float, or double for float64.
struct RnnLayer {
  RnnSetup setup;
  DType dtype;
  std::int64_t batch, time, in, units;

  std::int64_t gates() const noexcept { return setup.num_gates(); }
  std::int64_t columns() const noexcept { return gates() * units; }
  bool resets_before() const noexcept { return setup.kind == RnnKind::kGru && !setup.reset_after; }
  // Gradients of gates of a row and step. With reset_after, the candidate's comes twice: dz dr dq
  // dh.
  std::int64_t dg_columns() const noexcept {
    return setup.kind == RnnKind::kGru && setup.reset_after ? 4 * units : columns();
  }
  std::int64_t element_bytes() const noexcept { return dtype == DType::kFloat64 ? 8 : 4; }
  // Rows of tensors [batch, time, ...] by the number of the step.
  std::int64_t x_row(std::int64_t b, std::int64_t step) const noexcept {
    return y_row(b, setup.go_backwards ? time - 1 - step : step);
  }
  std::int64_t y_row(std::int64_t b, std::int64_t step) const noexcept {
    return setup.time_major ? step * batch + b : b * time + step;
  }
};

// Packed kernels of the forward pass; of Gru without reset_after, the recurrent one in two parts.
struct RnnForwardPanels {
  RnnPanels x, h, candidate;

  explicit RnnForwardPanels(const RnnLayer& l) noexcept
      : x(rnn_panels(l.in, l.gates(), l.units, l.element_bytes())),
        h(rnn_panels(l.units, l.resets_before() ? 2 : l.gates(), l.units, l.element_bytes())),
        candidate(rnn_panels(l.units, 1, l.resets_before() ? l.units : 0, l.element_bytes())) {
    h.span = x.span;
  }
  std::int64_t num() const noexcept { return x.num() + h.num() + candidate.num(); }
  std::int64_t size() const noexcept { return x.size() + h.size() + candidate.size(); }
};

struct RnnForward {
  RnnLayer layer;
  const void *x, *kernel, *recurrent, *bias, *h0, *c0;  // bias, h0, c0: or null
  const bool* mask;                                     // or null
  void *y, *h, *c;
  void* kept;    // C; or null
  void* packed;  // C: panels of the kernel, then of the recurrent kernel
  void* biases;  // C: two rows of columns(), zeros where there is no bias
};
// Elements of C that a block of rows works with.
std::int64_t rnn_forward_work(const RnnLayer& layer, std::int64_t rows) noexcept;

// Transposed kernels of the backward pass: what dg is multiplied with to give dh and dx.
struct RnnBackwardPanels {
  RnnPanels h, candidate, x;

  explicit RnnBackwardPanels(const RnnLayer& l) noexcept
      : h(rnn_panels((l.resets_before() ? 2 : l.gates()) * l.units, 1, l.units, l.element_bytes())),
        candidate(rnn_panels(l.units, 1, l.resets_before() ? l.units : 0, l.element_bytes())),
        x(rnn_panels(l.columns(), 1, l.setup.needs & kNeedsX ? l.in : 0, l.element_bytes())) {}
  std::int64_t num() const noexcept { return h.num() + candidate.num() + x.num(); }
  std::int64_t size() const noexcept { return h.size() + candidate.size() + x.size(); }
};

struct RnnBackward {
  RnnLayer layer;
  std::int64_t chunk;                                                      // steps
  const void *x, *kernel, *recurrent, *y, *kept, *h0, *c0, *dy, *dh, *dc;  // some may be null
  const bool* mask;
  void* dx;                              // or null
  void *dkernel, *drecurrent, *dbiases;  // C, or null; dbiases: two rows of columns()
  void* packed;
  void *carried_h, *carried_c;  // C [batch, units]: the states' gradients
  void* dg;                     // C [chunk, batch, dg_stride()]
  void* steps_x;                // C [chunk, batch, x_stride()]; null without weights
  void* steps_h;                // C [chunk, batch, h_stride()]: before the step
  void* steps_reset;            // C like steps_h: r h, of Gru without reset_after
  std::int32_t* before;  // [time, batch], with a mask: the last step before that counts, or -1

  // A line more than the columns: rows at powers of two would share the cache's lines.
  std::int64_t with_line(std::int64_t columns) const noexcept {
    return columns + kRnnBlockBytes / layer.element_bytes();
  }
  std::int64_t dg_stride() const noexcept { return with_line(layer.dg_columns()); }
  std::int64_t x_stride() const noexcept { return with_line(layer.in); }
  std::int64_t h_stride() const noexcept { return with_line(layer.units); }
};
// Elements of C that a thread works with.
std::int64_t rnn_backward_work(const RnnBackward& backward, std::int64_t rows) noexcept;

// The columns of the weights' gradients, in panels. Those of the candidate of Gru stand by
// themselves.
struct RnnWeightPanels {
  std::int64_t width, first, second;  // elements of a panel; columns of the two parts

  explicit RnnWeightPanels(const RnnLayer& l) noexcept
      : width(kRnnMaxBlocks * kRnnBlockBytes / l.element_bytes()),
        first(l.setup.kind == RnnKind::kGru ? 2 * l.units : l.columns()),
        second(l.columns() - first) {}
  std::int64_t num_first() const noexcept { return (first + width - 1) / width; }
  std::int64_t num() const noexcept { return num_first() + (second + width - 1) / width; }
  bool is_second(std::int64_t i) const noexcept { return i >= num_first(); }
  std::int64_t column(std::int64_t i) const noexcept {
    return is_second(i) ? first + (i - num_first()) * width : i * width;
  }
  std::int64_t columns_of(std::int64_t i) const noexcept {
    return std::min(width, (is_second(i) ? first + second : first) - column(i));
  }
};

struct RnnKernels {
  // Panels [begin, end) of all kernels.
  void (*pack)(const RnnForward&, std::int64_t begin, std::int64_t end);
  // Rows [first, last) of the batch, through all steps.
  void (*forward)(const RnnForward&, std::int64_t first, std::int64_t last, void* work);
};
struct RnnGradKernels {
  void (*pack)(const RnnBackward&, std::int64_t begin, std::int64_t end);
  // Rows [first, last) back from step `end` to step `begin`.
  void (*steps)(const RnnBackward&, std::int64_t begin, std::int64_t end, std::int64_t first,
                std::int64_t last, void* work);
  // Adds steps [begin, end) to panels [first, last) of the weights' gradients; the last steps set.
  void (*weights)(const RnnBackward&, std::int64_t begin, std::int64_t end, std::int64_t first,
                  std::int64_t last, void* work);
};
const RnnKernels& rnn_forward_kernels(DType dtype) noexcept;
const RnnGradKernels& rnn_backward_kernels(DType dtype) noexcept;

}  // namespace plimsoll::cpu
