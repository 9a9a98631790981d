import { setTimeout as wait } from 'node:timers/promises';

interface Alarm {
  readonly dueAtMs: number;
  readonly ring: () => Promise<void>;
  timer?: NodeJS.Timeout;
}

const TIMER_MAX_MS = 2 ** 31 - 1;

/**
 * Events at an instant of the phone's clock: a ringing time-out, silence in a call, a late call-back. With a real clock
 * each alarm rings by itself; with a clock moved by a test, `elapse` rings what has become due.
 */
export class Alarms {
  readonly #pending = new Set<Alarm>();
  readonly #now: () => number;
  readonly #ringsByItself: boolean;

  constructor(now: () => number, ringsByItself: boolean) {
    this.#now = now;
    this.#ringsByItself = ringsByItself;
  }

  set(dueAtMs: number, ring: () => Promise<void>): () => void {
    const alarm: Alarm = { dueAtMs, ring };
    this.#pending.add(alarm);
    if (this.#ringsByItself) {
      alarm.timer = setTimeout(() => void this.#ring(alarm), Math.min(dueAtMs - this.#now(), TIMER_MAX_MS));
      alarm.timer.unref();
    }
    return () => this.#remove(alarm);
  }

  /** Runs everything that is due by now, in order of time, and waits for what follows from it. */
  async elapse(): Promise<void> {
    for (let next = this.#nextDue(); next !== undefined; next = this.#nextDue()) await this.#ring(next);
  }

  clear(): void {
    for (const alarm of this.#pending) this.#remove(alarm);
  }

  #nextDue(): Alarm | undefined {
    const now = this.#now();
    return [...this.#pending].filter((alarm) => alarm.dueAtMs <= now).sort((a, b) => a.dueAtMs - b.dueAtMs)[0];
  }

  async #ring(alarm: Alarm): Promise<void> {
    if (!this.#remove(alarm)) return;
    await alarm.ring();
  }

  #remove(alarm: Alarm): boolean {
    clearTimeout(alarm.timer);
    return this.#pending.delete(alarm);
  }
}

/** Waits in real time, at least one turn of the event loop. It does not keep the process alive. */
export async function pause(ms: number): Promise<void> {
  await (ms > 0 ? wait(ms, undefined, { ref: false }) : new Promise((resolve) => setImmediate(resolve)));
}
