const WINDOW_MS = 60_000;
const LINES_MAX = 5;
/** Limit on the messages tracked: they are fixed texts; this many mean that one is not. */
const MESSAGES_MAX = 1_000;

/** Limits repeated warnings: while a store is unavailable, each message is logged five times a minute. */
export class WarningLimiter {
  readonly #windows = new Map<string, { since: number; lines: number; leftOut: number }>();

  /** Returns how many such messages were left out before this one; null if this one is left out, too. */
  admit(message: string, nowMs: number): number | null {
    const window = this.#windows.get(message);
    if (window === undefined || nowMs - window.since >= WINDOW_MS) {
      if (this.#windows.size >= MESSAGES_MAX) this.#windows.clear();
      this.#windows.set(message, { since: nowMs, lines: 1, leftOut: 0 });
      return window?.leftOut ?? 0;
    }
    if (window.lines >= LINES_MAX) {
      window.leftOut += 1;
      return null;
    }
    window.lines += 1;
    return 0;
  }
}
