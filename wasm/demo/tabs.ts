import { byId } from "./dom.js";

/**
 * Starts the tabs as https://www.w3.org/WAI/ARIA/apg/patterns/tabs/ describes them. Arrow keys, Home and End move the
 * focus and choose a tab. The fragment of the address names the open panel. `shown` is called with the id of the open
 * panel, at the start and after each change.
 */
export function startTabs(shown: (panel: string) => void): void {
  const tabs = Array.from(document.querySelectorAll<HTMLButtonElement>("[role=tab]"));
  const panelOf = (tab: HTMLButtonElement) => tab.getAttribute("aria-controls")!;

  const choose = (chosen: HTMLButtonElement) => {
    for (const tab of tabs) {
      const selected = tab === chosen;
      tab.setAttribute("aria-selected", String(selected));
      tab.tabIndex = selected ? 0 : -1;
      byId(panelOf(tab), HTMLElement).hidden = !selected;
    }
    shown(panelOf(chosen));
  };
  const open = (tab: HTMLButtonElement) => {
    history.replaceState(null, "", `#${panelOf(tab)}`);
    choose(tab);
  };
  const named = () => tabs.find((tab) => `#${panelOf(tab)}` === location.hash);

  for (const tab of tabs) {
    tab.addEventListener("click", () => open(tab));
    tab.addEventListener("keydown", (event) => {
      const at = tabs.indexOf(tab);
      const places: Record<string, number> = { ArrowLeft: at - 1, ArrowRight: at + 1, Home: 0, End: -1 };
      const place = places[event.key];
      if (place === undefined) return;
      event.preventDefault();
      const next = tabs.at(place % tabs.length)!;
      next.focus();
      open(next);
    });
  }
  addEventListener("hashchange", () => {
    const tab = named();
    if (tab) choose(tab);
  });
  choose(named() ?? tabs[0]!);
}
