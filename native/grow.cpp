#include <nanobind/nanobind.h>

void bind_grow(nanobind::module_&) {}
