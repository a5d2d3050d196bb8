// Who is told how far a long loop is, now and then, on the thread that runs it.
#pragma once

#include <chrono>
#include <cstdint>

namespace diffpeaks {

using Clock = std::chrono::steady_clock;

// Takes the share of a loop that is done. It may throw, which ends the loop.
struct Observer {
    void (*tell)(double share) = nullptr;
    Clock::duration every{};  // at least, between two calls
};

inline Observer observer;

// The part of a loop that some chunks are; by default they only prepare one, and can be interrupted.
struct LoopPart {
    double begin = 0, end = 0;
};

inline constexpr LoopPart whole_loop{0, 1};

// To be called on the thread that runs the loop: only there Python's interrupts arrive.
inline void tell_observer(const LoopPart& part, std::int64_t n_done, std::int64_t n_chunks) {
    static thread_local Clock::time_point last;
    if (!observer.tell) return;
    const Clock::time_point now = Clock::now();
    if (now - last < observer.every) return;
    last = now;
    observer.tell(part.begin + (part.end - part.begin) * static_cast<double>(n_done) / static_cast<double>(n_chunks));
}

// A loop without threads, which can be interrupted: the clock is read once in many rounds.
class SerialLoop {
  public:
    void next() {
        if (++n_rounds_ % rounds_between == 0) tell_observer(LoopPart{}, 0, 1);
    }

  private:
    static constexpr std::uint32_t rounds_between = 1024;
    std::uint32_t n_rounds_ = 0;
};

}  // namespace diffpeaks
