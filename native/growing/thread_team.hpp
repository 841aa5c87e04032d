// Threads that share the work of one call: made when it begins, gone when it ends, so that nothing outlives it and
// nothing breaks under fork. They sleep while there is nothing to do.
#pragma once

#include <condition_variable>
#include <cstdint>
#include <exception>
#include <functional>
#include <mutex>
#include <thread>
#include <utility>
#include <vector>

namespace hornbeam {

class Team {
  public:
    // Of so many members, or fewer if the system grants no more threads: results do not depend on how many there are.
    explicit Team(int size) {
        threads_.reserve(size - 1);
        try {
            for (int member = 1; member < size; ++member) threads_.emplace_back([this, member] { serve(member); });
        } catch (const std::exception&) {
        }
    }
    ~Team() {
        {
            std::lock_guard<std::mutex> lock(mutex_);
            task_ = nullptr;
            ++round_;
        }
        begin_.notify_all();
        for (std::thread& thread : threads_) thread.join();
    }
    Team(const Team&) = delete;
    Team& operator=(const Team&) = delete;

    int size() const { return static_cast<int>(threads_.size()) + 1; }

    // Calls task(member) once for each member, and returns when all have come back. The caller is member 0. What one of
    // them throws (memory may run out) is thrown again here, when nobody works with the caller's variables any more.
    void run(const std::function<void(int)>& task) {
        if (size() == 1) return task(0);
        {
            std::lock_guard<std::mutex> lock(mutex_);
            task_ = &task;
            busy_ = size() - 1;
            ++round_;
        }
        begin_.notify_all();
        attempt(task, 0);
        std::unique_lock<std::mutex> lock(mutex_);
        end_.wait(lock, [&] { return busy_ == 0; });
        if (failure_) std::rethrow_exception(std::exchange(failure_, nullptr));
    }

  private:
    void attempt(const std::function<void(int)>& task, int member) {
        try {
            task(member);
        } catch (...) {
            std::lock_guard<std::mutex> lock(mutex_);
            failure_ = std::current_exception();
        }
    }

    void serve(int member) {
        int64_t seen = 0;
        for (;;) {
            const std::function<void(int)>* task;
            {
                std::unique_lock<std::mutex> lock(mutex_);
                begin_.wait(lock, [&] { return round_ != seen; });
                seen = round_;
                task = task_;
            }
            if (!task) return;
            attempt(*task, member);
            std::lock_guard<std::mutex> lock(mutex_);
            if (--busy_ == 0) end_.notify_one();
        }
    }

    std::vector<std::thread> threads_;
    std::mutex mutex_;
    std::condition_variable begin_, end_;
    const std::function<void(int)>* task_ = nullptr;
    std::exception_ptr failure_;
    int busy_ = 0;
    int64_t round_ = 0;
};

}  // namespace hornbeam
