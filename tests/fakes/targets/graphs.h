// Steps of the fake program whose ops were captured into CUDA graphs, with the ranges that PyTorch and XLA have open then.
#pragma once

#include <string>

#include "targets/training.h"

namespace target {

// As torch.cuda.make_graphed_callables does: a forward graph, with a child graph in one of its ops, and a backward graph that is
// captured on another thread; then so many steps that launch both. Clones, updates and destroys graphs on the way, and spoils a
// capture. Gives what the buffers hold in the end.
[[nodiscard]] std::string train_in_graphs(Entry entry, int steps);

// So many launches of one graph of kernels, a set of memory and a child graph, as XLA makes them: before each the executable
// graph is told other arguments, another grid now and then, and another child. Gives what memory holds in the end.
[[nodiscard]] std::string train_in_an_updated_graph(Entry entry, int steps);

// So many launches of a graph that is made node by node: nothing is launched by itself, or captured.
[[nodiscard]] std::string train_in_a_built_graph(Entry entry, int launches);

// A graph that is launched often in each of so many rounds, between which it is set to another: every second of a larger grid.
[[nodiscard]] std::string train_in_a_growing_graph(Entry entry, int rounds);
// The same, where one of its kernels is set by itself after the first round, to what it is.
[[nodiscard]] std::string train_in_a_growing_set_graph(Entry entry, int rounds);

// Each thread captures an op of its own name, at the same time, and launches it so many times.
[[nodiscard]] std::string capture_side_by_side(Entry entry, int threads, int launches);

}  // namespace target
