#include "bf16_pairs.hpp"

namespace diffpeaks {

const Kernel avx512bf16_kernel{"avx512bf16",
                               false,
                               12,
                               scan_by_rows<PairUnit<4>, PairUnit<12>>,
                               shift_row<Bf16>,
                               dot_rows,
                               count_values,
                               keep_values_512,
                               squared_distance<float>,
                               squared_distance<double>};

}  // namespace diffpeaks
