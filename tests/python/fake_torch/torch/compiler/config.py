import os

cache_key_tag = os.environ.get("TORCH_COMPILE_CACHE_KEY_TAG", "")
