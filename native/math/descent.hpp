// Minimisation of a smooth function within bounds, with the same bits on every machine: projected L-BFGS.
//
// Limited-memory BFGS (Liu and Nocedal, 1989) on the coordinates that are not held at a bound, and a backtracking
// search along the projected direction. Sums are computed from the first number to the last; the BLAS of other
// optimisers chooses an order by the processor.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <deque>
#include <limits>
#include <utility>
#include <vector>

namespace hornbeam {

using Numbers = std::vector<double>;

// From the first to the last, so that every machine rounds the same way.
inline double dot(const double* one, const double* other, size_t n) {
    double sum = 0;
    for (size_t i = 0; i < n; ++i) sum += one[i] * other[i];
    return sum;
}
inline double dot(const Numbers& one, const Numbers& other) { return dot(one.data(), other.data(), one.size()); }

struct Descent {
    Numbers low, high;          // of each coordinate
    double tolerance;           // least decrease of a step, as a part of the value, or of 1
    double gradient_tolerance;  // a smaller derivative counts as 0
    int64_t max_steps;

    // `function(at, gradient)` returns the value and writes the gradient.
    template <class Function>
    Numbers minimise(Function&& function, Numbers at) const {
        const size_t n = at.size();
        for (size_t k = 0; k < n; ++k) at[k] = within(at[k], k);
        Numbers gradient(n), direction(n), next(n), next_gradient(n);
        double value = function(at, gradient);
        std::deque<Step> steps;
        for (int64_t i = 0; i < max_steps; ++i) {
            const std::vector<uint8_t> free = free_coordinates(at, gradient);
            if (is_flat(gradient, free)) break;
            direction = inverse_hessian(masked(gradient, free), steps, free);
            for (double& x : direction) x = -x;
            if (dot(direction, gradient) >= 0) {  // not a descent direction: restart without memory
                steps.clear();
                direction = masked(gradient, free);
                for (double& x : direction) x = -x;
            }
            double next_value = 0, step = steps.empty() ? std::min(1.0, 1.0 / largest(direction)) : 1.0;
            int halvings = 0;
            Step made{Numbers(n), Numbers(n), 0};
            for (; halvings < kHalvings; ++halvings, step /= 2) {
                for (size_t k = 0; k < n; ++k) {
                    next[k] = within(at[k] + step * direction[k], k);
                    made.moved[k] = next[k] - at[k];
                }
                next_value = function(next, next_gradient);
                if (next_value <= value + kEnough * dot(gradient, made.moved)) break;
            }
            if (halvings == kHalvings) break;
            for (size_t k = 0; k < n; ++k) made.change[k] = next_gradient[k] - gradient[k];
            made.curvature = dot(made.moved, made.change);
            if (made.curvature > std::numeric_limits<double>::epsilon() * dot(made.change, made.change)) {
                if (steps.size() == kMemory) steps.pop_front();
                steps.push_back(std::move(made));
            }
            const double gained = value - next_value;
            const double scale = std::max({std::abs(value), std::abs(next_value), 1.0});
            std::swap(at, next);
            std::swap(gradient, next_gradient);
            value = next_value;
            if (gained <= tolerance * scale) break;
        }
        return at;
    }

  private:
    static constexpr size_t kMemory = 10;    // steps from which the curvature is estimated
    static constexpr double kEnough = 1e-4;  // least decrease of a step, as a part of what the gradient predicts
    static constexpr int kHalvings = 40;

    struct Step {
        Numbers moved, change;
        double curvature;
    };

    double within(double x, size_t k) const {
        if (std::isnan(x)) return x;
        x = x > low[k] ? x : low[k];
        return x < high[k] ? x : high[k];
    }

    std::vector<uint8_t> free_coordinates(const Numbers& at, const Numbers& gradient) const {
        std::vector<uint8_t> free(at.size());
        for (size_t k = 0; k < at.size(); ++k)
            free[k] = !((at[k] <= low[k] && gradient[k] > 0) || (at[k] >= high[k] && gradient[k] < 0));
        return free;
    }

    bool is_flat(const Numbers& gradient, const std::vector<uint8_t>& free) const {
        for (size_t k = 0; k < free.size(); ++k)
            if (free[k] && !(std::abs(gradient[k]) <= gradient_tolerance)) return false;
        return true;
    }

    static Numbers masked(Numbers vector, const std::vector<uint8_t>& free) {
        for (size_t k = 0; k < free.size(); ++k)
            if (!free[k]) vector[k] = 0.0;
        return vector;
    }

    static double largest(const Numbers& vector) {
        double most = 0;
        for (const double x : vector) most = std::max(most, std::abs(x));
        return most;
    }

    // The inverse Hessian, estimated from the last steps, times a gradient, on the free coordinates.
    static Numbers inverse_hessian(Numbers vector, const std::deque<Step>& steps, const std::vector<uint8_t>& free) {
        if (steps.empty()) return vector;
        Numbers factors(steps.size());
        for (size_t s = steps.size(); s-- > 0;) {
            factors[s] = dot(steps[s].moved, vector) / steps[s].curvature;
            add(vector, -factors[s], steps[s].change);
        }
        const Step& last = steps.back();
        const double scale = last.curvature / dot(last.change, last.change);
        for (double& x : vector) x *= scale;
        for (size_t s = 0; s < steps.size(); ++s)
            add(vector, factors[s] - dot(steps[s].change, vector) / steps[s].curvature, steps[s].moved);
        return masked(std::move(vector), free);
    }

    static void add(Numbers& vector, double factor, const Numbers& other) {
        for (size_t k = 0; k < vector.size(); ++k) vector[k] += factor * other[k];
    }
};

}  // namespace hornbeam
