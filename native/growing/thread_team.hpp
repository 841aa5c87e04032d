// Threads of one call. They start with the call and end with it, so that none is alive at a fork. They sleep while
// there is no work.
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

class ThreadTeam {
  public:
    // A team of `size` members, or fewer if the system has no more threads: results do not depend on the size.
    explicit ThreadTeam(int size) {
        threads_.reserve(size - 1);
        try {
            for (int member = 1; member < size; ++member) threads_.emplace_back([this, member] { serve(member); });
        } catch (const std::exception&) {  // NOLINT(bugprone-empty-catch): fewer threads
        }
    }
    ~ThreadTeam() {
        {
            std::lock_guard<std::mutex> lock(mutex_);
            task_ = nullptr;
            ++round_;
        }
        begin_.notify_all();
        for (std::thread& thread : threads_) thread.join();
    }
    ThreadTeam(const ThreadTeam&) = delete;
    ThreadTeam& operator=(const ThreadTeam&) = delete;

    int size() const { return static_cast<int>(threads_.size()) + 1; }

    // Calls task(member) once per member and waits for all. The caller is member 0. An exception of a member (memory
    // may run out) is rethrown here, after all have finished.
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
