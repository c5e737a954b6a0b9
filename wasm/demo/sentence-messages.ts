// What the page and the worker that runs MiniLM say to each other.
import type { Precision } from "../src/index.js";

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

/** What the model takes in one precision. */
export interface ModelFacts {
  readonly module: readonly [name: string, figure: string, more: string];
  readonly weightBytes: number;
  readonly memoryBytes: number;
  readonly workspaceBytes: number;
}

export interface LoadedModel {
  readonly layers: number;
  readonly heads: number;
  /** Of each precision that is loaded: a file of floats gives both, an int8 file gives int8 only. */
  readonly facts: Readonly<Partial<Record<Precision, ModelFacts>>>;
  /** Why the precision that was not chosen is not loaded. */
  readonly missing?: string;
  /** Why the model was not kept for the next visit. */
  readonly notKept?: string;
}

/** A text for the model in one precision. */
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

/** Both precisions, with the same texts. */
export interface Compared {
  /** Of the first text. */
  readonly tokens: number;
  /** The time of an embedding of the first text. */
  readonly milliseconds: Readonly<Record<Precision, number>>;
  /** Of each text: the cosine of the embeddings in int8 and in float32. */
  readonly cosines: readonly number[];
}

/** Each question's name, what it takes, and what is answered. */
export interface Questions {
  load: { take: { readonly source: ModelSource; readonly precision: Precision }; give: LoadedModel };
  embed: { take: Asked; give: Embedded };
  attend: { take: Asked; give: Attended };
  /** Answered when the engine has optimised the kernel of that precision. */
  warm: { take: Precision; give: null };
  compare: { take: readonly string[]; give: Compared };
  /** The file with int8 weights and int8 embeddings. */
  int8File: { take: undefined; give: Blob };
}

export type Request =
  | {
      [Q in keyof Questions]: { readonly id: number; readonly ask: Q; readonly about: Questions[Q]["take"] };
    }[keyof Questions]
  | { readonly ask: "cancel" };

/** How far a load is. `total` is 0 if the number of all bytes is unknown. */
export interface LoadProgress {
  readonly step: string;
  readonly bytes: number;
  readonly total: number;
}

export type Answer =
  | { readonly id: number; readonly answer: Questions[keyof Questions]["give"] }
  | { readonly id: number; readonly problem: string; readonly cancelled: boolean }
  | LoadProgress;
