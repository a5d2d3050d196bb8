// Float products on 512-bit vectors: members are widened as they are loaded.
#include "avx512.hpp"

namespace diffpeaks {
namespace {

template <int Rows>
struct Unit : Choose512 {
    static constexpr int rows = Rows, panels = 2;

    static void multiply(const QueryTile& tile, const Bf16* first, const Bf16* second, float* products) {
        const float* queries = static_cast<const float*>(tile.values);
        const std::int64_t n_features = tile.n_features;
        const __m512i upper = _mm512_set1_epi32(static_cast<int>(0xffff0000u));
        __m512 sums[rows][panels];
        for (auto& row : sums) row[0] = row[1] = _mm512_setzero_ps();
        for (std::int64_t f = 0; f < n_features; f += 2) {
            const __m512i a = _mm512_loadu_si512(first + f * panel_width);
            const __m512i b = _mm512_loadu_si512(second + f * panel_width);
            const __m512 a_even = _mm512_castsi512_ps(_mm512_slli_epi32(a, 16));
            const __m512 b_even = _mm512_castsi512_ps(_mm512_slli_epi32(b, 16));
#pragma GCC unroll 16
            for (int row = 0; row < rows; ++row) {
                const __m512 query = _mm512_set1_ps(queries[row * n_features + f]);
                sums[row][0] = _mm512_fmadd_ps(query, a_even, sums[row][0]);
                sums[row][1] = _mm512_fmadd_ps(query, b_even, sums[row][1]);
            }
            const __m512 a_odd = _mm512_castsi512_ps(_mm512_and_si512(a, upper));
            const __m512 b_odd = _mm512_castsi512_ps(_mm512_and_si512(b, upper));
#pragma GCC unroll 16
            for (int row = 0; row < rows; ++row) {
                const __m512 query = _mm512_set1_ps(queries[row * n_features + f + 1]);
                sums[row][0] = _mm512_fmadd_ps(query, a_odd, sums[row][0]);
                sums[row][1] = _mm512_fmadd_ps(query, b_odd, sums[row][1]);
            }
        }
        for (int row = 0; row < rows; ++row) {
            _mm512_storeu_ps(products + row * 2 * panel_width, sums[row][0]);
            _mm512_storeu_ps(products + row * 2 * panel_width + panel_width, sums[row][1]);
        }
    }
};

}  // namespace

const Kernel avx512_kernel{"avx512",
                           true,
                           12,
                           scan_by_rows<Unit<4>, Unit<12>>,
                           shift_row<float>,
                           dot_rows,
                           count_values,
                           keep_values_512,
                           squared_distance<float>,
                           squared_distance<double>};

}  // namespace diffpeaks
