/** What is started: an absolute file, its arguments, and its whole environment. */
export interface StartLine {
  readonly file: string;
  readonly args: readonly string[];
  readonly env: Readonly<Record<string, string>>;
}

/** One child with whatever it starts. */
export interface Tree {
  /** What to start in place of the bare command. */
  readonly line: StartLine;
  /** The line runs, as the leader of a process group of this id. */
  started(pid: number): void;
  /** SIGKILL to all of it. Only while the leader has not been seen to exit: later its id may be another's. */
  kill(): void;
  /** The leader has exited: ends what it left behind and resolves when that is gone. */
  ended(): Promise<void>;
}

/** `pid-namespace`: the kernel ends a tree as one. `reaper`: a process of our own looks for its members. */
export type TreeLevel = "pid-namespace" | "reaper";

/** A way to make sure that no tree outlives this process, whatever ends it. */
export interface TreeKeeper {
  readonly level: TreeLevel;
  /** What holds at this level and what does not, for a person. */
  readonly explain: string;
  /** Throws an `Error` for a person where trees cannot be kept any more. */
  plant(line: StartLine): Tree;
  /** To be called when every tree has ended. */
  close(): Promise<void>;
}
