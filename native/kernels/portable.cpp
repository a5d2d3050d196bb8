// Plain loops that any compiler turns into the vectors it has.
#include "common.hpp"

namespace diffpeaks {
namespace {

struct Unit {
    static constexpr int rows = 4, panels = 1;

    static void multiply(const QueryTile& tile, const Bf16* panel, const Bf16*, float* products) {
        const float* queries = static_cast<const float*>(tile.values);
        const std::int64_t n_features = tile.n_features;
        for (int i = 0; i < rows * panel_width; ++i) products[i] = 0;
        for (std::int64_t f = 0; f < n_features; f += 2) {
            float even[panel_width], odd[panel_width];
            for (int lane = 0; lane < panel_width; ++lane) {
                const Bf16* pair = panel + f * panel_width + 2 * lane;
                even[lane] = as_float(static_cast<std::uint32_t>(pair[0]) << 16);
                odd[lane] = as_float(static_cast<std::uint32_t>(pair[1]) << 16);
            }
            for (int row = 0; row < rows; ++row) {
                const float* query = queries + row * n_features + f;
                float* sums = products + row * panel_width;
                for (int lane = 0; lane < panel_width; ++lane) {
                    sums[lane] += query[0] * even[lane] + query[1] * odd[lane];
                }
            }
        }
    }

    static int choose(const float* products, const float* norms, const float* half_squares, float slack, float need,
                      std::int32_t slot, float* bounds, std::int32_t* slots) {
        int count = 0;
        for (int lane = 0; lane < panel_width; ++lane) {
            const float bound = slack * norms[lane] + (products[lane] - half_squares[lane]);
            bounds[count] = bound;
            slots[count] = slot + lane;
            count += bound >= need;
        }
        return count;
    }
};

}  // namespace

Shifted shift_to_bf16(const float* row, const float* offset, std::int64_t n_features, Bf16* out) {
    return shift_row<Bf16>(row, offset, n_features, out);
}

const Kernel portable_kernel = kernel_of<Unit, Unit, float>("portable", keep_values);

}  // namespace diffpeaks
