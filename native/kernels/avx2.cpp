// Float products on 256-bit vectors: members are widened as they are loaded.
#include <immintrin.h>

#include "common.hpp"

namespace diffpeaks {
namespace {

template <int Rows>
struct Unit {
    static constexpr int rows = Rows, panels = 1, width = 8;

    static void multiply(const QueryTile& tile, const Bf16* panel, const Bf16*, float* products) {
        const float* queries = static_cast<const float*>(tile.values);
        const std::int64_t n_features = tile.n_features;
        const __m256 upper = _mm256_castsi256_ps(_mm256_set1_epi32(static_cast<int>(0xffff0000u)));
        __m256 sums[rows][2];
        for (auto& row : sums) row[0] = row[1] = _mm256_setzero_ps();
        for (std::int64_t f = 0; f < n_features; f += 2) {
            const auto* pairs = reinterpret_cast<const __m256i*>(panel + f * panel_width);
            const __m256i a = _mm256_loadu_si256(pairs), b = _mm256_loadu_si256(pairs + 1);
            const __m256 a_even = _mm256_castsi256_ps(_mm256_slli_epi32(a, 16));
            const __m256 b_even = _mm256_castsi256_ps(_mm256_slli_epi32(b, 16));
#pragma GCC unroll 8
            for (int row = 0; row < rows; ++row) {
                const __m256 query = _mm256_broadcast_ss(queries + row * n_features + f);
                sums[row][0] = _mm256_fmadd_ps(query, a_even, sums[row][0]);
                sums[row][1] = _mm256_fmadd_ps(query, b_even, sums[row][1]);
            }
            const __m256 a_odd = _mm256_and_ps(_mm256_castsi256_ps(a), upper);
            const __m256 b_odd = _mm256_and_ps(_mm256_castsi256_ps(b), upper);
#pragma GCC unroll 8
            for (int row = 0; row < rows; ++row) {
                const __m256 query = _mm256_broadcast_ss(queries + row * n_features + f + 1);
                sums[row][0] = _mm256_fmadd_ps(query, a_odd, sums[row][0]);
                sums[row][1] = _mm256_fmadd_ps(query, b_odd, sums[row][1]);
            }
        }
        for (int row = 0; row < rows; ++row) {
            _mm256_storeu_ps(products + row * panel_width, sums[row][0]);
            _mm256_storeu_ps(products + row * panel_width + width, sums[row][1]);
        }
    }

    static int choose(const float* products, const float* norms, const float* half_squares, float slack, float need,
                      std::int32_t slot, float* bounds, std::int32_t* slots) {
        int count = 0;
        for (int half = 0; half < panel_width; half += width) {
            const __m256 bound =
                _mm256_fmadd_ps(_mm256_set1_ps(slack), _mm256_loadu_ps(norms + half),
                                _mm256_sub_ps(_mm256_loadu_ps(products + half), _mm256_loadu_ps(half_squares + half)));
            unsigned kept =
                static_cast<unsigned>(_mm256_movemask_ps(_mm256_cmp_ps(bound, _mm256_set1_ps(need), _CMP_GE_OQ)));
            if (!kept) continue;
            float values[width];
            _mm256_storeu_ps(values, bound);
            for (; kept; kept &= kept - 1) {
                const int lane = __builtin_ctz(kept);
                bounds[count] = values[lane];
                slots[count++] = slot + half + lane;
            }
        }
        return count;
    }
};

}  // namespace

const Kernel avx2_kernel{"avx2",   true,         6,           scan_by_rows<Unit<3>, Unit<6>>, shift_row<float>,
                         dot_rows, count_values, keep_values, squared_distance<float>,        squared_distance<double>};

}  // namespace diffpeaks
