#include <nanobind/nanobind.h>

void bind_encode(nanobind::module_&) {}
