// The module: each noun binds its own kernels.
#include <nanobind/nanobind.h>

void bind_beta(nanobind::module_& module);
void bind_borrowing(nanobind::module_& module);
void bind_elementary(nanobind::module_& module);
void bind_encode(nanobind::module_& module);
void bind_grow(nanobind::module_& module);
void bind_hdp(nanobind::module_& module);
void bind_lambdas(nanobind::module_& module);
void bind_leafwise(nanobind::module_& module);
void bind_level(nanobind::module_& module);
void bind_route(nanobind::module_& module);
void bind_sweep(nanobind::module_& module);

NB_MODULE(_native, module) {
    nanobind::set_leak_warnings(false);  // tracebacks that outlive the interpreter are no news to users
    module.doc() = "Hornbeam's compiled kernels: arrays in, arrays out.";
    bind_beta(module);
    bind_borrowing(module);
    bind_elementary(module);
    bind_encode(module);
    bind_grow(module);
    bind_hdp(module);
    bind_lambdas(module);
    bind_leafwise(module);
    bind_level(module);
    bind_route(module);
    bind_sweep(module);
}
