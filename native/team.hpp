// Threads that share the work of one call: made when it begins, gone when it ends, so that nothing outlives it and
// nothing breaks under fork. They sleep while there is nothing to do.
#pragma once

#include <condition_variable>
#include <cstdint>
#include <functional>
#include <mutex>
#include <thread>
#include <vector>

namespace hornbeam {

class Team {
  public:
    explicit Team(int size) : size_(size) {
        for (int member = 1; member < size; ++member) threads_.emplace_back([this, member] { serve(member); });
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

    int size() const { return size_; }

    // Calls task(member) once for each member, and returns when all have come back. The caller is member 0.
    void run(const std::function<void(int)>& task) {
        if (size_ == 1) return task(0);
        {
            std::lock_guard<std::mutex> lock(mutex_);
            task_ = &task;
            busy_ = size_ - 1;
            ++round_;
        }
        begin_.notify_all();
        task(0);
        std::unique_lock<std::mutex> lock(mutex_);
        end_.wait(lock, [&] { return busy_ == 0; });
    }

  private:
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
            (*task)(member);
            std::lock_guard<std::mutex> lock(mutex_);
            if (--busy_ == 0) end_.notify_one();
        }
    }

    const int size_;
    std::vector<std::thread> threads_;
    std::mutex mutex_;
    std::condition_variable begin_, end_;
    const std::function<void(int)>* task_ = nullptr;
    int busy_ = 0;
    int64_t round_ = 0;
};

}  // namespace hornbeam
