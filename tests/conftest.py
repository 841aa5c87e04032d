"""What every test shares."""

from hypothesis import settings

# No deadline: the same laws run on kernels slowed down by the sanitizers.
settings.register_profile("hornbeam", deadline=None, print_blob=True)
settings.load_profile("hornbeam")
