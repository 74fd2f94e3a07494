#include "backend/cpu/resize_table.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <span>

namespace plimsoll::cpu {
namespace {

using Index = std::int64_t;

// Adds a span of weights; zeros at its ends are left out.
void add_span(ResizeTable& table, Index start, std::span<const float> weights) {
  while (!weights.empty() && weights.front() == 0) {
    weights = weights.subspan(1);
    ++start;
  }
  while (!weights.empty() && weights.back() == 0) weights = weights.first(weights.size() - 1);
  table.spans.push_back({weights.empty() ? 0 : start, static_cast<Index>(weights.size()),
                         static_cast<Index>(table.weights.size())});
  table.weights.insert(table.weights.end(), weights.begin(), weights.end());
}

// Weights that sum to one, unless they are nothing.
void normalize(std::span<float> weights) {
  float sum = 0;
  for (const float weight : weights) sum += weight;
  if (std::abs(sum) < 1000 * std::numeric_limits<float>::min()) return;
  const float factor = 1.0F / sum;
  for (float& weight : weights) weight *= factor;
}

void add_nearest(ResizeTable& table, Index at, float scale, Index in_size) {
  const auto place = static_cast<Index>(std::floor((static_cast<float>(at) + 0.5F) * scale));
  const float one[] = {1};
  add_span(table, std::clamp<Index>(place, 0, in_size - 1), one);
}

void add_bilinear(ResizeTable& table, Index at, float scale, Index in_size) {
  const float place = (static_cast<float>(at) + 0.5F) * scale - 0.5F;
  const float below = std::floor(place);
  const Index lower = std::max<Index>(static_cast<Index>(below), 0);
  const Index upper = std::min<Index>(static_cast<Index>(std::ceil(place)), in_size - 1);
  const float part = place - below;
  const float both[] = {1.0F - part, part};
  const float one[] = {1};
  if (upper > lower) {
    add_span(table, lower, both);
  } else {
    add_span(table, lower, one);
  }
}

// Keys' cubic, by a table of 1024 steps between two pixels, as TensorFlow has it.
float bicubic_weight(Index step, bool is_far) {
  constexpr int kSteps = 1024;
  constexpr double kA = -0.5;
  const double x = static_cast<double>(static_cast<float>(step) * 1.0F / kSteps);
  const double y = x + 1.0;
  return static_cast<float>(is_far ? ((kA * y - 5 * kA) * y + 8 * kA) * y - 4 * kA
                                   : ((kA + 2) * x - (kA + 3)) * x * x + 1);
}

void add_bicubic(ResizeTable& table, Index at, float scale, Index in_size) {
  const float place = (static_cast<float>(at) + 0.5F) * scale - 0.5F;
  const auto below = static_cast<Index>(std::floor(place));
  const Index step = std::lrint((place - static_cast<float>(below)) * 1024);
  float weights[] = {bicubic_weight(step, true), bicubic_weight(step, false),
                     bicubic_weight(1024 - step, false), bicubic_weight(1024 - step, true)};
  for (Index k = 0; k < 4; ++k) {
    const Index source = below - 1 + k;
    if (source < 0 || source >= in_size) weights[k] = 0;
  }
  normalize(weights);
  // Outside, where all is zero, there may be no pixel.
  const Index first = std::max<Index>(below - 1, 0);
  const Index last = std::min<Index>(below + 2, in_size - 1);
  add_span(table, first,
           std::span<const float>(weights).subspan(static_cast<std::size_t>(first - (below - 1)),
                                                   static_cast<std::size_t>(last - first + 1)));
}

// The mean of what an output covers.
void add_area(ResizeTable& table, Index at, float scale, Index in_size) {
  const float from = static_cast<float>(at) * scale;
  const float to = static_cast<float>(at + 1) * scale;
  const auto first = static_cast<Index>(std::floor(from));
  const auto last = std::min<Index>(static_cast<Index>(std::ceil(to)), in_size);
  std::vector<float> weights;
  for (Index i = first; i < last; ++i) {
    const auto left = static_cast<float>(i), right = static_cast<float>(i + 1);
    weights.push_back((std::min(right, to) - std::max(left, from)) / scale);
  }
  add_span(table, first, weights);
}

// A kernel of scale_and_translate: its radius, and its value at a distance.
struct Filter {
  float radius;
  float (*at)(float);
};

float triangle(float x) {
  return x < 1 ? 1 - x : 0;
}
float keys_cubic(float x) {
  if (x >= 2) return 0;
  return x >= 1 ? ((-0.5F * x + 2.5F) * x - 4.0F) * x + 2.0F : ((1.5F * x - 2.5F) * x) * x + 1.0F;
}
float mitchell_cubic(float x) {
  if (x >= 2) return 0;
  return x >= 1 ? (((-7.0F / 18.0F) * x + 2.0F) * x - 10.0F / 3.0F) * x + 16.0F / 9.0F
                : (((7.0F / 6.0F) * x - 2.0F) * x) * x + 8.0F / 9.0F;
}
template <int kRadius>
float lanczos(float x) {
  constexpr auto kPi = 3.14159265359F;
  x = std::abs(x);
  if (x > kRadius) return 0;
  if (x <= 1e-3F) return 1;
  return kRadius * std::sin(kPi * x) * std::sin(kPi * x / kRadius) / (kPi * kPi * x * x);
}
float gaussian(float x) {
  constexpr float kRadius = 1.5F, kSigma = kRadius / 3;
  return x >= kRadius ? 0 : std::exp(-x * x / (2 * kSigma * kSigma));
}

Filter filter_of(ResizeMethod method) {
  switch (method) {
    case ResizeMethod::kBicubic:
      return {2, keys_cubic};
    case ResizeMethod::kLanczos3:
      return {3, lanczos<3>};
    case ResizeMethod::kLanczos5:
      return {5, lanczos<5>};
    case ResizeMethod::kGaussian:
      return {1.5F, gaussian};
    case ResizeMethod::kMitchellCubic:
      return {2, mitchell_cubic};
    default:
      return {1, triangle};
  }
}

// antialias: an image that shrinks is looked at through a wider filter.
void add_filtered(ResizeTable& table, Index at, float scale, Index in_size, const Filter& filter,
                  bool antialias) {
  const float width = antialias ? std::max(scale, 1.0F) : 1.0F;
  const float place = (static_cast<float>(at) + 0.5F) * scale;
  const auto bound = [&](float x) {
    return std::clamp<Index>(static_cast<Index>(x), 0, in_size - 1);
  };
  const Index first = bound(std::ceil(place - filter.radius * width - 0.5F));
  const Index last = bound(std::floor(place + filter.radius * width - 0.5F));
  std::vector<float> weights;
  for (Index i = first; i <= last; ++i)
    weights.push_back(filter.at(std::abs((static_cast<float>(i) + 0.5F - place) * (1.0F / width))));
  normalize(weights);
  add_span(table, first, weights);
}

}  // namespace

ResizeTable make_resize_table(ResizeMethod method, bool antialias, std::int64_t in_size,
                              std::int64_t out_size) {
  ResizeTable table;
  const float scale = static_cast<float>(in_size) / static_cast<float>(out_size);
  // As scale_and_translate has it, which is given the inverse.
  const float inverse = 1.0F / (static_cast<float>(out_size) / static_cast<float>(in_size));
  for (Index at = 0; at < out_size; ++at) {
    if (method == ResizeMethod::kNearest) {
      add_nearest(table, at, scale, in_size);
    } else if (method == ResizeMethod::kArea) {
      add_area(table, at, scale, in_size);
    } else if (method == ResizeMethod::kBilinear && !antialias) {
      add_bilinear(table, at, scale, in_size);
    } else if (method == ResizeMethod::kBicubic && !antialias) {
      add_bicubic(table, at, scale, in_size);
    } else {
      add_filtered(table, at, inverse, in_size, filter_of(method), antialias);
    }
  }
  return table;
}

ResizeTable transposed(const ResizeTable& table, std::int64_t in_size) {
  // The outputs that an input goes into, from the first to the last.
  std::vector<std::pair<Index, Index>> ranges(static_cast<std::size_t>(in_size), {0, -1});
  const auto for_each = [&](auto&& f) {
    for (std::size_t o = 0; o < table.spans.size(); ++o) {
      const ResizeTable::Span& span = table.spans[o];
      for (Index k = 0; k < span.count; ++k)
        f(static_cast<std::size_t>(span.start + k), static_cast<Index>(o),
          table.weights[static_cast<std::size_t>(span.first + k)]);
    }
  };
  for_each([&](std::size_t i, Index o, float) {
    if (ranges[i].second < 0) ranges[i].first = o;
    ranges[i].second = o;
  });
  ResizeTable made;
  Index total = 0;
  for (const auto& [first, last] : ranges) {
    made.spans.push_back({first, last - first + 1, total});
    total += last - first + 1;
  }
  made.weights.resize(static_cast<std::size_t>(total));
  for_each([&](std::size_t i, Index o, float weight) {
    made.weights[static_cast<std::size_t>(made.spans[i].first + o - made.spans[i].start)] = weight;
  });
  return made;
}

}  // namespace plimsoll::cpu
