// Splits a range of rows over threads. Rows never share output, so results do not depend on the number of threads.
#pragma once

#include <algorithm>
#include <atomic>
#include <cstdint>
#include <exception>
#include <thread>
#include <vector>

#include "observer.hpp"

namespace diffpeaks {

// Runs body(worker) on that many threads, the first of them this one, and passes on a failure.
template <class Body>
void on_threads(std::int64_t n_workers, Body body) {
    std::vector<std::exception_ptr> failures(static_cast<std::size_t>(n_workers));
    const auto run = [&](std::int64_t worker) {
        try {
            body(worker);
        } catch (...) {
            failures[static_cast<std::size_t>(worker)] = std::current_exception();
        }
    };
    std::vector<std::thread> threads;
    threads.reserve(static_cast<std::size_t>(n_workers));
    std::int64_t started = 1;
    try {
        for (; started < n_workers; ++started) threads.emplace_back(run, started);
    } catch (const std::exception&) {
        // the system gives no more threads, or no memory for them: this one does the rest of the work
    }
    run(0);
    for (std::int64_t worker = started; worker < n_workers; ++worker) run(worker);
    for (auto& thread : threads) thread.join();
    for (auto& failure : failures) {
        if (failure) std::rethrow_exception(failure);
    }
}

// How many parts of rows add up apart, whatever the number of threads, so that sums are rounded alike.
constexpr std::int64_t n_parts_of(std::int64_t n_rows) { return n_rows < (1 << 15) ? 1 : 8; }

// Splits [0, n_rows) into consecutive parts, at most n_threads of them, one thread a part. Calls body(first, last,
// part) on consecutive runs of each; between two runs the loop can be interrupted.
template <class Body>
void parallel_rows(std::int64_t n_rows, int n_threads, Body body) {
    constexpr std::int64_t run_rows = 4096;  // for fewer a thread costs more than it saves
    const std::int64_t useful = std::max<std::int64_t>(1, n_rows / run_rows);
    const std::int64_t n_parts = std::min<std::int64_t>(std::max(n_threads, 1), useful);
    std::atomic<bool> failed{false};
    on_threads(n_parts, [&](std::int64_t part) {
        const std::int64_t end = n_rows * (part + 1) / n_parts;
        try {
            for (std::int64_t first = n_rows * part / n_parts; first < end && !failed; first += run_rows) {
                body(first, std::min(first + run_rows, end), part);
                if (part == 0) tell_observer(LoopPart{}, 0, 1);
            }
        } catch (...) {
            failed = true;
            throw;
        }
    });
}

// Calls work(chunk) for every chunk in [0, n_chunks). Each thread has a worker of its own from make_worker() and takes
// the next chunk when it is done with one, so that all stay busy where chunks differ in cost. The chunks are that part
// of a longer loop, of which the observer is told; after a failure, the observer's too, no chunk is begun.
template <class MakeWorker>
void parallel_chunks(std::int64_t n_chunks, int n_threads, LoopPart part, MakeWorker make_worker) {
    std::atomic<std::int64_t> next{0}, n_done{0};
    on_threads(std::max<std::int64_t>(1, std::min<std::int64_t>(n_threads, n_chunks)), [&](std::int64_t worker) {
        try {
            auto work = make_worker();
            for (std::int64_t chunk = next++; chunk < n_chunks; chunk = next++) {
                work(chunk);
                const std::int64_t so_far = ++n_done;
                if (worker == 0) tell_observer(part, so_far, n_chunks);
            }
        } catch (...) {
            next = n_chunks;
            throw;
        }
    });
}

template <class MakeWorker>
void parallel_chunks(std::int64_t n_chunks, int n_threads, MakeWorker make_worker) {
    parallel_chunks(n_chunks, n_threads, LoopPart{}, make_worker);
}

}  // namespace diffpeaks
