import { createSocket } from 'node:dgram';
import { once } from 'node:events';
import { isIPv6 } from 'node:net';
import { setImmediate } from 'node:timers/promises';

import { RANGE_LABEL, toRanges } from '#core/metrics/exponential_buckets.ts';
import { METRIC_TYPE } from '#core/metrics/metric_type.ts';
import type { PointKind } from '#core/metrics/point.ts';
import { type Label, NAME_LABEL, toSeriesText } from '#ingest/admission/labels.ts';
import { type DecodedPoints, PointAdmission, type PointLimits } from '#ingest/admission/point_admission.ts';
import type { OpenPort, PortOptions, PortProtocol } from '#ingest/port_protocol.ts';
import type { Steps } from '#ingest/protocols/body/steps.ts';
import { AppError, messageOf } from '#kernel/errors.ts';
import type { Temporal } from '#kernel/time.ts';

const FLUSH_MS = 10_000;
/** What a process reads a second; what comes beyond is not read. */
const LINES_PER_SECOND_MAX = 100_000;
const SERIES_MAX = 50_000;
const MEMBERS_MAX = 100_000;
/** Of a key that is not known to be good yet. */
const SERIES_OF_STRANGER_MAX = 500;
/** Keys that are known to be good, and those that are not yet. */
const KEYS_MAX = 2_000;
const STRANGERS_MAX = 100;
/** A good key is remembered for so many flushes without a line. */
const IDLE_FLUSHES_MAX = 60;
/** Flushed points of a service that could not be stored yet; the oldest make room. */
const WAITING_MAX = 200_000;
/** A gauge that is changed by `+1` is remembered for so many flushes without one. */
const GAUGE_FLUSHES_MAX = 60;
const KEY_TAG = 'ingestion_key';
const STEPS_OF_GRID = 8;

/**
 * StatsD over UDP, with the tags of DogStatsD. Every ten seconds what came is stored: counters and sets as what was
 * counted, gauges as their last value, timers and histograms as exponential histograms. The service is the one whose
 * ingestion key is the tag `ingestion_key` of a line, else that of the settings.
 */
export const STATSD: PortProtocol = { name: 'statsd', portOf: ({ statsdPort }) => statsdPort, listen };

interface Line {
  readonly name: string;
  readonly values: readonly string[];
  readonly type: 'c' | 'g' | 's' | 't';
  readonly isMilliseconds: boolean;
  readonly rate: number;
  readonly tags: readonly (readonly [name: string, value: string])[];
  /** Null where the line has none. */
  readonly key: string | null;
}

/** Null for a line that cannot be read. */
function readLine(text: string): Line | null {
  const [head = '', type = '', ...parts] = text.split('|');
  const colon = head.indexOf(':');
  const kind = type === 'ms' || type === 'h' || type === 'd' ? 't' : type;
  if (colon < 1 || (kind !== 'c' && kind !== 'g' && kind !== 's' && kind !== 't')) return null;
  const values = kind === 's' ? [head.slice(colon + 1)] : head.slice(colon + 1).split(':');
  if (values.some((value) => value === '' || (kind !== 's' && !Number.isFinite(Number(value))))) return null;
  let rate = 1;
  let key: string | null = null;
  const tags: [string, string][] = [];
  for (const part of parts) {
    if (part.startsWith('@')) rate = Number(part.slice(1));
    if (!part.startsWith('#')) continue;
    for (const tag of part.slice(1).split(',')) {
      const at = tag.indexOf(':');
      const [name, value] = at === -1 ? [tag, 'true'] : [tag.slice(0, at), tag.slice(at + 1)];
      if (name === KEY_TAG) key = value;
      else if (name !== '') tags.push([name, value]);
    }
  }
  if (!(rate > 0 && rate <= 1)) return null;
  tags.sort(([a], [b]) => (a < b ? -1 : Number(a > b)));
  return { name: head.slice(0, colon), values, type: kind, isMilliseconds: type === 'ms', rate, tags, key };
}

