// Loads the model of the stories, which the build imported from the files of stories260K.
import { Model } from "../src/model.js";

/** Undefined if the build had no model. The page then has no tab of stories. */
declare const storiesModel: { readonly sha256: string; readonly eos: readonly number[]; readonly bytes: number } | undefined;

export const storiesBytes = storiesModel?.bytes ?? 0;

export async function loadStories(): Promise<{ model: Model; eos: readonly number[] }> {
  const { sha256, eos } = storiesModel!;
  const at = (end: string): URL => new URL(`stories/stories260k${end}`, document.baseURI);
  return { model: await Model.load({ module: (variant) => at(`.${variant}.wasm`), weights: at(".weights"), sha256 }), eos };
}
