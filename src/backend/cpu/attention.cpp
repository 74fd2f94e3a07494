#include "ops/attention_inputs.h"

#include <cstring>
#include <memory>

#include "backend/cpu/attention_blocks.h"
#include "backend/cpu/cpu.h"
#include "backend/cpu/parallel.h"
#include "backend/cpu/types.h"

namespace plimsoll::cpu {
namespace {

constexpr std::int64_t kTilesOfBlock =
    AttentionBlocks<float>::kQueries / AttentionBlocks<float>::kTile;
constexpr std::uint64_t kMaxSumBytes = 32 << 20;  // of sums beyond one per head of keys

template <class F>
auto with_compute(DType dtype, F&& f) {
  return dtype == DType::kFloat64 ? f(TypeTag<double>()) : f(TypeTag<float>());
}

AttentionCall call_of(const KernelCall& call, int first) {
  const AttentionInputs at(call.attrs, first);
  const auto shape = [&](int i) -> const Shape& {
    return call.in[static_cast<std::size_t>(i)].shape;
  };
  const Shape &q = shape(at.q), &k = shape(at.k);
  AttentionCall c{};
  c.batch = q.dim(0);
  c.tq = q.dim(1);
  c.heads = q.dim(2);
  c.d = q.dim(3);
  c.tk = k.dim(1);
  c.kv_heads = k.dim(2);
  c.dv = shape(at.v).dim(3);
  c.scale = call.attrs[attr::Attention::scale].as_float();
  c.rate = call.attrs[attr::Attention::rate].as_float();
  c.is_causal = call.attrs[attr::Attention::is_causal].as_bool();
  const auto strides = [&](int i, AttentionCall::Scores& to) {
    if (i < 0) return;
    std::int64_t step = 1;
    for (int dim = 3; dim >= 0; --dim) {
      to.stride[dim] = shape(i).dim(dim) == 1 ? 0 : step;
      step *= shape(i).dim(dim);
    }
  };
  strides(at.bias, c.bias);
  strides(at.mask, c.mask);
  return c;
}
AttentionCall call_of(const RunArgs& args, int first) {
  AttentionCall c = call_of(args.call, first);
  const AttentionInputs at(args.attrs(), first);
  const auto in = [&](int i) {
    return i < 0 ? nullptr : args.in[static_cast<std::size_t>(i)].as<const void>();
  };
  c.q = in(at.q);
  c.k = in(at.k);
  c.v = in(at.v);
  c.bias.at = in(at.bias);
  c.mask.at = in(at.mask);
  c.dlse = in(at.dlse);
  if (at.state >= 0) {
    const TensorSpec& state = args.call.in[static_cast<std::size_t>(at.state)];
    const std::int64_t size = state.shape.num_elements();
    c.start = state.dtype == DType::kInt32
                  ? Philox::from_state(static_cast<const std::int32_t*>(in(at.state)), size)
                  : Philox::from_state(static_cast<const std::int64_t*>(in(at.state)), size);
    c.uniform = with_compute(args.call.in[0].dtype, [](auto tag) {
      using C = typename decltype(tag)::type;
      return fill_kernels(sizeof(C) == 8 ? DType::kFloat64 : DType::kFloat32).uniform;
    });
  }
  return c;
}
bool is_empty(const AttentionCall& c) {
  return c.batch * c.heads * c.tq == 0;
}

// Blocks of queries, and who computes which. With the causal mask later blocks cost more: a thread
// gets as many from the end as from the beginning.
struct AttentionState final : KernelState {
  std::int64_t block = 1, blocks = 0;  // queries of a block; blocks of a head
  std::int64_t parts = 1;              // of the work, each with its scratch
  std::int64_t query_parts = 1;        // backward: parts of the queries of a head
  std::uint64_t part_bytes = 0, sum_bytes = 0;

