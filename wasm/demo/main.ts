import { byId, showProblem } from "./dom.js";
import { onHeatChange, paintRamp } from "./heat.js";
import { startTabs } from "./tabs.js";

// The code of a panel is loaded when the panel is first opened.
const panels: Record<string, () => Promise<{ start(): Promise<void> }>> = {
  dates: () => import("./dates.js"),
  sentences: () => import("./sentences.js"),
  words: () => import("./keywords.js"),
  stories: () => import("./stories.js"),
  benchmark: () => import("./benchmark.js"),
};
const started = new Set<string>();

async function show(panel: string): Promise<void> {
  if (started.has(panel)) return;
  started.add(panel);
  try {
    await (await panels[panel]!()).start();
  } catch (problem) {
    showProblem(byId(`${panel}-problem`, HTMLElement), problem);
  }
}

function paintRamps(): void {
  document.querySelectorAll<HTMLCanvasElement>("canvas.ramp").forEach(paintRamp);
}

paintRamps();
onHeatChange(paintRamps);
startTabs((panel) => void show(panel));
// Without HTTPS, navigator.serviceWorker is absent. The page still works, but is not stored for use without a network.
void navigator.serviceWorker?.register("service-worker.js").catch(() => undefined);
