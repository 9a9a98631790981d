import { type ChildProcess, spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { mkdirSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';

import { findFreePort } from '#infra/embedded/free_port.ts';
import { encodeBytes } from '#ingest/protocols/body/protobuf_wire.ts';
import type { Aggregation } from '#modules/metrics/decide/aggregation.ts';
import { metricName, METRICS_A_SERVICE, SERIES_A_METRIC, SERVICES } from './history.ts';
import { deflateSnappyBlock } from './snappy.ts';

/** The machine's own Prometheus, on a folder and a port of its own. */
interface Prometheus {
  readonly url: string;
  readonly pid: number;
  readonly version: string;
  /** The value of this metric of its own, summed over all label sets that match the pattern. */
  counted(name: string, labels?: string): Promise<number>;
  stop(): Promise<void>;
}

const READY_WITHIN_MS = 30_000;

/** The version, and null where it is not installed. */
export function prometheusVersion(): string | null {
  const { status, stdout, stderr } = spawnSync('prometheus', ['--version'], { encoding: 'utf8' });
  return status === 0 ? (/version ([^+\s]+)/.exec(stdout || stderr)?.[1] ?? 'unknown') : null;
}

/** `files` are written beside its configuration, which may name them. */
export async function startPrometheus(
  folder: string,
  config: string,
  { files = {}, flags = [] }: { files?: Readonly<Record<string, string>>; flags?: readonly string[] } = {},
): Promise<Prometheus> {
  mkdirSync(folder, { recursive: true });
  for (const [name, text] of Object.entries({ ...files, 'prometheus.yml': config })) {
    writeFileSync(path.join(folder, name), text);
  }
  const address = `127.0.0.1:${await findFreePort(0)}`;
  const child = spawn(
    'prometheus',
    [
      `--config.file=${path.join(folder, 'prometheus.yml')}`,
      `--storage.tsdb.path=${path.join(folder, 'tsdb')}`,
      `--web.listen-address=${address}`,
      '--log.level=error',
      ...flags,
    ],
    { stdio: ['ignore', 'ignore', 'inherit'] },
  );
  const url = `http://${address}`;
  await untilReady(child, `${url}/-/ready`);
  return {
    url,
    pid: child.pid ?? 0,
    version: prometheusVersion() ?? 'unknown',
    async counted(name, labels = '') {
      const text = await (await fetch(`${url}/metrics`)).text();
      const matches = [
        ...text.matchAll(
          new RegExp(`^${name}${labels === '' ? '(?:\\{[^}]*\\})?' : `\\{[^}]*${labels}[^}]*\\}`} (\\S+)$`, 'gm'),
        ),
      ];
      return matches.reduce((sum, [, value]) => sum + Number(value), 0);
    },
    async stop() {
      const gone = once(child, 'exit');
      child.kill('SIGTERM');
      await gone;
    },
  };
}

async function untilReady(child: ChildProcess, url: string): Promise<void> {
  const deadline = performance.now() + READY_WITHIN_MS;
  while (performance.now() < deadline) {
    if (child.exitCode !== null) throw new Error(`Prometheus ended with ${child.exitCode}`);
    const response = await fetch(url).catch(() => null);
    if (response?.ok === true) return;
    await delay(50);
  }
  child.kill('SIGKILL');
  throw new Error('Prometheus was not ready in time');
}

/** A rule over the history's metrics; no value is ever above its threshold. */
interface BenchRule {
  readonly service: number;
  readonly metric: string;
  readonly isCounter: boolean;
  /** The pattern of its selector for the label `host`; null for all series. */
  readonly host: string | null;
  readonly windowMinutes: number;
  readonly aggregation: Aggregation;
}

export const THRESHOLD = 1e12;

