"""What programs ask about the build."""


def is_gpu_available(cuda_only=False, min_cuda_compute_capability=None):
    from .config import list_physical_devices
    return bool(list_physical_devices("GPU"))


def gpu_device_name():
    return "/device:GPU:0" if is_gpu_available() else ""


def is_built_with_cuda():
    return False


is_built_with_gpu_support = is_built_with_rocm = is_built_with_xla = is_built_with_cuda
