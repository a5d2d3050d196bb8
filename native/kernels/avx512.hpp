// What the kernels on 512-bit vectors share.
#pragma once

#include <immintrin.h>

#include "common.hpp"

namespace diffpeaks {
namespace {

struct Choose512 {
    static int choose(const float* products, const float* norms, const float* half_squares, float slack, float need,
                      std::int32_t slot, float* bounds, std::int32_t* slots) {
        const __m512 bound = _mm512_fmadd_ps(_mm512_set1_ps(slack), _mm512_loadu_ps(norms),
                                             _mm512_sub_ps(_mm512_loadu_ps(products), _mm512_loadu_ps(half_squares)));
        const __mmask16 kept = _mm512_cmp_ps_mask(bound, _mm512_set1_ps(need), _CMP_GE_OQ);
        if (!kept) return 0;
        const __m512i lanes = _mm512_setr_epi32(0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15);
        // compressed in the register: a compressing store is slow on some processors
        _mm512_storeu_ps(bounds, _mm512_maskz_compress_ps(kept, bound));
        _mm512_storeu_si512(slots, _mm512_maskz_compress_epi32(kept, _mm512_add_epi32(lanes, _mm512_set1_epi32(slot))));
        return __builtin_popcount(kept);
    }
};

inline std::int64_t keep_values_512(float* values, std::int32_t* slots, std::int64_t n, float most) {
    std::int64_t kept = 0;
    for (std::int64_t i = 0; i < n; i += panel_width) {
        const auto inside = static_cast<__mmask16>(n - i >= panel_width ? 0xffff : (1 << (n - i)) - 1);
        const __m512 value = _mm512_maskz_loadu_ps(inside, values + i);
        const __m512i slot = _mm512_maskz_loadu_epi32(inside, slots + i);
        const __mmask16 keep = _mm512_mask_cmp_ps_mask(inside, value, _mm512_set1_ps(most), _CMP_LE_OQ);
        const __mmask16 written = static_cast<__mmask16>((1u << __builtin_popcount(keep)) - 1);
        _mm512_mask_storeu_ps(values + kept, written, _mm512_maskz_compress_ps(keep, value));
        _mm512_mask_storeu_epi32(slots + kept, written, _mm512_maskz_compress_epi32(keep, slot));
        kept += __builtin_popcount(keep);
    }
    return kept;
}

}  // namespace
}  // namespace diffpeaks
