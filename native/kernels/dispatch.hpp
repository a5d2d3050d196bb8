// Which kernels this processor has, fastest first, and which of them is in use.
#pragma once

#include <string>
#include <vector>

#include "kernel.hpp"

namespace diffpeaks {

// Fastest first; the portable one is always there.
std::vector<const Kernel*> supported_kernels();

// The supported kernel of that name; throws std::invalid_argument with the names there are.
const Kernel& kernel_named(const std::string& name);

}  // namespace diffpeaks
