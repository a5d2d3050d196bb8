// Which kernels this processor has, fastest first, and which of them is in use.
#pragma once

#include <vector>

#include "kernel.hpp"

namespace diffpeaks {

constexpr const char* kernel_variable = "DIFFPEAKS_KERNEL";

// Fastest first; the portable one is always there.
const std::vector<const Kernel*>& supported_kernels();

// The fastest, or the one that the environment variable names; throws std::invalid_argument if it is none of them.
const Kernel& chosen_kernel();

}  // namespace diffpeaks
