"""The columns of the user guide's tables, chapter 10, in its order and spelling."""


def _stats(*what):
    return [f"{name} {time} Time (ns)" for time in what for name in ("Total", "Avg.", "Min", "Max")]


_OP = ["Op ID", "Op Name", "Direction", "Op Type"]
_FOUR_TIMES = _stats("CPU", "GPU", "CPU Overhead", "GPU Idle")

COLUMNS = {
    "detail": [*_OP, "No. Calls", "TC Eligibility", "Using TC", *_FOUR_TIMES, "Data Type", "Input Shapes", "Stack Trace"],
    "iteration": [
        "Iteration", *_OP, "Kernel Name", "Device ID", "GPU Start Time (ns)", "GPU Time (ns)", "API Call Start (ns)",
        "API Call Time (ns)", "Uses TC", "Grid X", "Grid Y", "Grid Z", "Block X", "Block Y", "Block Z", "Data Type",
        "Input Shapes", "Parameters", "Output Shapes", "Long Kernel Name",
    ],
    "kernel": ["Kernel Name", "Op ID", "Op Name", "Direction", "Uses TC", *_stats("GPU", "API")],
    "tensor": [
        *_OP, "Uses TC", "Total GPU Time", "TC GPU Time", "Non-TC GPU Time", "TC Utilization (%)", "Total Kernel Count",
        "TC Kernel Count", "TC Kernel Names", "Non-TC Kernel Count", "Non-TC Kernel Names",
    ],
    "op_type": ["Op Name", "No. Nodes", "No. Calls", "TC Eligibility", "Using TC", *_FOUR_TIMES],
    "group_node": [
        "Name", "No. Calls Aggregated", "No. TC Eligibility Ops", "No. Node Ops Using TC", *_FOUR_TIMES,
    ],
}  # fmt: skip

# The summary's tables and their rows. "Profile Name" is hidden where it is not specified.
SUMMARY_ROWS = {
    "System config": [
        "Profile Name", "GPU Count", "GPU Name(s)", "CPU Model", "GPU Driver Version", "Framework", "CUDA Version",
        "cuDNN Version", "NSys Version", "DLProf Version", "DLProf Build",
    ],
    "Summary Report": [
        "Wall Clock Time (ns)", "Tensor Core Kernel Utilization %", "GPU Utilization %", "Tensor Core Kernel Duration %",
        "Non-Tensor Core Kernel Duration %", "Memory Duration %", "Dataloader Duration %", "I/O Duration %",
        "CPU Duration %", "Other Duration %",
    ],
    "Iterations": [
        "Total Iterations", "Aggregated Iterations", "Start Iteration", "Stop Iteration", "Average Iteration Time (ns)",
        "Iteration Time Standard Deviation (ns)",
    ],
    "All Ops": ["All Op", "Ops Using TC", "Op eligible for TC but not using", "All other ops"],
    "All Kernels": ["All Kernels", "Kernels Using TC", "Memory", "All other kernels"],
}  # fmt: skip
SUMMARY_COLUMNS = {
    "All Ops": ["GPU Time (ns)", "CPU Time (ns)", "# Ops"],
    "All Kernels": ["GPU Time (ns)", "CPU Time (ns)", "# Kernels"],
}
