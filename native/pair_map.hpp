// A table of pairs of hills: open addressing in one array, because every row asks it for each hill that it touches.
#pragma once

#include <algorithm>
#include <cstdint>
#include <utility>
#include <vector>

#include "graph.hpp"

namespace diffpeaks {

// Values by pairs, in whichever order the two are named.
class PairMap {
  public:
    static constexpr Index none = -1;

    Index find(Index a, Index b) const {
        if (slots_.empty()) return none;
        const std::uint64_t key = key_of(a, b);
        for (std::size_t at = home(key);; at = next(at)) {
            if (slots_[at].value == none || slots_[at].key == key) return slots_[at].value;
        }
    }

    // Makes room for so many pairs.
    void reserve(std::size_t n) {
        while (4 * (n + 1) > 3 * slots_.size()) grow();
    }

    // The value that is there, or the one that is put there.
    Index find_or_put(Index a, Index b, Index value) {
        if (4 * (n_ + 1) > 3 * slots_.size()) grow();
        const std::uint64_t key = key_of(a, b);
        for (std::size_t at = home(key);; at = next(at)) {
            if (slots_[at].value == none) {
                slots_[at] = {key, value};
                ++n_;
                return value;
            }
            if (slots_[at].key == key) return slots_[at].value;
        }
    }

    // The value that was there; what follows moves up, so that no search stops at the gap.
    Index take(Index a, Index b) {
        const std::uint64_t key = key_of(a, b);
        if (slots_.empty()) return none;
        std::size_t gap = home(key);
        while (slots_[gap].value != none && slots_[gap].key != key) gap = next(gap);
        const Index taken = slots_[gap].value;
        if (taken == none) return none;
        for (std::size_t at = next(gap); slots_[at].value != none; at = next(at)) {
            const std::size_t mask = slots_.size() - 1;
            if (((at - home(slots_[at].key)) & mask) < ((at - gap) & mask)) continue;  // it would come before its home
            slots_[gap] = slots_[at];
            gap = at;
        }
        slots_[gap].value = none;
        --n_;
        return taken;
    }

  private:
    struct Slot {
        std::uint64_t key = 0;
        Index value = none;
    };

    static std::uint64_t key_of(Index a, Index b) {
        const auto [first, second] = std::minmax(a, b);
        return static_cast<std::uint64_t>(first) << 32 | static_cast<std::uint64_t>(second);
    }
    // the upper bits of a product with the golden ratio: numbers that follow each other are spread
    std::size_t home(std::uint64_t key) const {
        return static_cast<std::size_t>((key * 0x9E3779B97F4A7C15u) >> shift_);
    }
    std::size_t next(std::size_t at) const { return (at + 1) & (slots_.size() - 1); }

    void grow() {
        const std::vector<Slot> old = std::move(slots_);
        slots_.assign(std::max<std::size_t>(16, 2 * old.size()), {});
        shift_ = 64;
        for (std::size_t size = slots_.size(); size > 1; size /= 2) --shift_;
        for (const Slot& slot : old) {
            if (slot.value == none) continue;
            std::size_t at = home(slot.key);
            while (slots_[at].value != none) at = next(at);
            slots_[at] = slot;
        }
    }

    std::vector<Slot> slots_;  // a power of two
    std::size_t n_ = 0;
    int shift_ = 64;
};

}  // namespace diffpeaks
