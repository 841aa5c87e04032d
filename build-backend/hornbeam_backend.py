"""The build backend: scikit-build-core, with a wheel whose metadata may grow while it is built."""

from scikit_build_core import build
from scikit_build_core.build import *  # noqa: F403


def build_wheel(
    wheel_directory: str,
    config_settings: dict[str, str | list[str]] | None = None,
    metadata_directory: str | None = None,  # noqa: ARG001
) -> str:
    """Build the wheel, with the list of what is compiled into it (``sboms/`` in its metadata).

    CMake writes that list, so it is not among the metadata that pip asked for before the build; scikit-build-core
    stops at such a difference, and is not given the earlier metadata.
    """
    return build.build_wheel(wheel_directory, config_settings)
