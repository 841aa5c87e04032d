"""What every test shares."""

from hypothesis import settings

# No deadline: the same laws run on kernels slowed down by the sanitizers.
settings.register_profile("hornbeam", deadline=None, print_blob=True)
settings.register_profile("ci", settings.get_profile("hornbeam"), derandomize=True)
# For oldest libraries, other platforms and sanitizers, where all examples would take too long.
settings.register_profile("brief", settings.get_profile("ci"), max_examples=20)
settings.load_profile("hornbeam")
