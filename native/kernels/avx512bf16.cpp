#include "bf16_pairs.hpp"

namespace diffpeaks {

const Kernel avx512bf16_kernel = kernel_of<PairUnit<4>, PairUnit<12>, Bf16>("avx512bf16", keep_values_512);

}  // namespace diffpeaks
