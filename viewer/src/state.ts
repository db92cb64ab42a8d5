// What is chosen: shared by all panels, and kept in the address, so that a link leads back to the same sight.

export interface State {
  panel: string;
  run: number;
  op?: string; // op_id
  kernel?: number;
  config?: number;
  key?: number; // of page_key: the key node that parts iterations
  from?: number; // iterations, both inclusive
  to?: number;
  kind?: number; // of page_iteration_kind: of these iterations, such alone; 0: of all kinds
  more: Record<string, string>; // what a panel keeps for itself: filter, sort, columns
}

// Changes that let go of what is chosen.
export const allIterations = {from: undefined, to: undefined, kind: undefined};
export const nothing = {op: undefined, kernel: undefined, config: undefined, key: undefined, ...allIterations};

type Listener = (state: State) => void;

const PLAIN = ["op", "kernel", "config", "key", "from", "to", "kind", "run"] as const;

function parse(hash: string): State {
  const [panel = "", query = ""] = hash.replace(/^#/, "").split("?", 2);
  const parameters = new URLSearchParams(query);
  const whole = (name: string): number | undefined => {
    const text = parameters.get(name);
    return text !== null && /^\d{1,15}$/.test(text) ? Number(text) : undefined;
  };
  const more: Record<string, string> = {};
  for (const [name, value] of parameters) if (!(PLAIN as readonly string[]).includes(name)) more[name] = value;
  return {
    panel: panel || "overview",
    run: whole("run") ?? 0,
    op: parameters.get("op") ?? undefined,
    kernel: whole("kernel"),
    config: whole("config"),
    key: whole("key"),
    from: whole("from"),
    to: whole("to"),
    kind: whole("kind"),
    more,
  };
}

function written(state: State): string {
  const parameters = new URLSearchParams();
  for (const name of PLAIN) {
    const value = state[name];
    if (value !== undefined && !((name === "run" || name === "key") && value === 0)) parameters.set(name, String(value));
  }
  for (const [name, value] of Object.entries(state.more)) if (value !== "") parameters.set(name, value);
  const query = parameters.toString();
  return `#${state.panel}${query ? `?${query}` : ""}`;
}

class Chosen {
  private listeners: Listener[] = [];
  state = parse(location.hash);

  constructor() {
    window.addEventListener("hashchange", () => {
      if (written(this.state) === location.hash) return;
      this.state = parse(location.hash);
      this.tell();
    });
  }

  listen(listener: Listener): void {
    this.listeners.push(listener);
  }

  // A step that Back undoes.
  choose(change: Partial<State>): void {
    this.state = {...this.state, ...change};
    const hash = written(this.state);
    if (hash !== location.hash) history.pushState(null, "", hash);
    this.tell();
  }

  // What a panel keeps: no step of its own, and nothing else changes.
  keep(name: string, value: string): void {
    this.state.more[name] = value;
    history.replaceState(null, "", written(this.state));
  }

  // The address of the same sight with a change.
  address(change: Partial<State>): string {
    return written({...this.state, ...change});
  }

  private tell(): void {
    for (const listener of this.listeners) listener(this.state);
  }
}

export const chosen = new Chosen();
