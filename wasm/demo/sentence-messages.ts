// What the page and the worker that runs MiniLM say to each other.

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

export interface ModelFacts {
  readonly layers: number;
  readonly heads: number;
  readonly module: readonly [name: string, figure: string, more: string];
  readonly weightBytes: number;
  readonly memoryBytes: number;
  readonly workspaceBytes: number;
  /** Why the model was not kept for the next visit. */
  readonly notKept?: string;
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

/** Each question's name, what it takes, and what is answered. */
export interface Questions {
  load: { take: ModelSource; give: ModelFacts };
  embed: { take: string; give: Embedded };
  attend: { take: string; give: Attended };
  /** Answered when the engine has optimised the kernel. */
  warm: { take: undefined; give: null };
}

export type Request =
  | {
      [Q in keyof Questions]: { readonly id: number; readonly ask: Q; readonly about: Questions[Q]["take"] };
    }[keyof Questions]
  | { readonly ask: "cancel" };

export type Answer =
  | { readonly id: number; readonly answer: Questions[keyof Questions]["give"] }
  | { readonly id: number; readonly problem: string; readonly cancelled: boolean }
  | { readonly id: number; readonly bytes: number; readonly total: number };
