// What the loops of attention are given, and how the work is cut. Compiled for several instruction
// sets: attention_forward.cpp, attention_backward.cpp.
//
// Scores are made transposed, a few keys by a few vectors of queries: then every product reads its
// operands as they lie in memory or in scratch, the softmax goes along rows without horizontal
// sums, and the tile of probabilities is the next product's packed operand. Scores are in units of
// log 2, so that the softmax needs powers of 2 only.
#pragma once

#include <algorithm>
#include <cstdint>

#include "backend/cpu/philox.h"
#include "backend/cpu/random_fill.h"
#include "plimsoll/dtype.h"

namespace plimsoll::cpu {

struct AttentionCall {
  std::int64_t batch, tq, tk, heads, kv_heads, d, dv;
  double scale, rate;
  bool is_causal;
  const void *q, *k, *v;

  // Bias and mask: null, or strides by batch, head, query and key; 0 where it broadcasts.
  struct Scores {
    const void* at = nullptr;
    std::int64_t stride[4] = {};
  };
  Scores bias, mask;
  Philox start;              // of the dropout
  FillFn uniform = nullptr;  // in the type that is computed; null: no dropout

  void *out, *lse;          // forward: results; backward: those of the forward pass
  const void *dout, *dlse;  // dlse may be null
  void *dq, *dk, *dvalue, *dbias;

  // Where row t of head h of batch b lies, in elements.
  std::int64_t query_row(std::int64_t b, std::int64_t t, std::int64_t h, std::int64_t dim) const {
    return ((b * tq + t) * heads + h) * dim;
  }
  std::int64_t key_row(std::int64_t b, std::int64_t t, std::int64_t h, std::int64_t dim) const {
    return ((b * tk + t) * kv_heads + h) * dim;
  }
  std::int64_t group() const {
    return kv_heads ? heads / kv_heads : 1;
  }  // query heads per head of keys
};

// Sizes of tiles, the same for all instruction sets; smaller vectors take more steps.
template <class C>
struct AttentionBlocks {
  static constexpr std::int64_t kLanes = 64 / static_cast<std::int64_t>(sizeof(C));
  static constexpr std::int64_t kTile = 3 * kLanes;  // queries of a tile of scores
  static constexpr std::int64_t kQueries = 6 * kTile;
  static constexpr std::int64_t kKeys = 96;
  static constexpr std::int64_t kRows = 12;  // rows of every product are filled up to this

  static constexpr std::int64_t up(std::int64_t n, std::int64_t to) {
    return (n + to - 1) / to * to;
  }
  static std::int64_t padded(std::int64_t dim) { return up(dim, kLanes); }
};

// Scratch of one thread, carved from a block. Made from null, it only counts.
template <class C>
class AttentionScratch {
 public:
  explicit AttentionScratch(void* block) : block_(static_cast<C*>(block)) {}
  C* take(std::int64_t elements) {
    C* at = block_ ? block_ + used_ : nullptr;
    used_ += AttentionBlocks<C>::up(elements, 64 / static_cast<std::int64_t>(sizeof(C)));
    return at;
  }
  std::uint64_t nbytes() const { return static_cast<std::uint64_t>(used_) * sizeof(C); }

 private:
  C* block_;
  std::int64_t used_ = 0;
};

// What both passes hold of a block of keys, and for a tile of scores.
template <class C>
struct AttentionTiles {
  using B = AttentionBlocks<C>;
  C *k, *v;    // [keys][padded dim]
  C* factors;  // of the dropout: [keys][queries of a tile]
  C* numbers;  // of the dropout, for a row
  AttentionTiles(AttentionScratch<C>& s, const AttentionCall& c)
      : k(s.take(B::kKeys * B::padded(c.d))),
        v(s.take(B::kKeys * B::padded(c.dv))),
        factors(c.rate > 0 ? s.take(B::kKeys * B::kTile) : nullptr),
        numbers(c.rate > 0 ? s.take(B::kKeys + 16) : nullptr) {}
};

template <class C>
struct ForwardTiles : AttentionTiles<C> {
  using B = AttentionBlocks<C>;
  C* q;                   // transposed: [tiles][d][queries of a tile]
  C* scores;              // [keys][queries of a tile]
  C* out;                 // [queries][padded dv]
  C *max, *sum, *shrink;  // [queries]
  ForwardTiles(AttentionScratch<C>& s, const AttentionCall& c)
      : AttentionTiles<C>(s, c),
        q(s.take(B::kQueries * c.d)),
        scores(s.take(B::kKeys * B::kTile)),
        out(s.take(B::kQueries * B::padded(c.dv))),
        max(s.take(B::kQueries)),
        sum(s.take(B::kQueries)),
        shrink(s.take(B::kTile)) {}
};

template <class C>
struct BackwardTiles : AttentionTiles<C> {
  using B = AttentionBlocks<C>;
  C *q, *dout;     // [queries][padded dim]
  C *qt, *dout_t;  // transposed: [tiles][dim][queries of a tile]
  C *p, *ds;       // probabilities and gradients of scores: [keys][kQueries]
  C* dq;           // [queries][padded d]
  C *lse, *delta;  // [queries]
  BackwardTiles(AttentionScratch<C>& s, const AttentionCall& c)
      : AttentionTiles<C>(s, c),
        q(s.take(B::kQueries * B::padded(c.d))),
        dout(s.take(B::kQueries * B::padded(c.dv))),
        qt(s.take(B::kQueries * c.d)),
        dout_t(s.take(B::kQueries * c.dv)),
        p(s.take(B::kKeys * B::kQueries)),
        ds(s.take(B::kKeys * B::kQueries)),
        dq(s.take(B::kQueries * B::padded(c.d))),
        lse(s.take(B::kQueries)),
        delta(s.take(B::kQueries)) {}
};

// Sums of dk and dv over all queries that see them: [tk][padded dim] each.
template <class C>
struct KeySums {
  using B = AttentionBlocks<C>;
  C *dk, *dv;
  std::int64_t dk_size, dv_size;
  KeySums(AttentionScratch<C>& s, const AttentionCall& c)
      : dk_size(B::up(c.tk, B::kRows) * B::padded(c.d)),
        dv_size(B::up(c.tk, B::kRows) * B::padded(c.dv)) {
    dk = s.take(dk_size);
    dv = s.take(dv_size);
  }
};

// By dtype. Queries [q0, q0 + n) of head h of batch b, n <= kQueries.
using AttentionForwardFn = void (*)(const AttentionCall&, std::int64_t b, std::int64_t h,
                                    std::int64_t q0, std::int64_t n, void* scratch);
AttentionForwardFn attention_forward_of(DType dtype) noexcept;  // pre: a floating type

struct AttentionBackwardFns {
  // Gradients of the same: writes dq and adds to `sums`, or adds to dbias if `sums` is null.
  void (*queries)(const AttentionCall&, std::int64_t b, std::int64_t h, std::int64_t q0,
                  std::int64_t n, void* scratch, void* sums);
  // Rows [first, last) of dk and dv of a head, from `parts` KeySums that lie `stride` bytes apart.
  void (*keys)(const AttentionCall&, std::int64_t b, std::int64_t h, const void* sums,
               std::int64_t parts, std::uint64_t stride, std::int64_t first, std::int64_t last);
};
AttentionBackwardFns attention_backward_of(DType dtype) noexcept;

}  // namespace plimsoll::cpu
