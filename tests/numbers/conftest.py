"""Property tests here never fail for being slow: the first batch compiles the kernels."""

from hypothesis import HealthCheck, settings

settings.register_profile("numbers", deadline=None, suppress_health_check=[HealthCheck.too_slow], print_blob=True)
settings.load_profile("numbers")
