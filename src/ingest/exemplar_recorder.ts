import { randomUUID } from 'node:crypto';

import { type Exemplar, EXEMPLARS_A_MINUTE, EXEMPLARS_OF_SERVICE_A_MINUTE } from '#modules/metrics/decide/exemplar.ts';
import { messageOf } from '#kernel/errors.ts';
import { PeriodicWrite } from '#ingest/periodic_write.ts';
import type { Id } from '#kernel/ids.ts';
import type { Log } from '#kernel/log.ts';
import type { ExemplarStore, ServiceExemplar } from '#modules/metrics/store/exemplar_store.ts';

interface ExemplarRecorderOptions {
  readonly store: Pick<ExemplarStore, 'insert'>;
  readonly log: Log;
}

const WRITE_INTERVAL_MS = 2_000;
/** Limit on the exemplars that wait while the store does not answer. */
const WAITING_MAX = 20_000;
const MINUTE_MS = 60_000;

/**
 * Writes exemplars to the store, a few for each series and minute. They are hints beside the points, so no request
 * waits for them, and what cannot be written for long is left out.
 */
export class ExemplarRecorder {
  readonly #options: ExemplarRecorderOptions;
  readonly #writes: PeriodicWrite;
  #waiting: ServiceExemplar[] = [];
  /** Exemplars that could not be written yet, under the token of their first attempt. */
  #batch: { readonly token: string; readonly exemplars: readonly ServiceExemplar[] } | null = null;
  /** Exemplars accepted per series and per service, for this minute and the one before. */
  #taken = new Map<string, number>();
  #takenBefore = new Map<string, number>();
  #minute = 0;
  #isFailing = false;

  constructor(options: ExemplarRecorderOptions) {
    this.#options = options;
    this.#writes = new PeriodicWrite(() => this.#write(), WRITE_INTERVAL_MS);
  }

  record(serviceId: Id<'service'>, exemplars: readonly Exemplar[], nowMs: number): void {
    if (exemplars.length === 0) return;
    this.#turnTo(Math.floor(nowMs / MINUTE_MS));
    for (const exemplar of exemplars) {
      if (this.#waiting.length >= WAITING_MAX) return;
      if (this.#mayTake(serviceId, exemplar)) this.#waiting.push({ serviceId, exemplar });
    }
  }

  /** Joins a write that is already running. Never throws. */
  write(): Promise<void> {
    return this.#writes.write();
  }

  /** Writes the rest. */
  close(): Promise<void> {
    return this.#writes.close();
  }

  /** Counted by the minute of the exemplar, so that one that is sent again and again with its series counts once. */
  #mayTake(serviceId: Id<'service'>, { name, labels, at, traceId, spanId }: Exemplar): boolean {
    const minute = Math.floor(at / MINUTE_MS);
    const once = JSON.stringify([serviceId, name, labels, at, traceId, spanId]);
    if (this.#countOf(once) > 0) return false;
    const series = JSON.stringify([serviceId, name, labels, minute]);
    if (this.#countOf(series) >= EXEMPLARS_A_MINUTE) return false;
    const service = this.#taken.get(serviceId) ?? 0;
    if (service >= EXEMPLARS_OF_SERVICE_A_MINUTE) return false;
    this.#taken.set(once, 1);
    this.#taken.set(series, this.#countOf(series) + 1);
    this.#taken.set(serviceId, service + 1);
    return true;
  }

  #countOf(key: string): number {
    return (this.#taken.get(key) ?? 0) + (this.#takenBefore.get(key) ?? 0);
  }

  #turnTo(minute: number): void {
    if (minute === this.#minute) return;
    this.#minute = minute;
    this.#takenBefore = this.#taken;
    this.#taken = new Map();
  }

  async #write(): Promise<void> {
    const { store, log } = this.#options;
    if (this.#batch === null && this.#waiting.length > 0) {
      this.#batch = { token: randomUUID(), exemplars: this.#waiting };
      this.#waiting = [];
    }
    if (this.#batch === null) return;
    try {
      await store.insert(this.#batch.exemplars, this.#batch.token);
      this.#batch = null;
      this.#isFailing = false;
    } catch (error) {
      if (!this.#isFailing) log.warn({ err: messageOf(error) }, 'exemplars could not be stored; trying again');
      this.#isFailing = true;
    }
  }
}
