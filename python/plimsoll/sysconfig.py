"""How it was built."""


def get_build_info():
    return {"is_cuda_build": False, "is_rocm_build": False}
