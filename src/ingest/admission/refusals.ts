import type { ItemRefusal } from '#modules/services/decide/ingest_refusal.ts';

/** Refusals with this text are of faults that are not listed. */
const OTHER_FAULTS = 'other faults, not listed';

/** Reason why some points of a request were refused: how many, and up to `PLACES_MAX` of the places. */
export interface RefusalReason {
  readonly message: string;
  readonly count: number;
  /** Places in the protocol's own terms: `points[3].value`, `line 7`, `up{job="api"}`. */
  readonly places: readonly string[];
}

/** Refused points: `count` in all; a point is refused for one reason only. */
export interface Rejected {
  readonly count: number;
  readonly reasons: readonly RefusalReason[];
}

const REASONS_MAX = 50;
const PLACES_MAX = 10;
const TEXT_LENGTH_MAX = 300;
const DESCRIPTION_LENGTH_MAX = 2000;

interface Reason {
  count: number;
  readonly places: string[];
}

/** Collects refusals in bounded memory, however many there are and whatever their texts hold. */
export class Refusals {
  #count = 0;
  readonly #reasons = new Map<string, Reason>();
  /** Message of the last refusal: most refusals of a request have one reason. */
  #lastMessage = '';
  #last: Reason | null = null;

  get count(): number {
    return this.#count;
  }

  /** Counts a refusal; `place` is called only while places of this reason are still being listed. */
  add(message: string, place: () => string, points = 1): void {
    this.#count += points;
    if (this.#last === null || message !== this.#lastMessage) {
      this.#last = this.#reasons.get(message) ?? this.#open(message);
      this.#lastMessage = message;
    }
    const last = this.#last;
    last.count += points;
    if (last.places.length < PLACES_MAX) last.places.push(clip(place()));
  }

  toRejected(): Rejected {
    const reasons = [...this.#reasons].map(([message, { count, places }]) => ({ message, count, places }));
    return { count: this.#count, reasons };
  }

  #open(message: string): Reason {
    const key = this.#reasons.size < REASONS_MAX ? clip(message) : OTHER_FAULTS;
    const reason = this.#reasons.get(key) ?? { count: 0, places: [] };
    this.#reasons.set(key, reason);
    return reason;
  }
}

function clip(text: string, lengthMax = TEXT_LENGTH_MAX): string {
  return text.length <= lengthMax ? text : `${text.slice(0, lengthMax)}…`;
}

/**
 * Describes refusals in one sentence, for protocols whose response has room for no more: `3 points refused: infinite
 * value (2: a, b); …`.
 */
export function describeRejected(rejected: Rejected): string {
  const reasons = rejected.reasons.map(({ message, count, places }) => {
    const more = count > places.length ? ', …' : '';
    return `${message} (${count}: ${places.join(', ')}${more})`;
  });
  const text = `${rejected.count} ${rejected.count === 1 ? 'point' : 'points'} refused: ${reasons.join('; ')}`;
  return clip(text, DESCRIPTION_LENGTH_MAX);
}

/**
 * Messages about new series, which are counted as they are refused (`DecodedPoints.beyondSeries`,
 * `DecodedPoints.deferred`).
 */
const NEW_SERIES = /^a new series\b/;

/** Patterns of refusal messages, by the reason under which they are counted. */
const REASONS: readonly (readonly [reason: ItemRefusal, message: RegExp])[] = [
  ['time_ahead', /^a time more than .* ahead$/],
  ['time_too_old', /^a time older than /],
  ['no_name', /^no metric name$|without a (?:metric )?name\b|^name: /],
  ['bad_time', /^at: /],
  ['not_finite', /\binfinit[ey]\b|\bnot finite\b|\bfinite number\b/],
  ['text_too_long', /^a (?:label|metric name) .*more than \d+ bytes$/],
  ['no_value', /^a point without a value$|\bvalue: a number is expected/],
  ['bad_text', /^the label ".*"(?: twice|, which is )|UTF-8|^labels\b/],
  ['too_many_labels', /^more than \d+ labels$|^more different labels than /],
  ['no_temporality', /without an aggregation temporality$/],
  ['bad_histogram', /histogram|buckets|summary/],
  ['too_many_points', /^beyond the \d+ points /],
];

/** Counts refused points by their reason. Those that are refused for being new series are counted elsewhere. */
export function countByReason(rejected: Rejected): Map<ItemRefusal, number> {
  const counts = new Map<ItemRefusal, number>();
  for (const { message, count } of rejected.reasons) {
    if (NEW_SERIES.test(message)) continue;
    const reason = refusalReasonOf(message);
    counts.set(reason, (counts.get(reason) ?? 0) + count);
  }
  return counts;
}

/** The reason under which refusals with this message are counted and shown. */
export function refusalReasonOf(message: string): ItemRefusal {
  return REASONS.find(([, pattern]) => pattern.test(message))?.[0] ?? 'faulty';
}

/** Names in a message; the count is of all. */
const NAMED_MAX = 5;
const COUNTED_MAX = 1_000;

/** Metrics of one request with series that several streams share. */
export interface SharedSeries {
  readonly count: number;
  readonly named: readonly string[];
}

export const NOTHING_SHARED: SharedSeries = { count: 0, named: [] };

/**
 * Finds series of one request that several streams share: of points of one time, only the last is stored. A stream is a
 * resource with its scope; two points of one time that differ are two streams, too.
 */
export class SharedSeriesFinder {
  readonly #streams: number[] = [];
  readonly #times: number[] = [];
  readonly #values: number[] = [];
  readonly #metrics = new Set<string>();

  /** Notes a point of the series with this index in the batch. */
  note(series: number, stream: number, at: number, value: number, metricName: string): void {
    const before = this.#streams[series];
    const isOther = before !== undefined && (before !== stream || this.#isOverwritten(series, at, value));
    if (isOther && this.#metrics.size < COUNTED_MAX) this.#metrics.add(metricName);
    this.#streams[series] = stream;
    this.#times[series] = at;
    this.#values[series] = value;
  }

  result(): SharedSeries {
    if (this.#metrics.size === 0) return NOTHING_SHARED;
    return { count: this.#metrics.size, named: [...this.#metrics].slice(0, NAMED_MAX) };
  }

  #isOverwritten(series: number, at: number, value: number): boolean {
    return this.#times[series] === at && this.#values[series] !== value;
  }
}

/** Describes shared series: `2 metrics have series that several streams share: up, down. …` */
export function describeSharedSeries({ count, named }: SharedSeries): string {
  const more = count > named.length ? ', …' : '';
  const what = count === 1 ? 'metric has series' : 'metrics have series';
  return (
    `${count} ${what} that several streams of this request share, so of points of one time only the last is stored: ` +
    `${named.join(', ')}${more}. Give each stream an attribute that distinguishes it, such as service.instance.id`
  );
}
