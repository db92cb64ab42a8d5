// Making elements. Text is always text: nothing that a run holds is ever taken for markup.

type Attributes = Record<string, string | number | boolean | undefined | ((event: never) => void)>;
export type Child = Node | string | null | undefined;

function set(element: Element, attributes: Attributes): void {
  for (const [name, value] of Object.entries(attributes)) {
    if (value === undefined || value === false) continue;
    if (typeof value === "function") element.addEventListener(name.slice(2), value as EventListener);
    else element.setAttribute(name, value === true ? "" : String(value));
  }
}

export function h<K extends keyof HTMLElementTagNameMap>(
  tag: K,
  attributes: Attributes = {},
  ...children: Child[]
): HTMLElementTagNameMap[K] {
  const element = document.createElement(tag);
  set(element, attributes);
  element.append(...children.filter((child): child is Node | string => child !== null && child !== undefined));
  return element;
}

export function svg(tag: string, attributes: Attributes = {}, ...children: Child[]): SVGElement {
  const element = document.createElementNS("http://www.w3.org/2000/svg", tag);
  set(element, attributes);
  element.append(...children.filter((child): child is Node | string => child !== null && child !== undefined));
  return element;
}

// The values of custom properties of the style sheet, as long as the colours stay: to ask the style sheet for each box takes longer
// than to draw it.
const colours = new Map<string, string>();
document.addEventListener("dlkprof:theme", () => colours.clear(), {capture: true});

// For canvas.
export function colour(name: string): string {
  let value = colours.get(name);
  if (value === undefined) {
    value = getComputedStyle(document.documentElement).getPropertyValue(`--${name}`).trim();
    colours.set(name, value);
  }
  return value;
}

export interface Surface {
  canvas: HTMLCanvasElement;
  context: CanvasRenderingContext2D;
  width: number;
  height: number;
}

// A canvas as wide as what it stands in, sharp on every screen.
export function fit(canvas: HTMLCanvasElement, height: number): Surface {
  const width = Math.max(50, Math.floor(canvas.parentElement?.clientWidth ?? 300));
  const scale = window.devicePixelRatio || 1;
  canvas.width = Math.round(width * scale);
  canvas.height = Math.round(height * scale);
  canvas.style.width = `${width}px`;
  canvas.style.height = `${height}px`;
  const context = canvas.getContext("2d");
  if (!context) throw new Error("this browser draws no pictures");
  context.setTransform(scale, 0, 0, scale, 0, 0);
  context.font = "12px system-ui, sans-serif";
  return {canvas, context, width, height};
}

// Draws again when the width or the colours change, as long as the element is in the page.
export function redrawn(element: HTMLElement, draw: () => void): void {
  let width = 0;
  const observer = new ResizeObserver(() => {
    if (element.clientWidth === width || element.clientWidth === 0) return;
    width = element.clientWidth;
    draw();
  });
  observer.observe(element);
  const again = (): void => {
    if (element.isConnected) draw();
    else document.removeEventListener("dlkprof:theme", again);
  };
  document.addEventListener("dlkprof:theme", again);
}

// Once what was placed is on the screen and the browser has nothing else to do. A page that nobody sees paints nothing.
export function painted(): Promise<void> {
  return new Promise((resolve) => {
    const idle = (): void => {
      if ("requestIdleCallback" in window) requestIdleCallback(() => resolve(), {timeout: 100});
      else setTimeout(resolve);
    };
    requestAnimationFrame(() => requestAnimationFrame(idle));
    setTimeout(resolve, 300);
  });
}

// Runs when something is chosen that the panel shows by a mark alone, as long as the element is in the page.
export function whenChosen(element: HTMLElement, act: () => void): void {
  const again = (): void => {
    if (element.isConnected) act();
    else document.removeEventListener("dlkprof:chosen", again);
  };
  document.addEventListener("dlkprof:chosen", again);
}

// A way back to what has the focus, for when what it stands in is drawn anew.
function focusPath(): string {
  const row = document.activeElement?.closest("tr[data-key]");
  const table = document.activeElement?.closest("table[data-table]");
  if (row && table)
    return `table[data-table="${table.getAttribute("data-table")}"] tr[data-key="${CSS.escape(row.getAttribute("data-key") ?? "")}"] button`;
  return document.activeElement?.id ? `#${CSS.escape(document.activeElement.id)}` : "";
}

// Draws what is in `place` anew; what had the focus in there has it again.
export function keepFocus(place: HTMLElement, draw: () => void): void {
  const focus = document.activeElement && place.contains(document.activeElement) ? focusPath() : "";
  draw();
  if (focus) place.querySelector<HTMLElement>(focus)?.focus({preventScroll: true});
}

export async function copyText(words: string): Promise<void> {
  try {
    await navigator.clipboard.writeText(words);
  } catch {
    const area = h("textarea", {"aria-hidden": "true", class: "unseen"}, words);
    document.body.append(area);
    area.select();
    document.execCommand("copy");
    area.remove();
  }
}

// Says something to whoever listens rather than looks.
export function announce(words: string): void {
  const place = document.getElementById("status");
  if (place) place.textContent = words;
}
