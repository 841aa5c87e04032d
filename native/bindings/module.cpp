// The Python module. Each bind_*.cpp binds the kernels of one task and checks their arguments; native/README.md has the
// reading order.
#include <nanobind/nanobind.h>

void bind_beta(nanobind::module_& module);
void bind_binning(nanobind::module_& module);
void bind_borrowing(nanobind::module_& module);
void bind_elementary(nanobind::module_& module);
void bind_hdp(nanobind::module_& module);
void bind_lambdas(nanobind::module_& module);
void bind_leafwise(nanobind::module_& module);
void bind_levelwise(nanobind::module_& module);
void bind_lookahead(nanobind::module_& module);
void bind_losses(nanobind::module_& module);
void bind_router(nanobind::module_& module);
void bind_slopes(nanobind::module_& module);
void bind_splits(nanobind::module_& module);
void bind_subtree(nanobind::module_& module);
void bind_sweep(nanobind::module_& module);
void bind_terms(nanobind::module_& module);

NB_MODULE(_native, module) {
    nanobind::set_leak_warnings(false);  // a traceback that outlives the interpreter would make nanobind print warnings
    module.doc() = "Hornbeam's compiled kernels: arrays in, arrays out.";
    bind_beta(module);
    bind_binning(module);
    bind_borrowing(module);
    bind_elementary(module);
    bind_hdp(module);
    bind_lambdas(module);
    bind_leafwise(module);
    bind_levelwise(module);
    bind_lookahead(module);
    bind_losses(module);
    bind_router(module);
    bind_slopes(module);
    bind_splits(module);
    bind_subtree(module);
    bind_sweep(module);
    bind_terms(module);
}
