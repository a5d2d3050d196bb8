#include "dispatch.hpp"

#include <cstdlib>
#include <stdexcept>
#include <string>

#ifdef DIFFPEAKS_X86
#include "x86_features.hpp"
#ifdef __linux__
#include <sys/syscall.h>
#include <unistd.h>
#endif
#endif

namespace diffpeaks {

#ifdef DIFFPEAKS_X86
namespace {

// The operating system saves the tile registers only of a process that has asked for them.
bool tiles_granted() {
#ifdef __linux__
    constexpr int request_permission = 0x1023, tile_data = 18;
    return syscall(SYS_arch_prctl, request_permission, tile_data) == 0;
#else
    return false;
#endif
}

}  // namespace
#endif

static std::vector<const Kernel*> found_kernels() {
    std::vector<const Kernel*> found;
#ifdef DIFFPEAKS_X86
    const X86Features features = x86_features();
    if (features.amx_bf16 && tiles_granted()) found.push_back(&amx_kernel);
    if (features.avx512bf16) found.push_back(&avx512bf16_kernel);
    if (features.avx512) found.push_back(&avx512_kernel);
    if (features.avx2) found.push_back(&avx2_kernel);
#endif
    found.push_back(&portable_kernel);
    return found;
}

const std::vector<const Kernel*>& supported_kernels() {
    static const std::vector<const Kernel*> found = found_kernels();
    return found;
}

const Kernel& chosen_kernel() {
    const char* forced = std::getenv(kernel_variable);
    if (!forced || !*forced) return *supported_kernels().front();
    std::string names;
    for (const Kernel* kernel : supported_kernels()) {
        if (std::string(forced) == kernel->name) return *kernel;
        names += names.empty() ? kernel->name : std::string(", ") + kernel->name;
    }
    throw std::invalid_argument(std::string(kernel_variable) + "='" + forced +
                                "' is not a kernel of this processor; use one of " + names + ", or unset it");
}

}  // namespace diffpeaks
