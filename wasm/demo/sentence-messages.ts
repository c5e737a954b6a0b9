// Messages between the page and the worker that runs MiniLM.
import type { ShippedPrecision as Precision } from "../src/index.js";

/** A file to fetch. Without `sha256`, any content is accepted. */
export interface RemoteFile {
  readonly url: string;
  readonly sha256?: string;
}

/** Where the model's files come from: the browser's own store, the user's disk, or addresses. */
export type ModelSource =
  | { readonly from: "store" }
  | { readonly from: "disk"; readonly weights: File; readonly vocabulary: File }
  | { readonly from: "network"; readonly weights: RemoteFile; readonly vocabulary: RemoteFile };

/** The facts about the model in one precision: its module, and sizes in bytes. */
export interface ModelFacts {
  readonly module: readonly [name: string, figure: string, more: string];
  readonly weightBytes: number;
  readonly memoryBytes: number;
  readonly workspaceBytes: number;
}

export interface LoadedModel {
  readonly layers: number;
  readonly heads: number;
  /**
   * Which precisions are loaded, and facts about each of them. A file of floats gives both precisions. An int8 file
   * gives only int8.
   */
  readonly facts: Readonly<Partial<Record<Precision, ModelFacts>>>;
  /** Undefined if both precisions are loaded. Otherwise, a message that says why one of them is not loaded. */
  readonly missing?: string;
  /** The reason why the model was not stored for the next visit. */
  readonly notKept?: string;
}

/** A request to run the model in one precision on `text`. */
export interface Asked {
  readonly text: string;
  readonly precision: Precision;
}

export interface Embedded {
  readonly embedding: Float32Array;
  readonly tokens: number;
  readonly milliseconds: number;
}

export interface Attended {
  readonly tokens: readonly string[];
  /** [layers][heads][tokens][tokens] */
  readonly maps: Float32Array;
  readonly milliseconds: number;
}

/** The comparison of both precisions on the same texts. */
export interface Compared {
  /** The number of tokens of the first text. */
  readonly tokens: number;
  /** The time of an embedding of the first text. */
  readonly milliseconds: Readonly<Record<Precision, number>>;
  /** For each text, the cosine between the int8 embedding and the float32 embedding. */
  readonly cosines: readonly number[];
}

/**
 * The requests from the page to the worker. For each request, `take` is the type of its argument, and `give` is the
 * type of its answer.
 */
export interface Questions {
  load: { take: { readonly source: ModelSource; readonly precision: Precision }; give: LoadedModel };
  embed: { take: Asked; give: Embedded };
  attend: { take: Asked; give: Attended };
  /** Runs the model until the engine has optimised the kernel of this precision, and only then answers. */
  warm: { take: Precision; give: null };
  compare: { take: readonly string[]; give: Compared };
  /** Asks for the file with int8 weights and int8 embeddings, which the user can save. */
  int8File: { take: undefined; give: Blob };
}

export type Request =
  | {
      [Q in keyof Questions]: { readonly id: number; readonly ask: Q; readonly about: Questions[Q]["take"] };
    }[keyof Questions]
  | { readonly ask: "cancel" };

/** The progress of a load. `total` is 0 if the number of all bytes is unknown. */
export interface LoadProgress {
  readonly step: string;
  readonly bytes: number;
  readonly total: number;
}

export type Answer =
  | { readonly id: number; readonly answer: Questions[keyof Questions]["give"] }
  | { readonly id: number; readonly problem: string; readonly cancelled: boolean }
  | LoadProgress;
