// Products of bf16 pairs, summed in float, on 512-bit vectors.
#pragma once

#include "avx512.hpp"

namespace diffpeaks {
namespace {

template <int Rows>
struct PairUnit : Choose512 {
    static constexpr int rows = Rows, panels = 2;

    static void multiply(const QueryTile& tile, const Bf16* first, const Bf16* second, float* products) {
        const Bf16* queries = static_cast<const Bf16*>(tile.values);
        const std::int64_t n_features = tile.n_features;
        __m512 sums[rows][panels];
        for (auto& row : sums) row[0] = row[1] = _mm512_setzero_ps();
        for (std::int64_t f = 0; f < n_features; f += 2) {
            const __m512bh a = reinterpret_cast<__m512bh>(_mm512_loadu_si512(first + f * panel_width));
            const __m512bh b = reinterpret_cast<__m512bh>(_mm512_loadu_si512(second + f * panel_width));
#pragma GCC unroll 16
            for (int row = 0; row < rows; ++row) {
                int pair;
                std::memcpy(&pair, queries + row * n_features + f, sizeof pair);
                const __m512bh query = reinterpret_cast<__m512bh>(_mm512_set1_epi32(pair));
                sums[row][0] = _mm512_dpbf16_ps(sums[row][0], query, a);
                sums[row][1] = _mm512_dpbf16_ps(sums[row][1], query, b);
            }
        }
        for (int row = 0; row < rows; ++row) {
            _mm512_storeu_ps(products + row * 2 * panel_width, sums[row][0]);
            _mm512_storeu_ps(products + row * 2 * panel_width + panel_width, sums[row][1]);
        }
    }
};

}  // namespace
}  // namespace diffpeaks
