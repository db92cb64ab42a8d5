import os

cuda = None if "cpu" in os.environ.get("FAKE_TORCH_FAULT", "").split(",") else "13.0"