  std::int64_t balanced(std::int64_t i) const noexcept {
    return i % 2 == 0 ? i / 2 : blocks - 1 - i / 2;
  }
};

std::shared_ptr<AttentionState> make_state(const AttentionCall& c, DType dtype,
                                           std::int64_t threads) {
  auto state = std::make_shared<AttentionState>();
  const std::int64_t tile = with_compute(
      dtype, [](auto tag) { return AttentionBlocks<typename decltype(tag)::type>::kTile; });
  // Smaller blocks where whole ones would leave threads without work.
  std::int64_t tiles = kTilesOfBlock;
  const auto blocks = [&] { return (c.tq + tiles * tile - 1) / (tiles * tile); };
  while (tiles > 1 && blocks() * c.heads * c.batch < threads) --tiles;
  state->block = tiles * tile;
  state->blocks = blocks();
  return state;
}

KernelStatePtr prepare_forward(const KernelCall& call, ScratchBook& book) {
  const AttentionCall c = call_of(call, 0);
  const DType dtype = call.in[0].dtype;
  const std::int64_t threads = omp_get_max_threads();
  auto state = make_state(c, dtype, threads);
  state->parts = std::clamp<std::int64_t>(state->blocks * c.heads * c.batch, 1, threads);
  state->part_bytes = with_compute(dtype, [&](auto tag) {
    using C = typename decltype(tag)::type;
    AttentionScratch<C> count(nullptr);
    ForwardTiles<C> tiles(count, c);
    return count.nbytes();
  });
  book.book(state->part_bytes * static_cast<std::uint64_t>(state->parts));
  return state;
}

Status run_forward(const RunArgs& args) noexcept {
  AttentionCall c = call_of(args, 0);
  if (is_empty(c)) return {};
  c.out = args.out[0].as<void>();
  c.lse = args.out[1].as<void>();
  const auto& state = *static_cast<const AttentionState*>(args.state);
  const AttentionForwardFn forward = attention_forward_of(args.call.in[0].dtype);
  const std::int64_t tasks = c.batch * c.heads * state.blocks;
  parallel_for(state.parts, 1, [&](std::int64_t begin, std::int64_t end) {
    for (std::int64_t part = begin; part < end; ++part) {
      char* scratch =
          args.scratch[0].as<char>() + static_cast<std::uint64_t>(part) * state.part_bytes;
      for (std::int64_t i = tasks * part / state.parts; i < tasks * (part + 1) / state.parts; ++i) {
        const std::int64_t head = i / state.blocks,
                           q0 = state.balanced(i % state.blocks) * state.block;
        forward(c, head / c.heads, head % c.heads, q0, std::min(state.block, c.tq - q0), scratch);
      }
    }
  });
  return {};
}

// Backward, a thread has heads of keys, with sums over all their queries; where there are fewer
// heads than threads, threads share the queries of a head, and their sums are added up in order.
KernelStatePtr prepare_backward(const KernelCall& call, ScratchBook& book) {
  const AttentionCall c = call_of(call, AttentionInputs::kGradFirst);
  const DType dtype = call.in[0].dtype;
  const std::int64_t threads = omp_get_max_threads();
  const std::int64_t units = std::max<std::int64_t>(1, c.batch * c.kv_heads);
  auto state = make_state(c, dtype, threads);
  with_compute(dtype, [&](auto tag) {
    using C = typename decltype(tag)::type;
    AttentionScratch<C> count(nullptr), sums(nullptr);
    BackwardTiles<C> tiles(count, c);
    KeySums<C> all(sums, c);
    state->part_bytes = count.nbytes();
    state->sum_bytes = sums.nbytes();
    return 0;
  });
  if (units < threads) {
    const std::int64_t wanted = (threads + units - 1) / units;
    const std::uint64_t one = state->sum_bytes * static_cast<std::uint64_t>(units);
    const auto fits = static_cast<std::int64_t>(kMaxSumBytes / std::max<std::uint64_t>(one, 1));
    const std::int64_t most = std::max<std::int64_t>(1, state->blocks * c.group());
    state->query_parts = std::clamp<std::int64_t>(fits, 1, std::min(wanted, most));
  }
  state->parts = std::min(threads, units * state->query_parts);
  book.book(state->part_bytes * static_cast<std::uint64_t>(state->parts));
  const std::int64_t sums = state->query_parts > 1 ? units * state->query_parts : state->parts;
  book.book(state->sum_bytes * static_cast<std::uint64_t>(sums));
  return state;
}

// Adds part `part` of the queries of head `unit` of keys to `sums`.
void add_queries(const AttentionCall& c, const AttentionState& state,
                 const AttentionBackwardFns& fns, std::int64_t unit, std::int64_t part,
                 void* scratch, char* sums) {
  std::memset(sums, 0, state.sum_bytes);
  const std::int64_t b = unit / c.kv_heads, first_head = unit % c.kv_heads * c.group();
  const std::int64_t tasks = c.group() * state.blocks;
  const std::int64_t end = tasks * (part + 1) / state.query_parts;
  for (std::int64_t i = tasks * part / state.query_parts; i < end; ++i) {
    const std::int64_t q0 = state.balanced(i % state.blocks) * state.block;
    fns.queries(c, b, first_head + i / state.blocks, q0, std::min(state.block, c.tq - q0), scratch,
                sums);
  }
}

Status run_backward(const RunArgs& args) noexcept {
  AttentionCall c = call_of(args, AttentionInputs::kGradFirst);
  c.dout = args.in[0].as<const void>();
  c.out = args.in[1].as<void>();
  c.lse = args.in[2].as<void>();
  c.dq = args.out[0].as<void>();
  c.dk = args.out[1].as<void>();
  c.dvalue = args.out[2].as<void>();
  const auto& state = *static_cast<const AttentionState*>(args.state);
  const AttentionBackwardFns fns = attention_backward_of(args.call.in[0].dtype);
  const std::int64_t units = c.batch * c.kv_heads, tasks = units * state.query_parts;
  char* all_sums = args.scratch[1].as<char>();
  const bool is_shared = state.query_parts > 1;
  parallel_for(state.parts, 1, [&](std::int64_t begin, std::int64_t end) {
    for (std::int64_t part = begin; part < end; ++part) {
      char* scratch =
          args.scratch[0].as<char>() + static_cast<std::uint64_t>(part) * state.part_bytes;
      for (std::int64_t i = tasks * part / state.parts; i < tasks * (part + 1) / state.parts; ++i) {
        const std::int64_t unit = i / state.query_parts;
        char* sums = all_sums + static_cast<std::uint64_t>(is_shared ? i : part) * state.sum_bytes;
        add_queries(c, state, fns, unit, i % state.query_parts, scratch, sums);
        if (!is_shared) fns.keys(c, unit / c.kv_heads, unit % c.kv_heads, sums, 1, 0, 0, c.tk);
      }
    }
  });
  if (!is_shared) return {};
  parallel_for(units * c.tk, 256, [&](std::int64_t begin, std::int64_t end) {
    while (begin < end) {
      const std::int64_t unit = begin / c.tk, first = begin % c.tk;
      const std::int64_t last = std::min(c.tk, first + (end - begin));
      fns.keys(c, unit / c.kv_heads, unit % c.kv_heads,
               all_sums + static_cast<std::uint64_t>(unit * state.query_parts) * state.sum_bytes,
               state.query_parts, state.sum_bytes, first, last);
      begin += last - first;
    }
  });
  return {};
}

// The gradient of the bias: threads share what its elements are not summed over.
KernelStatePtr prepare_bias(const KernelCall& call, ScratchBook& book) {
  const AttentionCall c = call_of(call, AttentionInputs::kGradFirst);
  const DType dtype = call.in[0].dtype;
  const std::int64_t threads = omp_get_max_threads();
  auto state = make_state(c, dtype, threads);
  const std::int64_t rows = c.bias.stride[2] ? state->blocks : 1;
  const std::int64_t heads = c.bias.stride[1] ? c.heads : 1, batch = c.bias.stride[0] ? c.batch : 1;
  state->parts = std::clamp<std::int64_t>(rows * heads * batch, 1, threads);
  with_compute(dtype, [&](auto tag) {
    using C = typename decltype(tag)::type;
    AttentionScratch<C> count(nullptr);
    BackwardTiles<C> tiles(count, c);
    state->part_bytes = count.nbytes();
    return 0;
  });
  book.book(state->part_bytes * static_cast<std::uint64_t>(state->parts));
  const bool is_wide = dtype == DType::kFloat32 || dtype == DType::kFloat64;
  const auto elements = static_cast<std::uint64_t>(call.out[0].shape.num_elements());
  book.book(is_wide ? 0 : elements * sizeof(float));
  return state;
}

Status run_bias(const RunArgs& args) noexcept {
  AttentionCall c = call_of(args, AttentionInputs::kGradFirst);
  c.dout = args.in[0].as<const void>();
  c.out = args.in[1].as<void>();
  c.lse = args.in[2].as<void>();
  const DType dtype = args.call.in[0].dtype;
  const bool is_wide = dtype == DType::kFloat32 || dtype == DType::kFloat64;
  const DeviceSpan& sums = is_wide ? args.out[0] : args.scratch[1];
  c.dbias = sums.as<void>();
  const std::int64_t elements = args.call.out[0].shape.num_elements();
  std::memset(c.dbias, 0, static_cast<std::size_t>(elements) * (dtype == DType::kFloat64 ? 8 : 4));
  const auto& state = *static_cast<const AttentionState*>(args.state);
  const AttentionBackwardFns fns = attention_backward_of(dtype);
  const std::int64_t rows = c.bias.stride[2] ? state.blocks : 1;
  const std::int64_t heads = c.bias.stride[1] ? c.heads : 1, batch = c.bias.stride[0] ? c.batch : 1;
  const std::int64_t tasks = is_empty(c) ? 0 : rows * heads * batch;
  // A task has its own elements of the gradient, and everything that is summed into them.
  const auto each = [](std::int64_t count, std::int64_t of, std::int64_t i, auto&& f) {
    for (std::int64_t k = count == 1 ? 0 : i; k < (count == 1 ? of : i + 1); ++k) f(k);
  };
  parallel_for(state.parts, 1, [&](std::int64_t begin, std::int64_t end) {
    for (std::int64_t part = begin; part < end; ++part) {
      char* scratch =
          args.scratch[0].as<char>() + static_cast<std::uint64_t>(part) * state.part_bytes;
      for (std::int64_t i = tasks * part / state.parts; i < tasks * (part + 1) / state.parts; ++i) {
        each(batch, c.batch, i / heads / rows, [&](std::int64_t b) {
          each(heads, c.heads, i / rows % heads, [&](std::int64_t h) {
            each(rows, state.blocks, i % rows, [&](std::int64_t block) {
              const std::int64_t q0 = block * state.block;
              fns.queries(c, b, h, q0, std::min(state.block, c.tq - q0), scratch, nullptr);
            });
          });
        });
      }
    }
  });
  if (!is_wide) {
    visit_dtype(dtype, [&](auto tag) {
      using T = typename decltype(tag)::type;
      if constexpr (std::is_same_v<compute_t<T>, float> && !std::is_same_v<T, float>) {
        for (std::int64_t i = 0; i < elements; ++i)
          args.out[0].as<T>()[i] = T(sums.as<const float>()[i]);
      }
    });
  }
  return {};
}

const KernelDef kRows[] = {
    {.op = OpId::Attention, .dtypes = kFloats, .prepare = prepare_forward, .run = run_forward},
    {.op = OpId::AttentionGrad,
     .dtypes = kFloats,
     .prepare = prepare_backward,
     .run = run_backward},
    {.op = OpId::AttentionBiasGrad, .dtypes = kFloats, .prepare = prepare_bias, .run = run_bias},
};

}  // namespace

std::span<const KernelDef> attention_kernels() {
  return kRows;
}

}  // namespace plimsoll::cpu
