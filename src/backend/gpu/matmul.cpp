#include <fmt/format.h>

#include "backend/gpu/dialect.h"

namespace plimsoll::gpu {

std::string matmul_source(DType dtype, bool transpose_a, bool transpose_b) {
  return fmt::format(
      R"({types}
typedef {real} real;
typedef {acc} acc_t;
KERNEL void matmul(int64 rows, int64 columns, int64 depth, int64 num, Walk batch,
                   GLOBAL uchar* out, int64 out_at, GLOBAL const uchar* a, int64 a_at,
                   GLOBAL const uchar* b, int64 b_at) {{
  LOCAL real a_tile[TILE][TILE], b_tile[TILE][TILE];
  int64 tiles_across = (columns + TILE - 1) / TILE, tiles_down = (rows + TILE - 1) / TILE;
  for (int64 g = GROUP_ID; g < tiles_across * tiles_down * num; g += NUM_GROUPS) {{
  int64 matrix = g / (tiles_across * tiles_down);
  int64 a_first = walk_offset(batch, 0, matrix), b_first = walk_offset(batch, 1, matrix);
  int64 tile = g % (tiles_across * tiles_down);
  int r = LOCAL_ID / TILE, c = LOCAL_ID % TILE;
  int64 row = tile / tiles_across * TILE + r, column = tile % tiles_across * TILE + c;
  acc_t sum = 0;
  for (int64 k = 0; k < depth; k += TILE) {{
    a_tile[r][c] = row < rows && k + c < depth
                       ? load_{dtype}(a + a_at, a_first + {a_index}) : 0;
    b_tile[r][c] = k + r < depth && column < columns
                       ? load_{dtype}(b + b_at, b_first + {b_index}) : 0;
    BARRIER;
    for (int i = 0; i < TILE; ++i) sum += (acc_t)a_tile[r][i] * b_tile[i][c];
    BARRIER;
  }}
  if (row < rows && column < columns)
    store_{dtype}(out + out_at, (matrix * rows + row) * columns + column, (real)sum);
  }}
}}
)",
      fmt::arg("types", fmt::format("#define TILE {}\n{}", kMatMulTile, kTypes)),
      fmt::arg("real", compute_type(dtype)),
      fmt::arg("acc", is_floating(dtype) ? compute_type(dtype) : "int64"),
      fmt::arg("dtype", dtype_name(dtype)),
      fmt::arg("a_index", transpose_a ? "(k + c) * rows + row" : "row * depth + k + c"),
      fmt::arg("b_index", transpose_b ? "column * depth + k + r" : "(k + r) * columns + column"));
}

}  // namespace plimsoll::gpu
