// What the programs beside it do with a page.

export const PANELS = ["overview", "iterations", "ops", "kernels", "timeline", "source", "compare", "coverage", "sql"];

// Does something, and waits until what it asked for is on the screen, and then until all is filled in that comes after. Gives the
// milliseconds that the first took: until the browser has presented the frame, drawn and composited, that shows it. A probe that
// is put into the page along with it tells (Element Timing). `isAtOnce`: what is done changes the page by itself.
export async function shown(page, act, argument, isAtOnce = false) {
  return page.evaluate(
    async ([source, value, atOnce]) => {
      const main = document.getElementById("main");
      const probe = document.createElement("p");
      probe.textContent = "x";
      probe.setAttribute("elementtiming", "probe");
      probe.setAttribute("aria-hidden", "true");
      Object.assign(probe.style, {position: "fixed", left: "0", bottom: "0", margin: "0"});
      let start = 0;
      const presented = new Promise((resolve, reject) => {
        const give = (list, observer) => {
          observer.disconnect();
          resolve(list.getEntries()[0].renderTime - start);
        };
        new PerformanceObserver(give).observe({type: "element"});
        setTimeout(() => reject(new Error(`${source} showed nothing`)), 90000);
      });
      const changed = new Promise((resolve) => new MutationObserver(resolve).observe(main, {attributeFilter: ["data-shown"]}));
      start = performance.now();
      new Function("value", source)(value);
      if (!atOnce) await Promise.race([changed, presented]); // the latter fails in the end
      document.body.append(probe);
      const ms = await presented;
      probe.remove();
      for (let tries = 0; main.hasAttribute("aria-busy") && tries < 5000; ++tries)
        await new Promise((resolve) => setTimeout(resolve, 1));
      return ms;
    },
    [act, argument, isAtOnce],
  );
}
export const go = (page, address) => shown(page, "location.hash = value", `#${address}`);
export const click = (page, selector) => shown(page, "document.querySelector(value).click()", selector);