/** The mix of rules, in tenths: most windows are five minutes, some an hour; one rule in eleven selects series. */
const WINDOWS_MINUTES = [5, 5, 5, 5, 5, 5, 1, 1, 15, 60];
const HOSTS = [null, null, null, null, null, null, null, null, null, null, 'host-[0-4]'];
const AGGREGATIONS: readonly Aggregation[] = ['avg', 'max', 'sum', 'last', 'min', 'count'];

export const RULE_SHARES =
  'of every aggregation; windows of 1, 5, 15 and 60 min; one in eleven with a pattern on a label';

/** This many rules, spread over all metrics. */
export function makeRules(wanted: number): BenchRule[] {
  return Array.from({ length: wanted }, (_, index) => {
    const metric = Math.floor(index / SERVICES) % METRICS_A_SERVICE;
    return {
      service: index % SERVICES,
      metric: metricName(metric),
      isCounter: metric % 2 === 1,
      host: pick(HOSTS, index),
      windowMinutes: pick(WINDOWS_MINUTES, index),
      aggregation: pick(AGGREGATIONS, index),
    };
  });
}

/** Picks values in a mixed order, so that windows, aggregations, selectors and metrics occur in every combination. */
function pick<Value>(values: readonly Value[], index: number): Value {
  const place = Math.imul(index * 31 + values.length, 0x9e3779b1) >>> 16;
  const value = values[place % values.length];
  if (value === undefined) throw new RangeError('nothing to pick from');
  return value;
}

interface RuleManagerCycle {
  readonly version: string;
  readonly points: number;
  readonly shortMs: number;
  readonly longMs: number;
}

const STEP_MS = 15_000;
const MINUTE_MS = 60_000;
/** The longest window, and the range that `increase` reads before it. */
const PAST_MS = 66 * MINUTE_MS;
/** Time of the first evaluation after the first points, so that windows are full. */
const AHEAD_MS = 4 * MINUTE_MS;
/** Prometheus refuses points that are an hour older than its newest. */
const SLICE_MS = 10 * MINUTE_MS;
const INTERVAL_SECONDS = 20;
const EVALUATED_WITHIN_MS = 150_000;

/**
 * Gives Debian's Prometheus the series of the history, as far back as rules look, and the same rules; each group is
 * evaluated at least twice, and the last evaluation counts.
 */
export async function evaluateByPrometheus(folder: string, rules: readonly BenchRule[]): Promise<RuleManagerCycle> {
  const prometheus = await startPrometheus(folder, CONFIG, {
    files: { 'rules.yml': ruleFile(rules) },
    flags: ['--web.enable-remote-write-receiver'],
  });
  try {
    const points = await fill(prometheus, Date.now());
    await untilEvaluated(prometheus, rules.length * 2);
    const [shortMs = 0, longMs = 0] = await durations(prometheus);
    return { version: prometheus.version, points, shortMs, longMs };
  } finally {
    await prometheus.stop();
  }
}

const CONFIG = `
global: { evaluation_interval: ${INTERVAL_SECONDS}s }
rule_files: [rules.yml]
`;

/** Writes the rules grouped by service and length of window, as the product evaluates them. */
function ruleFile(rules: readonly BenchRule[]): string {
  const groups = Map.groupBy(rules, ({ service, windowMinutes }) => `${groupKind(windowMinutes)}-${service}`);
  return JSON.stringify({
    groups: [...groups].map(([name, group]) => ({
      name,
      rules: group.map((rule, index) => ({ alert: `${name}-${index}`, expr: `${expressionOf(rule)} > ${THRESHOLD}` })),
    })),
  });
}

function groupKind(windowMinutes: number): 'short' | 'long' {
  return windowMinutes > 15 ? 'long' : 'short';
}

function expressionOf({ service, metric, isCounter, host, windowMinutes, aggregation }: BenchRule): string {
  const matchers = [`service="${service}"`, ...(host === null ? [] : [`host=~"${host}"`])];
  const range = `${metric}{${matchers.join(',')}}[${windowMinutes}m]`;
  switch (aggregation) {
    case 'avg':
      return `sum(sum_over_time(${range})) / sum(count_over_time(${range}))`;
    case 'min':
      return `min(min_over_time(${range}))`;
    case 'max':
      return `max(max_over_time(${range}))`;
    case 'count':
      return `sum(count_over_time(${range}))`;
    case 'last':
      return `sum(last_over_time(${range}))`;
    case 'sum':
      return isCounter ? `sum(increase(${range}))` : `sum(sum_over_time(${range}))`;
  }
}

