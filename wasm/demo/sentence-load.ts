// Loads MiniLM in both precisions. A float32 file gives both, because the page quantises it. An int8 file gives only
// int8.
import type { ShippedPrecision as Precision } from "../src/index.js";
import { SentenceEncoder, WordPiece } from "../src/minilm.js";
import { modelFiles } from "./model-source.js";
import { forgetModel, keepModel, type ModelFiles } from "./model-store.js";
import type { ModelSource } from "./sentence-messages.js";
import { hasInt8, int8File, openWeightFile, type Progress } from "./weight-file.js";

/** MiniLM in one precision, and the file that its weights were read from. */
export interface Loaded {
  readonly encoder: SentenceEncoder;
  readonly file: Blob;
}

export interface LoadedPrecisions {
  readonly models: Partial<Record<Precision, Loaded>>;
  readonly missing?: string;
  readonly notKept?: string;
}

export interface Loading {
  readonly signal: AbortSignal;
  /** Returns a callback that reports the progress of one step of the load, such as "Loading the weights". */
  progressOf(step: string): Progress;
}

const needsFloats = "Float32 needs the float32 file of 91 MB. The loaded file has int8 weights.";

const textOf = (problem: unknown) => (problem instanceof Error ? problem.message : String(problem));

/**
 * Puts files into the store. If this fails, returns the message of the error instead of throwing, because the model
 * works without the store.
 */
async function keep(precision: Precision, files: ModelFiles): Promise<string | undefined> {
  try {
    await keepModel(precision, files);
    return undefined;
  } catch (problem) {
    await forgetModel().catch(() => undefined);
    return textOf(problem);
  }
}

class Loader {
  constructor(
    private readonly files: ModelFiles,
    private readonly loading: Loading,
  ) {}

  /**
   * Loads MiniLM in one precision. Throws if the file of weights does not allow this precision: an int8 file cannot
   * give float32.
   */
  async load(precision: Precision): Promise<Loaded> {
    const { signal, progressOf } = this.loading;
    const file = await (precision === "int8" ? this.#int8File() : this.#float32File());
    const encoder = await SentenceEncoder.load({
      weights: file,
      vocabulary: this.files.vocabulary,
      precision,
      progress: progressOf("Loading the weights"),
      signal,
    });
    return { encoder, file };
  }

  async #int8File(): Promise<Blob> {
    const { signal, progressOf } = this.loading;
    return int8File(await openWeightFile(this.files.weights), progressOf("Making the int8 file"), signal);
  }

  async #float32File(): Promise<Blob> {
    const { weights } = this.files;
    if (hasInt8(await openWeightFile(weights))) throw new Error(needsFloats);
    return weights;
  }
}

/**
 * Loads the precision that the user did not choose. Does not throw: after a failure, `missing` is the message of the
 * error.
 */
async function loadOther(loader: Loader, other: Precision): Promise<{ model?: Loaded; missing?: string }> {
  try {
    return { model: await loader.load(other) };
  } catch (problem) {
    return { missing: textOf(problem) };
  }
}

/**
 * Loads the precision that the user chose, and stores its file for the next visit. Throws if this precision cannot be
 * loaded. Then tries to load the other precision, too. A failure of the second load is only reported in `missing`.
 */
export async function loadPrecisions(
  source: ModelSource,
  precision: Precision,
  loading: Loading,
): Promise<LoadedPrecisions> {
  const { signal, progressOf } = loading;
  const files = await modelFiles(source, signal, progressOf("Fetching the weights"));
  new WordPiece(await files.vocabulary.text()); // throws for a wrong file before the weights are quantised
  const loader = new Loader(files, loading);
  const chosen = await loader.load(precision);
  const other = precision === "int8" ? "float32" : "int8";
  const { model, missing } = await loadOther(loader, other);
  if (signal.aborted) {
    chosen.encoder.free();
    model?.encoder.free();
    signal.throwIfAborted();
  }
  const isKept = source.from === "store" && chosen.file === files.weights;
  const notKept = isKept ? undefined : await keep(precision, { ...files, weights: chosen.file });
  return { models: { [precision]: chosen, ...(model && { [other]: model }) }, missing, notKept };
}
