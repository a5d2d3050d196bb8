// What an x86 processor can do, read from CPUID: the compilers' own tests know different names for its features.
#pragma once

#include <cpuid.h>

#include <cstdint>

namespace diffpeaks {

struct X86Features {
    bool avx2, avx512, avx512bf16, amx_bf16;
};

// Register XCR0: a bit for each kind of registers that the operating system saves.
inline std::uint32_t saved_registers() {
    std::uint32_t low, high;
    __asm__("xgetbv" : "=a"(low), "=d"(high) : "c"(0));
    return low;
}

constexpr bool has_all(std::uint32_t value, std::uint32_t bits) { return (value & bits) == bits; }
constexpr std::uint32_t bit(int position) { return std::uint32_t{1} << position; }

inline X86Features x86_features() {
    std::uint32_t eax, ebx, ecx, edx;
    constexpr std::uint32_t fma = bit(12), osxsave = bit(27), avx = bit(28);
    if (!__get_cpuid(1, &eax, &ebx, &ecx, &edx) || !has_all(ecx, fma | osxsave | avx)) return {};
    if (!__get_cpuid_count(7, 0, &eax, &ebx, &ecx, &edx)) return {};
    constexpr std::uint32_t vectors = bit(1) | bit(2), masks = bit(5) | bit(6) | bit(7), tiles = bit(17) | bit(18);
    constexpr std::uint32_t f_dq_bw_vl = bit(16) | bit(17) | bit(30) | bit(31), tile_and_bf16 = bit(22) | bit(24);
    const std::uint32_t saved = saved_registers();
    X86Features found{};
    found.avx2 = has_all(ebx, bit(5)) && has_all(saved, vectors);
    found.avx512 = found.avx2 && has_all(ebx, f_dq_bw_vl) && has_all(saved, vectors | masks);
    found.amx_bf16 = found.avx512 && has_all(edx, tile_and_bf16) && has_all(saved, tiles);
    if (eax >= 1 && __get_cpuid_count(7, 1, &eax, &ebx, &ecx, &edx)) {
        found.avx512bf16 = found.avx512 && has_all(eax, bit(5));
    }
    return found;
}

}  // namespace diffpeaks
