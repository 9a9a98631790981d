import type { PointAdmission } from '#ingest/admission/point_admission.ts';
import { NAME_LABEL, type Label } from '#ingest/admission/labels.ts';
import { LabelCache } from '#ingest/protocols/body/label_cache.ts';
import { parseRfc3339 } from '#ingest/protocols/body/rfc3339.ts';

/** In milliseconds this is the year 1973, in seconds the year 5138: a smaller number must be in seconds. */
const SECONDS_BELOW = 100_000_000_000;

/** Checks the points of Tocsin's own format. */
export class NativePoints {
  readonly #admission: PointAdmission;
  readonly #labels: LabelCache;
  readonly #nowMs: number;
  /** The faults of the point being read. */
  #faults: string[] = [];

  constructor(admission: PointAdmission, nowMs: number) {
    this.#admission = admission;
    this.#labels = new LabelCache(admission);
    this.#nowMs = nowMs;
  }

  /** `place` is the point's position in the body, for the refusal. */
  take(point: unknown, place: () => string): void {
    const admission = this.#admission;
    if (!admission.hasCapacityFor(1)) {
      admission.refuse(admission.fullMessage, place);
      return;
    }
    this.#faults = [];
    if (!isObject(point)) {
      admission.refuse(`an object with "name" and "value" is expected, not ${kindOf(point)}`, place);
      return;
    }
    for (const key in point) if (!KNOWN.has(key)) this.#faults.push(`unknown property ${JSON.stringify(key)}`);
    const name = this.#readName(point['name']);
    const value = this.#readValue(point['value']);
    const at = this.#readTime(point['at']);
    const labels = this.#readLabels(point['labels']);
    if (this.#faults.length === 0) this.#add(name, labels, at, value, place);
    else admission.refuse(this.#faults.slice(0, FAULTS_MAX).join('; '), place);
  }

  #add(name: Label, labels: readonly Label[], at: number, value: number, place: () => string): void {
    const series = this.#admission.findOrAddSeries(name, labels);
    if (typeof series === 'string') this.#admission.refuse(series, place);
    else this.#admission.add(series, at, value, 'gauge', place);
  }

  #readName(name: unknown): Label {
    if (typeof name === 'string') return this.#labels.of(NAME_LABEL, name);
    this.#faults.push(expected('name', 'a string', name));
    return NO_NAME;
  }

  #readValue(value: unknown): number {
    if (typeof value === 'number') return value;
    this.#faults.push(expected('value', 'a number', value));
    return 0;
  }

  #readTime(at: unknown): number {
    if (at === undefined) return this.#nowMs;
    if (typeof at === 'number') {
      if (Math.abs(at) >= SECONDS_BELOW) return Math.floor(at);
      this.#faults.push('at: epoch times are in milliseconds, and this one reads as seconds');
      return 0;
    }
    const parsed = typeof at === 'string' ? parseRfc3339(at) : null;
    if (parsed === null) {
      const found = typeof at === 'string' ? 'another text' : kindOf(at);
      this.#faults.push(`at: epoch milliseconds or an RFC 3339 time with an offset is expected, not ${found}`);
    }
    return parsed ?? 0;
  }

  #readLabels(labels: unknown): readonly Label[] {
    if (labels === undefined) return NO_LABELS;
    if (!isObject(labels)) {
      this.#faults.push(expected('labels', 'an object', labels));
      return NO_LABELS;
    }
    const read: Label[] = [];
    for (const key in labels) {
      const value = labels[key];
      if (typeof value === 'string') read.push(this.#labels.of(key, value));
      else this.#faults.push(expected(`labels[${JSON.stringify(key)}]`, 'a string', value));
    }
    return read;
  }
}

const KNOWN: ReadonlySet<string> = new Set(['name', 'value', 'at', 'labels']);
const FAULTS_MAX = 10;
const NO_LABELS: readonly Label[] = [];
const NO_NAME: Label = { name: NAME_LABEL, value: '', high: 0, low: 0, fault: 'no metric name' };

function expected(field: string, what: string, found: unknown): string {
  return `${field}: ${what} is expected, not ${kindOf(found)}`;
}

function kindOf(found: unknown): string {
  if (found === undefined) return 'nothing';
  if (found === null) return 'null';
  if (Array.isArray(found)) return 'a list';
  return typeof found === 'object' ? 'an object' : `a ${typeof found}`;
}

function isObject(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}
