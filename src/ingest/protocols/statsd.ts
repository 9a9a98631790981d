import { createSocket } from 'node:dgram';
import { once } from 'node:events';
import { isIPv6 } from 'node:net';
import { setImmediate } from 'node:timers/promises';

import { type Label, NAME_LABEL, toSeriesText } from '#ingest/admission/labels.ts';
import { type DecodedPoints, PointAdmission, type PointLimits } from '#ingest/admission/point_admission.ts';
import type { OpenPort, PortOptions, PortProtocol, PortRefusal } from '#ingest/protocol.ts';
import { inSlices, type Steps } from '#kernel/cooperative_task.ts';
import { DatagramReader, keyOf, readLine } from '#ingest/protocols/statsd/datagram_reader.ts';
import { LineAggregator, AggregationBudget, type ReadyPoint } from '#ingest/protocols/statsd/line_aggregator.ts';
import { AppError, messageOf } from '#kernel/errors.ts';
import type { Temporal } from '#kernel/time.ts';

const FLUSH_MS = 10_000;
/** Values that a process reads a second; what comes beyond is not read. */
const VALUES_PER_SECOND_MAX = 100_000;
/** Lines a second whose keys are not known to be good: they take nothing from the others. */
const UNAUTHENTICATED_LINES_PER_SECOND_MAX = 5_000;
/**
 * Limits on what all good keys may aggregate between two flushes, and on what a key of which nothing is known yet may.
 */
const AGGREGATED_MAX = { seriesMax: 50_000, bytesMax: 64 * 1024 * 1024 };
const UNAUTHENTICATED_AGGREGATE_MAX = { seriesMax: 500, bytesMax: 256 * 1024 };
/** Keys that are known to be good, those that are being looked up, and those that are known to be bad. */
const KEYS_MAX = 2_000;
const UNAUTHENTICATED_KEYS_MAX = 100;
const BAD_KEYS_MAX = 1_000;
/** A good key is remembered for so many flushes without a line. */
const IDLE_FLUSHES_MAX = 60;
/** Flushed points of a service that could not be stored yet; the oldest make room. */
const WAITING_MAX = 200_000;
/** Points that are stored as one batch. */
const BATCH_POINTS_MAX = 50_000;
/** Gauges whose value before their changes is asked for in one flush. */
const RELATIVE_GAUGES_MAX = 1_000;

/**
 * StatsD over UDP, with the tags of DogStatsD. Every ten seconds what came is stored: counters and sets as what was
 * counted, gauges as their last value, timers and histograms as exponential histograms. The service is the one whose
 * ingestion key is the tag `ingestion_key` of a line, else that of the settings.
 */
export const STATSD: PortProtocol = { name: 'statsd', portOf: ({ statsdPort }) => statsdPort, listen };

/** Admits points that were gathered before. */
export function* decodePoints(
  points: readonly ReadyPoint[],
  now: Temporal.Instant,
  limits: PointLimits,
): Steps<DecodedPoints> {
  const bodyBytes = points.reduce((sum, { name, tags }) => sum + name.length + 60 * (tags.length + 1), 0);
  const admission = new PointAdmission(now, limits, { bodyBytes });
  const labels: Label[] = [];
  for (const [index, { name, tags, value, kind, at, announced }] of points.entries()) {
    if (index % 128 === 127) yield;
    labels.length = 0;
    for (const [tag, text] of tags) labels.push(admission.label(tag, text));
    const place = (): string => toSeriesText(name, labels);
    const series = admission.findOrAddSeries(admission.label(NAME_LABEL, name), labels);
    if (typeof series === 'string') admission.refuse(series, place);
    else {
      admission.announceType(announced.family, announced.type, announced.unit);
      admission.add(series, at, value, kind, place);
    }
  }
  return admission.result();
}

