import {
  type Exemplar,
  exemplarName,
  EXEMPLARS_A_REQUEST,
  isWithinHistogram,
  spanIdOf,
  traceIdOf,
} from '#modules/metrics/decide/exemplar.ts';
import type { Label } from '#ingest/admission/labels.ts';

/** An exemplar as it was sent, in any protocol. */
export interface SentExemplar {
  /** Time in epoch milliseconds; NaN if it was not sent. */
  readonly at: number;
  readonly value: number;
  readonly traceId: string;
  readonly spanId: string;
}

/** Limit on the exemplars read from one request, kept or not. */
const READ_MAX = 2 * EXEMPLARS_A_REQUEST;

/** The exemplars of one request: those that name a trace, as many as are of use. Others are left out, and no fault. */
export class Exemplars {
  readonly kept: Exemplar[] = [];
  #read = 0;
  readonly #oldest: number;
  readonly #newest: number;

  constructor(oldest: number, newest: number) {
    this.#oldest = oldest;
    this.#newest = newest;
  }

  /** Whether a further one may be read: reading them must not cost more than the points. */
  mayRead(): boolean {
    this.#read += 1;
    return this.#read <= READ_MAX;
  }

  /** Adds an exemplar of an accepted series. Returns whether it was kept. */
  add(name: string, labels: readonly Label[], { at, value, traceId, spanId }: SentExemplar): boolean {
    if (this.kept.length >= EXEMPLARS_A_REQUEST || !Number.isFinite(value)) return false;
    if (!(at >= this.#oldest && at <= this.#newest)) return false;
    const trace = traceIdOf(traceId);
    if (trace === null) return false;
    const pairs = labels
      .filter((label) => label.fault === null && label.value !== '' && !isWithinHistogram(label.name))
      .toSorted((a, b) => (a.name < b.name ? -1 : Number(a.name > b.name)))
      .flatMap((label) => [label.name, label.value]);
    this.kept.push({ name: exemplarName(name), labels: pairs, at, value, traceId: trace, spanId: spanIdOf(spanId) });
    return true;
  }
}
