import { setTimeout as delay } from 'node:timers/promises';

/** A running process. */
export interface Running {
  readonly pid: number;
  /** Description of its end, in words. Never rejects. */
  readonly exited: Promise<string>;
  /** Asks it to end and resolves when it has, however long that takes. */
  stop(): Promise<void>;
  kill(): void;
}

/** Something to keep running. */
export interface Service {
  readonly name: string;
  /** Resolves when the service can be used. A start that fails leaves nothing behind. The signal aborts the start. */
  start(signal: AbortSignal): Promise<Running>;
}

export type ServiceEvent =
  | { readonly kind: 'ready'; readonly service: string; readonly pid: number; readonly tookMs: number }
  | { readonly kind: 'died'; readonly service: string; readonly how: string; readonly restartInMs: number }
  | { readonly kind: 'start_failed'; readonly service: string; readonly error: unknown; readonly restartInMs: number };

export interface BackOff {
  readonly firstDelayMs: number;
  readonly maxDelayMs: number;
  /** A process that ran this long is healthy: when it dies, the delay starts at the first one again. */
  readonly healthyAfterMs: number;
}

export const BACK_OFF: BackOff = { firstDelayMs: 200, maxDelayMs: 10_000, healthyAfterMs: 30_000 };

export interface Supervised {
  readonly name: string;
  /** Resolves with the first start and rejects when that fails: waiting would not help then. */
  readonly ready: Promise<void>;
  /** Null between the end of one process and the start of the next. */
  readonly pid: number | null;
  /** Asks the process to end and kills it after `killAfterMs`. It is not restarted. Idempotent. */
  stop(killAfterMs: number): Promise<void>;
}

/** Starts the service and restarts it when its process dies, with growing delays while it keeps dying. */
export function supervise(
  service: Service,
  report: (event: ServiceEvent) => void,
  backOff: BackOff = BACK_OFF,
): Supervised {
  return new Supervision(service, report, backOff);
}

class Supervision implements Supervised {
  readonly name: string;
  readonly ready: Promise<void>;
  readonly #service: Service;
  readonly #report: (event: ServiceEvent) => void;
  readonly #backOff: BackOff;
  readonly #stopping = new AbortController();
  readonly #kept: Promise<void>;
  #running: Running | null = null;
  #failures = 0;

  constructor(service: Service, report: (event: ServiceEvent) => void, backOff: BackOff) {
    this.name = service.name;
    this.#service = service;
    this.#report = report;
    this.#backOff = backOff;
    const first = this.#start();
    this.ready = first.then(() => {});
    this.#kept = first.then(
      (running) => this.#keep(running),
      () => {},
    );
  }

  get pid(): number | null {
    return this.#running?.pid ?? null;
  }

  async stop(killAfterMs: number): Promise<void> {
    this.#stopping.abort();
    const overdue = setTimeout(() => this.#running?.kill(), killAfterMs);
    await this.#running?.stop();
    await this.#kept;
    clearTimeout(overdue);
  }

  async #keep(first: Running): Promise<void> {
    let running: Running | null = first;
    while (!this.#stopping.signal.aborted) {
      if (running) await this.#untilDeath(running);
      await this.#pause();
      running = await this.#tryStart();
    }
    await running?.stop();
  }

  async #untilDeath(running: Running): Promise<void> {
    const began = performance.now();
    const how = await running.exited;
    this.#running = null;
    if (performance.now() - began >= this.#backOff.healthyAfterMs) this.#failures = 0;
    if (!this.#stopping.signal.aborted) {
      this.#report({ kind: 'died', service: this.name, how, restartInMs: this.#nextDelayMs() });
    }
  }

  async #start(): Promise<Running> {
    const began = performance.now();
    this.#running = await this.#service.start(this.#stopping.signal);
    const tookMs = Math.round(performance.now() - began);
    this.#report({ kind: 'ready', service: this.name, pid: this.#running.pid, tookMs });
    return this.#running;
  }

  async #tryStart(): Promise<Running | null> {
    if (this.#stopping.signal.aborted) return null;
    try {
      return await this.#start();
    } catch (error) {
      if (this.#stopping.signal.aborted) return null;
      this.#report({ kind: 'start_failed', service: this.name, error, restartInMs: this.#nextDelayMs() });
      return null;
    }
  }

  #nextDelayMs(): number {
    return Math.min(this.#backOff.firstDelayMs * 2 ** this.#failures, this.#backOff.maxDelayMs);
  }

  async #pause(): Promise<void> {
    const ms = this.#nextDelayMs();
    this.#failures += 1;
    await delay(ms, undefined, { signal: this.#stopping.signal }).catch(() => {});
  }
}
