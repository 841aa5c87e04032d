#include <nanobind/nanobind.h>

void bind_route(nanobind::module_&) {}
