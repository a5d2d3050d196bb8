// What a processor does for the search: a table of functions for each instruction set, chosen at run time.
//
// The files of this folder are compiled with different instruction sets. So that the linker never takes a function of
// one for another, they share only plain types, and templates in unnamed namespaces.
#pragma once

#include <cstdint>

namespace diffpeaks {

using Bf16 = std::uint16_t;  // the upper half of a float

constexpr int panel_width = 16;     // members side by side, one in each lane of a vector
constexpr int feature_block = 32;   // features are padded to a multiple: a row of a matrix unit's tile
constexpr int most_tile_rows = 32;  // queries that a kernel takes at once, at most

// Queries in the coordinates of a cell, rounded to bf16. A kernel reads them as bf16 or widened to float.
struct QueryTile {
    const void* values;  // rows of n_features
    std::int64_t n_features;
    int n_rows;               // memory is there for a whole tile
    const float* slack;       // how much a product with a member of norm one may be too small
    const float* need;        // what a product must reach, for each query
    const std::int32_t* row;  // which row of the pending lists belongs to each query
};

// Members of a cell in panels: [feature pair][member][2].
struct Panels {
    const Bf16* values;
    const float* norms;
    const float* half_squares;  // half the squared norm; infinite for padding
    std::int32_t first_slot;
    int n_panels;
};

// Members that may be neighbours, for each query: an upper bound of its product, and where it stands.
struct Pending {
    float* bounds;
    std::int32_t* slots;
    std::int32_t* counts;
    std::int64_t capacity;  // of a row; a kernel may write a vector beyond the last entry
};

// A query against a cell: what the shift to the cell's coordinates left.
struct Shifted {
    float square;    // squared norm of the query in these coordinates
    float rounding;  // squared norm of what was lost to bf16
};

// Some rows, each with a weight.
template <class Real>
struct WeighedRows {
    std::int64_t n;
    const Real* const* rows;
    const double* weights;
};

struct Kernel {
    const char* name;
    bool wide_queries;  // reads queries as float
    int tile_rows;
    // Appends to the pending lists all members whose product with a query, at best, reaches what the query needs.
    void (*scan)(const QueryTile&, const Panels&, const Pending&);
    // query - offset, rounded to bf16, as float or as bf16
    Shifted (*shift)(const float* query, const float* offset, std::int64_t n_features, void* out);
    // dot products of some rows with others; the same numbers from every kernel
    void (*dots)(const float* x, std::int64_t n_x, const float* rows, std::int64_t n_rows, std::int64_t n_features,
                 float* out);
    // how many of the values, none of them negative, are at most so large
    std::int64_t (*count_at_most)(const float* values, std::int64_t n, float most);
    // moves the entries that are at most so large to the front; returns how many
    std::int64_t (*keep_at_most)(float* values, std::int32_t* slots, std::int64_t n, float most);
    double (*squared_distance_f)(const double* query, const float* point, std::int64_t n_features);
    double (*squared_distance_d)(const double* query, const double* point, std::int64_t n_features);
    // in float, which errs by about one rounding for each lane's sum, and not alike in every kernel
    float (*rough_distance)(const float* query, const float* point, std::int64_t n_features);
    // sums += weight x (point - query), point after point; the same numbers from every kernel
    void (*add_differences_f)(const double* query, const WeighedRows<float>& points, std::int64_t n_features,
                              double* sums);
    void (*add_differences_d)(const double* query, const WeighedRows<double>& points, std::int64_t n_features,
                              double* sums);
    // exp(-u) in the place of values u that are not negative; the same numbers from every kernel
    void (*exp_of_negative)(double* values, std::int64_t n);
};

// row - offset, rounded to bf16. For members, which are packed once for every kernel; the functions that the kernels
// share are compiled for one instruction set or the other, and other files cannot call them.
Shifted shift_to_bf16(const float* row, const float* offset, std::int64_t n_features, Bf16* out);

extern const Kernel portable_kernel;
extern const Kernel avx2_kernel;
extern const Kernel avx512_kernel;
extern const Kernel avx512bf16_kernel;
extern const Kernel amx_kernel;

}  // namespace diffpeaks
