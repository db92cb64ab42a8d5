// What the programs beside it do with a page.

export const PANELS = ["overview", "iterations", "ops", "kernels", "timeline", "source", "compare", "coverage", "sql"];

// Does something, and waits until what it asked for is shown, and then until all is filled in that comes after. Gives the
// milliseconds that the first took.
export async function shown(page, act, argument) {
  return page.evaluate(
    async ([source, value]) => {
      const main = document.getElementById("main");
      const before = main.dataset.shown;
      const start = performance.now();
      new Function("value", source)(value);
      for (let tries = 0; main.dataset.shown === before && tries < 5000; ++tries)
        await new Promise((resolve) => setTimeout(resolve, 1));
      await new Promise((resolve) => requestAnimationFrame(() => setTimeout(resolve)));
      const ms = performance.now() - start;
      for (let tries = 0; main.hasAttribute("aria-busy") && tries < 5000; ++tries)
        await new Promise((resolve) => setTimeout(resolve, 1));
      return ms;
    },
    [act, argument],
  );
}
export const go = (page, address) => shown(page, "location.hash = value", `#${address}`);
export const click = (page, selector) => shown(page, "document.querySelector(value).click()", selector);