async function fill({ url }: Prometheus, nowMs: number): Promise<number> {
  let points = 0;
  for (let fromMs = nowMs - PAST_MS; fromMs < nowMs + AHEAD_MS; fromMs += SLICE_MS) {
    const toMs = Math.min(fromMs + SLICE_MS, nowMs + AHEAD_MS);
    for (let service = 0; service < SERVICES; service += 1) {
      const { body, samples } = writeRequest(service, fromMs, toMs);
      const headers = { 'content-type': 'application/x-protobuf', 'content-encoding': 'snappy' };
      const response = await fetch(`${url}/api/v1/write`, { method: 'POST', headers, body });
      if (!response.ok) throw new Error(`Prometheus refused points: ${await response.text()}`);
      points += samples;
    }
  }
  return points;
}

function writeRequest(service: number, fromMs: number, toMs: number): { body: Buffer; samples: number } {
  const parts: Buffer[] = [];
  let samples = 0;
  for (let place = 0; place < METRICS_A_SERVICE * SERIES_A_METRIC; place += 1) {
    const metric = Math.floor(place / SERIES_A_METRIC);
    const host = place % SERIES_A_METRIC;
    const series = [
      label('__name__', metricName(metric)),
      label('host', `host-${host}`),
      label('service', String(service)),
      label('zone', String(place % 3)),
    ];
    for (let atMs = fromMs + (place % 15) * 1_000; atMs < toMs; atMs += STEP_MS) {
      series.push(sample(metric % 2 === 1 ? Math.floor(atMs / 1_000) : (atMs * (place + 7)) % 1_000, atMs));
      samples += 1;
    }
    parts.push(encodeBytes(1, Buffer.concat(series)));
  }
  return { body: deflateSnappyBlock(Buffer.concat(parts)), samples };
}

function label(name: string, value: string): Buffer {
  return encodeBytes(1, Buffer.concat([encodeBytes(1, name), encodeBytes(2, value)]));
}

/** Epoch milliseconds take six bytes as a varint. */
const SAMPLE_BYTES = 16;

function sample(value: number, atMs: number): Buffer {
  const bytes = Buffer.alloc(2 + SAMPLE_BYTES);
  bytes[0] = (2 << 3) | 2;
  bytes[1] = SAMPLE_BYTES;
  bytes[2] = (1 << 3) | 1;
  bytes.writeDoubleLE(value, 3);
  bytes[11] = 2 << 3;
  let rest = Math.floor(atMs);
  for (let i = 12; i < 17; i += 1) {
    bytes[i] = (rest % 128) + 128;
    rest = Math.floor(rest / 128);
  }
  bytes[17] = rest;
  return bytes;
}

/** Waits for this many further evaluations. */
async function untilEvaluated(prometheus: Prometheus, evaluations: number): Promise<void> {
  const before = await prometheus.counted('prometheus_rule_evaluations_total');
  const deadline = performance.now() + EVALUATED_WITHIN_MS;
  while ((await prometheus.counted('prometheus_rule_evaluations_total')) < before + evaluations) {
    if (performance.now() > deadline) throw new Error('Prometheus did not evaluate its rules in time');
    await delay(500);
  }
}

/** The sums over all groups, of short and of long windows. */
async function durations(prometheus: Prometheus): Promise<number[]> {
  const seconds = (kind: string) =>
    prometheus.counted('prometheus_rule_group_last_duration_seconds', `rule_group="[^"]*;${kind}-`);
  return [(await seconds('short')) * 1_000, (await seconds('long')) * 1_000];
}
