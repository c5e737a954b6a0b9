// Helper functions for the document.

/** Returns the element with the id `id`. Throws if no element of the type `type` has this id. */
export function byId<T extends Element>(id: string, type: new () => T): T {
  const found = document.getElementById(id);
  if (!(found instanceof type)) throw new Error(`#${id} is no ${type.name}`);
  return found;
}

type Properties = Record<string, string | number | boolean>;

/** Makes an element with attributes and content. An attribute with the value false is left out. */
export function make<K extends keyof HTMLElementTagNameMap>(
  tag: K,
  attributes: Properties = {},
  ...content: (Node | string)[]
): HTMLElementTagNameMap[K] {
  const element = document.createElement(tag);
  for (const [name, value] of Object.entries(attributes)) {
    if (value !== false) element.setAttribute(name, value === true ? "" : String(value));
  }
  element.append(...content);
  return element;
}

/** Lets each button in `examples` write its text into `field`. */
export function fillFrom(examples: HTMLElement, field: HTMLInputElement): void {
  examples.inert = false;
  examples.addEventListener("click", (event) => {
    if (!(event.target instanceof HTMLButtonElement)) return;
    field.value = event.target.dataset.text ?? event.target.textContent!.trim();
    field.dispatchEvent(new Event("input", { bubbles: true }));
  });
}

/**
 * Returns a function that delays `callback`. `callback` runs `milliseconds` after the last call of the returned
 * function.
 */
export function settled(milliseconds: number, callback: () => void): () => void {
  let timer: ReturnType<typeof setTimeout> | undefined;
  return () => {
    clearTimeout(timer);
    timer = setTimeout(callback, milliseconds);
  };
}

/** Fills a list with names and figures. If the names are the same as before, only the figures change. */
export function showFacts(
  list: HTMLElement,
  facts: readonly (readonly [name: string, figure: string, more?: string])[],
) {
  const current = facts.map(([name]) => name).join("\n");
  if (list.dataset.names !== current) {
    list.dataset.names = current;
    list.replaceChildren(...facts.map(([name]) => make("div", {}, make("dt", {}, name), make("dd"), make("dd"))));
  }
  facts.forEach(([, figure, more = ""], i) => {
    const [, large, small] = list.children[i]!.children;
    large!.textContent = figure;
    small!.textContent = more;
  });
}

export function showProblem(place: HTMLElement, problem?: unknown): void {
  place.hidden = problem === undefined;
  place.textContent = problem === undefined ? "" : problem instanceof Error ? problem.message : String(problem);
}