interface Timer {
  count: number;
  sum: number;
  min: number;
  max: number;
  zeroCount: number;
  readonly positive: Map<number, number>;
  readonly negative: Map<number, number>;
}

interface Gathered {
  readonly line: Pick<Line, 'name' | 'type' | 'tags' | 'isMilliseconds'>;
  value: number;
  readonly members: Set<string>;
  readonly timer: Timer | null;
  /** Flushes since it was sent last. */
  idle: number;
}

/** A point as it will be stored, however often that has to be tried. */
interface ReadyPoint {
  readonly name: string;
  readonly tags: Line['tags'];
  readonly value: number;
  readonly kind: PointKind;
  readonly at: number;
  /** Of its family. */
  readonly told: { readonly family: string; readonly type: number; readonly unit: string };
}

/** What one service sent since the last flush. */
class StatsdLines {
  readonly #gathered = new Map<string, Gathered>();
  #members = 0;

  get size(): number {
    return this.#gathered.size;
  }

  /** False where there is no room for its series, or for the member of its set. */
  add(line: Line, seriesMax: number): boolean {
    const { name, type, tags, values, rate } = line;
    const key = `${type} ${name} ${JSON.stringify(tags)}`;
    let found = this.#gathered.get(key);
    if (found === undefined) {
      if (this.#gathered.size >= seriesMax) return false;
      const timer = type === 't' ? newTimer() : null;
      found = { line, value: 0, members: new Set(), timer, idle: 0 };
      this.#gathered.set(key, found);
    }
    found.idle = 0;
    for (const text of values) {
      if (type === 's') {
        if (!found.members.has(text) && (this.#members += 1) > MEMBERS_MAX) return false;
        found.members.add(text);
      } else if (type === 'c') found.value += Number(text) / rate;
      else if (type === 'g') found.value = /^[+-]/.test(text) ? found.value + Number(text) : Number(text);
      else if (found.timer !== null) addTo(found.timer, Number(text), 1 / rate);
    }
    return true;
  }

  /** What was gathered, as points of this time; gauges are remembered, all else begins anew. */
  flush(at: number): ReadyPoint[] {
    const points: ReadyPoint[] = [];
    for (const [key, found] of this.#gathered) {
      if (found.idle === 0) points.push(...pointsOf(found, at));
      found.idle += 1;
      if (found.line.type !== 'g' || found.idle > GAUGE_FLUSHES_MAX) this.#gathered.delete(key);
    }
    this.#members = 0;
    return points;
  }
}

function newTimer(): Timer {
  return { count: 0, sum: 0, min: Infinity, max: -Infinity, zeroCount: 0, positive: new Map(), negative: new Map() };
}

function addTo(timer: Timer, value: number, count: number): void {
  timer.count += count;
  timer.sum += value * count;
  timer.min = Math.min(timer.min, value);
  timer.max = Math.max(timer.max, value);
  if (value === 0) {
    timer.zeroCount += count;
    return;
  }
  const side = value > 0 ? timer.positive : timer.negative;
  const index = Math.ceil(Math.log2(Math.abs(value)) * STEPS_OF_GRID) - 1;
  side.set(index, (side.get(index) ?? 0) + count);
}

function pointsOf({ line, value, members, timer }: Gathered, at: number): ReadyPoint[] {
  const { name, type, tags, isMilliseconds } = line;
  const told = { family: name, type: TOLD[type], unit: isMilliseconds ? 'ms' : '' };
  const point = (suffix: string, value: number, kind: PointKind, extra: Line['tags'] = []): ReadyPoint => ({
    name: name + suffix,
    tags: [...tags, ...extra],
    value,
    kind,
    at,
    told,
  });
  if (timer === null) return [point('', type === 's' ? members.size : value, type === 'c' ? 'delta' : 'gauge')];
  const side = (counts: ReadonlyMap<number, number>) => ({
    offset: 0,
    counts: [...counts.values()],
    indexes: [...counts.keys()],
  });
  const ranges =
    toRanges({
      scale: Math.log2(STEPS_OF_GRID),
      zeroCount: timer.zeroCount,
      zeroThreshold: 0,
      positive: side(timer.positive),
      negative: side(timer.negative),
    }) ?? [];
  return [
    point('_count', timer.count, 'delta'),
    point('_sum', timer.sum, 'delta'),
    point('_min', timer.min, 'gauge'),
    point('_max', timer.max, 'gauge'),
    ...ranges.map(({ range, count }) => point('_bucket', count, 'delta', [[RANGE_LABEL, range]])),
  ];
}

const TOLD: Readonly<Record<Line['type'], number>> = {
  c: METRIC_TYPE.counter,
  g: METRIC_TYPE.gauge,
  s: METRIC_TYPE.gauge,
  t: METRIC_TYPE.histogram,
};

function* decodePoints(
  points: readonly ReadyPoint[],
  now: Temporal.Instant,
  limits: PointLimits,
): Steps<DecodedPoints> {
  const bodyBytes = points.reduce((sum, { name, tags }) => sum + name.length + 60 * (tags.length + 1), 0);
  const admission = new PointAdmission(now, limits, { bodyBytes });
  const labels: Label[] = [];
  for (const [index, { name, tags, value, kind, at, told }] of points.entries()) {
    if (index % 128 === 127) yield;
    labels.length = 0;
    for (const [tag, text] of tags) labels.push(admission.label(tag, text));
    const place = (): string => toSeriesText(name, labels);
    const series = admission.findOrAddSeries(admission.label(NAME_LABEL, name), labels);
    if (typeof series === 'string') admission.refuse(series, place);
    else {
      admission.tellType(told.family, told.type, told.unit);
      admission.add(series, at, value, kind, place);
    }
  }
  return admission.result();
}

/** What came with one key. */
interface Sending {
  readonly address: string;
  readonly lines: StatsdLines;
  /** Whether the key is good; null until that is known. */
  isGood: boolean | null;
  looking: Promise<void>;
  /** Flushed, and not stored yet. */
  readonly waiting: ReadyPoint[][];
  refused: number;
  idle: number;
  storing: Promise<void> | null;
}

async function listen({ host, port, settings, open, now, log }: PortOptions): Promise<OpenPort> {
  const sendings = new Map<string, Sending>();
  let strangers = 0;
  let lost = 0;
  let series = 0;
  let linesLeft = LINES_PER_SECOND_MAX;

  const sendingOf = (key: string, address: string): Sending | null => {
    const known = sendings.get(key);
    if (known !== undefined) return known;
    const isOwn = key === settings.statsdIngestionKey;
    if (!isOwn && (strangers >= STRANGERS_MAX || sendings.size >= KEYS_MAX)) return null;
    const lines = new StatsdLines();
    const sending: Sending = {
      address,
      lines,
      isGood: null,
      looking: Promise.resolve(),
      waiting: [],
      refused: 0,
      idle: 0,
      storing: null,
    };
    sendings.set(key, sending);
    strangers += 1;
    sending.looking = open(key, address)
      .then(
        () => true,
        (error: unknown) => (error instanceof AppError && error.code !== 'unavailable' ? false : null),
      )
      .then((isGood) => {
        sending.isGood = isGood;
        if (isGood === true) strangers -= 1;
      });
    return sending;
  };

  const take = (text: string, address: string): void => {
    const line = readLine(text);
    const key = line?.key ?? settings.statsdIngestionKey ?? null;
    const sending = key === null ? null : sendingOf(key, address);
    if (sending === null) {
      lost += 1;
      return;
    }
    const { lines } = sending;
    const before = lines.size;
    const room = sending.isGood === true ? before + SERIES_MAX - series : SERIES_OF_STRANGER_MAX;
    if (line === null || !lines.add(line, room)) sending.refused += 1;
    series += lines.size - before;
  };

  const socket = createSocket({ type: isIPv6(host) ? 'udp6' : 'udp4', recvBufferSize: 4 * 1024 * 1024 });
  socket.on('error', (error) => log.warn({ err: messageOf(error) }, 'StatsD: the socket failed'));
  socket.on('message', (datagram, { address }) => {
    for (const line of datagram.toString('utf8').split('\n')) {
      // Events and checks of DogStatsD are no metrics.
      if (line === '' || line.startsWith('_e{') || line.startsWith('_sc|')) continue;
      if ((linesLeft -= 1) < 0) lost += 1;
      else take(line.trimEnd(), address);
    }
  });

  /** The same points at the same times, until they are stored: what was stored already is replaced by itself. */
  const store = async (key: string, { address, waiting, refused }: Sending): Promise<void> => {
    for (let points = waiting[0]; points !== undefined || refused > 0; points = waiting[0]) {
      const batch = points ?? [];
      try {
        const sender = await open(key, address);
        if (refused > 0) sender.refuse(refused);
        refused = 0;
        if (batch.length > 0) await sender.take((at, limits) => decodePoints(batch, at, limits));
      } catch (error) {
        const isFinal = error instanceof AppError && !MAY_PASS.has(error.code);
        if (!isFinal) return;
        lost += batch.length;
        log.warn({ err: messageOf(error) }, 'StatsD: points were refused');
        refused = 0;
      }
      if (points !== undefined) waiting.shift();
    }
  };

  const flush = async (): Promise<void> => {
    const at = now().epochMilliseconds;
    series = 0;
    for (const [key, sending] of sendings) {
      const { lines, waiting, isGood } = sending;
      sending.idle = lines.size > 0 ? 0 : sending.idle + 1;
      if (isGood !== true) {
        // One that is looked up still keeps its lines.
        if (isGood === null && sending.idle < IDLE_FLUSHES_MAX && waiting.length === 0) continue;
        lost += lines.size + sending.refused;
        strangers -= 1;
        sendings.delete(key);
        continue;
      }
      const points = lines.flush(at);
      series += lines.size;
      if (points.length > 0) waiting.push(points);
      lost += makeRoom(waiting);
      if (sending.idle > IDLE_FLUSHES_MAX && waiting.length === 0) sendings.delete(key);
      sending.storing ??= store(key, sending).finally(() => {
        sending.storing = null;
      });
      sending.refused = 0;
    }
    await Promise.all([...sendings.values()].flatMap(({ storing }) => (storing === null ? [] : [storing])));
    if (lost > 0) {
      const why = 'too many, without a good ingestion key, or refused for long';
      log.warn({ lines: lost }, `StatsD: lines were dropped: ${why}`);
    }
    lost = 0;
  };

  const refill = setInterval(() => {
    linesLeft = LINES_PER_SECOND_MAX;
  }, 1_000);
  const timer = setInterval(() => void flush(), FLUSH_MS);
  socket.bind(port, host);
  await once(socket, 'listening');
  return {
    port: socket.address().port,
    async close() {
      for (const one of [timer, refill]) clearInterval(one);
      // What has arrived already is read first.
      for (let turn = 0; turn < 32; turn += 1) await setImmediate();
      socket.close();
      await Promise.all([...sendings.values()].map(({ looking }) => looking));
      await flush();
    },
  };
}

const MAY_PASS: ReadonlySet<string> = new Set(['unavailable', 'rate_limited', 'internal']);

/** Drops the oldest points beyond what may wait, and returns how many. */
function makeRoom(waiting: ReadyPoint[][]): number {
  let count = waiting.reduce((sum, { length }) => sum + length, 0);
  let dropped = 0;
  while (count > WAITING_MAX && waiting.length > 1) {
    const oldest = waiting.shift()?.length ?? 0;
    count -= oldest;
    dropped += oldest;
  }
  return dropped;
}
