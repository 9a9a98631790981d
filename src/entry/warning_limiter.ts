const WINDOW_MS = 60_000;
const LINES_MAX = 5;
/** Messages are fixed texts; this many mean that one is not. */
const MESSAGES_MAX = 1_000;

/** While something is away the same warning comes again and again: of each message five lines a minute say it. */
export class WarningLimiter {
  readonly #windows = new Map<string, { since: number; lines: number; leftOut: number }>();

  /** How many like it were left out before this one; null when this one is left out, too. */
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
