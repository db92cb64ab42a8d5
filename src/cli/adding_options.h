// How verbs define their options.
#pragma once

namespace dlkprof::cli {

// add("-f,--file", value, "<file>", "What it is"); gives the option. `App` is CLI::App, which headers do not include.
template <typename App>
auto adding_options(App& app) {
  return [&app](const char* names, auto& value, const char* type, const char* help) {
    return app.add_option(names, value, help)->type_name(type);
  };
}

}  // namespace dlkprof::cli
