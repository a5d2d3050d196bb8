// Products of bf16 tiles in the matrix unit: 32 queries x 32 members at a time. Few queries are faster as pairs.
#include "bf16_pairs.hpp"

namespace diffpeaks {
namespace {

// The layout of the unit's eight registers: sixteen rows of 64 bytes each.
struct alignas(64) TileConfig {
    std::uint8_t palette = 1, start_row = 0, reserved[14] = {};
    std::uint16_t row_bytes[16] = {64, 64, 64, 64, 64, 64, 64, 64};
    std::uint8_t n_rows[16] = {16, 16, 16, 16, 16, 16, 16, 16};
};

struct TileUnit : Choose512 {
    static constexpr int rows = 32, panels = 2;

    TileUnit() {
        const TileConfig config;
        _tile_loadconfig(&config);
    }
    ~TileUnit() { _tile_release(); }

    // A row of a query tile is 32 features; sixteen feature pairs of a panel are a member tile as they stand.
    static void multiply(const QueryTile& tile, const Bf16* first, const Bf16* second, float* products) {
        const Bf16* queries = static_cast<const Bf16*>(tile.values);
        const std::int64_t query_bytes = tile.n_features * static_cast<std::int64_t>(sizeof(Bf16));
        constexpr int product_bytes = panels * panel_width * static_cast<int>(sizeof(float));
        _tile_zero(0);
        _tile_zero(1);
        _tile_zero(2);
        _tile_zero(3);
        for (std::int64_t f = 0; f < tile.n_features; f += feature_block) {
            _tile_loadd(4, queries + f, query_bytes);
            _tile_loadd(5, queries + 16 * tile.n_features + f, query_bytes);
            _tile_loadd(6, first + f * panel_width, 64);
            _tile_loadd(7, second + f * panel_width, 64);
            _tile_dpbf16ps(0, 4, 6);
            _tile_dpbf16ps(1, 4, 7);
            _tile_dpbf16ps(2, 5, 6);
            _tile_dpbf16ps(3, 5, 7);
        }
        _tile_stored(0, products, product_bytes);
        _tile_stored(1, products + panel_width, product_bytes);
        _tile_stored(2, products + 16 * panels * panel_width, product_bytes);
        _tile_stored(3, products + 16 * panels * panel_width + panel_width, product_bytes);
    }
};

}  // namespace

const Kernel amx_kernel{"amx",
                        false,
                        TileUnit::rows,
                        scan_by_rows<PairUnit<4>, TileUnit>,
                        shift_row<Bf16>,
                        dot_rows,
                        count_values,
                        keep_values_512,
                        squared_distance<float>,
                        squared_distance<double>};

}  // namespace diffpeaks