/** Data received with one key. */
interface Sending {
  readonly address: string;
  readonly lines: LineAggregator;
  /** Whether the key is good; null until that is known. */
  isGood: boolean | null;
  /** Lookup of the key in progress; null if there is none. */
  looking: Promise<void> | null;
  /** Points that were flushed and are not stored yet. */
  readonly waiting: ReadyPoint[][];
  /** Lines that were not taken, by reason. */
  readonly refused: Map<PortRefusal, number>;
  idle: number;
  storing: Promise<void> | null;
}

async function listen({ host, port, settings, open, now, log }: PortOptions): Promise<OpenPort> {
  const ingestionKey = settings.statsdIngestionKey ?? null;
  /** Data received, by key. */
  const sendings = new Map<string, Sending>();
  const badKeys = new Set<string>();
  const budget = new AggregationBudget(AGGREGATED_MAX);
  let unauthenticatedKeys = 0;
  let lost = 0;
  let valuesLeft = VALUES_PER_SECOND_MAX;
  let unauthenticatedLinesLeft = UNAUTHENTICATED_LINES_PER_SECOND_MAX;

  const lookUp = (key: string, sending: Sending): void => {
    sending.looking ??= open(key, sending.address)
      .then(
        () => true,
        (error: unknown) => (error instanceof AppError && error.code !== 'unavailable' ? false : null),
      )
      .then((isGood) => {
        sending.looking = null;
        sending.isGood = isGood;
        if (isGood === null) return;
        unauthenticatedKeys -= 1;
        if (isGood) {
          sending.lines.moveTo(budget);
          return;
        }
        drop(key, sending);
      });
  };

  /** Drops what came with a key that is not good. */
  const drop = (key: string, { lines, refused }: Sending): void => {
    lost += lines.size + [...refused.values()].reduce((sum, count) => sum + count, 0);
    lines.release();
    sendings.delete(key);
    if (badKeys.size < BAD_KEYS_MAX) badKeys.add(key);
  };

  const sendingOf = (key: string, address: string): Sending | null => {
    const current = sendings.get(key);
    if (current?.isGood === true) return current;
    if ((unauthenticatedLinesLeft -= 1) < 0 || badKeys.has(key)) return null;
    if (current !== undefined) return current;
    if (key !== ingestionKey && (unauthenticatedKeys >= UNAUTHENTICATED_KEYS_MAX || sendings.size >= KEYS_MAX))
      return null;
    const sending: Sending = {
      address,
      lines: new LineAggregator(new AggregationBudget(UNAUTHENTICATED_AGGREGATE_MAX), settings.statsdSignedGauges),
      isGood: null,
      looking: null,
      waiting: [],
      refused: new Map(),
      idle: 0,
      storing: null,
    };
    sendings.set(key, sending);
    unauthenticatedKeys += 1;
    lookUp(key, sending);
    return sending;
  };

  const take = (text: string, address: string): void => {
    if (text === '') return;
    const key = keyOf(text) ?? ingestionKey;
    const sending = key === null || valuesLeft <= 0 ? null : sendingOf(key, address);
    if (sending === null) {
      lost += 1;
      return;
    }
    const refuse = (reason: PortRefusal): void => {
      sending.refused.set(reason, (sending.refused.get(reason) ?? 0) + 1);
    };
    // Events and checks of DogStatsD are no metrics: they are counted and not kept.
    const isMetric = !text.startsWith('_e{') && !text.startsWith('_sc|');
    const line = isMetric ? readLine(text) : 'no_metric';
    valuesLeft -= typeof line === 'string' ? 1 : line.values.length;
    if (typeof line === 'string') refuse(line);
    else if (!sending.lines.add(line)) refuse('no_room');
  };

  const reader = new DatagramReader({ take, drop: (lines) => void (lost += lines) });
  const socket = createSocket({ type: isIPv6(host) ? 'udp6' : 'udp4', recvBufferSize: 4 * 1024 * 1024 });
  socket.on('error', (error) => log.warn({ err: messageOf(error) }, 'StatsD: the socket failed'));
  socket.on('message', (datagram, { address }) => reader.push(datagram, address));

  /**
   * Stores the points of a sender, retrying the same points at the same times until they are stored: points stored
   * already are replaced by themselves.
   */
  const store = async (key: string, sending: Sending): Promise<void> => {
    const { address, waiting } = sending;
    for (let points = waiting[0]; points !== undefined || sending.refused.size > 0; points = waiting[0]) {
      const batch = points ?? [];
      try {
        const sender = await open(key, address);
        for (const [reason, count] of sending.refused) sender.refuse(count, reason);
        sending.refused.clear();
        if (batch.length > 0) await sender.take((at, limits) => decodePoints(batch, at, limits));
      } catch (error) {
        if (!(error instanceof AppError) || MAY_PASS.has(error.code)) return;
        lost += batch.length;
        log.warn({ err: messageOf(error) }, 'StatsD: points were refused');
        if (error.code === 'unauthenticated' || error.code === 'forbidden') {
          drop(key, sending);
          return;
        }
        sending.refused.clear();
      }
      // A newer batch may have taken its place.
      if (points !== undefined && waiting[0] === points) waiting.shift();
    }
  };

  /** Reads the stored values from which gauges go on after a restart. Gauges whose values cannot be read now wait. */
  const findBases = async (key: string, { address, lines }: Sending): Promise<void> => {
    const gauges = lines.relativeGauges(RELATIVE_GAUGES_MAX);
    if (gauges.length === 0) return;
    try {
      const values = await (await open(key, address)).newestValues(gauges);
      for (const [index, gauge] of gauges.entries()) lines.setBase(gauge.key, values[index] ?? 0);
    } catch (error) {
      if (!(error instanceof AppError)) throw error;
    }
  };

  const flush = async (): Promise<void> => {
    const at = now().epochMilliseconds;
    badKeys.clear();
    for (const [key, sending] of sendings) {
      const { lines, waiting } = sending;
      if (sending.isGood !== true) {
        // It keeps its lines until somebody can say whether it is good.
        lookUp(key, sending);
        continue;
      }
      sending.idle = lines.size > 0 ? 0 : sending.idle + 1;
      await findBases(key, sending);
      const points = await inSlices(lines.flush(at));
      for (let from = 0; from < points.length; from += BATCH_POINTS_MAX) {
        waiting.push(points.slice(from, from + BATCH_POINTS_MAX));
      }
      lost += makeRoom(waiting);
      if (sending.idle > IDLE_FLUSHES_MAX && waiting.length === 0) sendings.delete(key);
      sending.storing ??= store(key, sending).finally(() => {
        sending.storing = null;
      });
    }
    if (lost > 0) {
      const why = 'too many, without a good ingestion key, or refused for long';
      log.warn({ lines: lost }, `StatsD: lines were dropped: ${why}`);
    }
    lost = 0;
  };

  const refill = setInterval(() => {
    valuesLeft = VALUES_PER_SECOND_MAX;
    unauthenticatedLinesLeft = UNAUTHENTICATED_LINES_PER_SECOND_MAX;
  }, 1_000);
  let flushing = Promise.resolve();
  const flushNext = (): Promise<void> => (flushing = flushing.then(flush));
  const timer = setInterval(() => void flushNext(), FLUSH_MS);
  socket.bind(port, host);
  await once(socket, 'listening');
  return {
    port: socket.address().port,
    async close() {
      for (const timerHandle of [timer, refill]) clearInterval(timerHandle);
      // Reads what has arrived already.
      for (let turn = 0; turn < 32; turn += 1) await setImmediate();
      socket.close();
      await reader.drain();
      for (const [key, sending] of sendings) if (sending.isGood === null) lookUp(key, sending);
      await Promise.all([...sendings.values()].flatMap(({ looking }) => looking ?? []));
      await flushNext();
      await Promise.all([...sendings.values()].flatMap(({ storing }) => storing ?? []));
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
