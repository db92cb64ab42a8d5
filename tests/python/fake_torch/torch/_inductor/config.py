import os


class trace:
    if "no_provenance" not in os.environ.get("FAKE_TORCH_FAULT", ""):
        provenance_tracking_level = int(os.environ.get("INDUCTOR_PROVENANCE", "0"))
