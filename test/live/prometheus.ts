import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import os from 'node:os';
import path from 'node:path';

import { expect, vi } from 'vitest';

import { findFreePort } from '#infra/embedded/free_port.ts';

/** A program that listens and can be killed. */
export interface Running {
  readonly address: string;
  kill(): Promise<void>;
}

/** Every raw sample, `[epoch milliseconds, value]` oldest first, by series as people write it. */
export type Samples = ReadonlyMap<string, readonly (readonly [number, number])[]>;

export interface Prometheus extends Running {
  /** All that it has scraped and still takes for values: no stale markers. */
  samples(): Promise<Samples>;
  /** Returns one of its own counts of writing to the first destination. */
  count(metric: string): Promise<number>;
}

interface Target {
  readonly job: string;
  readonly address: string;
}

interface RemoteWrite {
  readonly url: string;
  readonly ingestionKey: string;
}

/** Prometheus's own exporter for machines, with few collectors. */
export async function startNodeExporter(): Promise<Running> {
  const address = `127.0.0.1:${await findFreePort(0)}`;
  const collectors = ['cpu', 'loadavg', 'meminfo', 'time'].map((name) => `--collector.${name}`);
  const args = [`--web.listen-address=${address}`, '--collector.disable-defaults', ...collectors];
  const node = start('prometheus-node-exporter', args, address);
  await isAnswered(`http://${address}/metrics`);
  return node;
}

/** A Prometheus that scrapes every second and sends all it scrapes, with little patience between two attempts. */
export async function startPrometheus(
  targets: readonly Target[],
  destinations: readonly RemoteWrite[],
): Promise<Prometheus> {
  const folder = mkdtempSync(path.join(os.tmpdir(), 'tocsin-prometheus-'));
  const config = path.join(folder, 'prometheus.json');
  // YAML is a superset of JSON.
  writeFileSync(
    config,
    JSON.stringify({
      global: { scrape_interval: '1s', scrape_timeout: '1s' },
      scrape_configs: targets.map(({ job, address }) => ({ job_name: job, static_configs: [{ targets: [address] }] })),
      remote_write: destinations.map(({ url, ingestionKey }) => ({
        url,
        authorization: { type: 'Bearer', credentials: ingestionKey },
        metadata_config: { send_interval: '2s' },
        queue_config: {
          retry_on_http_429: true,
          min_shards: 3,
          max_samples_per_send: 100,
          batch_send_deadline: '100ms',
          min_backoff: '50ms',
          max_backoff: '300ms',
        },
      })),
    }),
  );
  const address = `127.0.0.1:${await findFreePort(0)}`;
  const files = [`--config.file=${config}`, `--storage.tsdb.path=${path.join(folder, 'data')}`];
  const prometheus = start('prometheus', [...files, `--web.listen-address=${address}`, '--log.level=error'], address);
  await isAnswered(`http://${address}/-/ready`);
  return {
    ...prometheus,
    async kill() {
      await prometheus.kill();
      rmSync(folder, { recursive: true, force: true });
    },
    async count(metric) {
      const text = await (await fetch(`http://${address}/metrics`)).text();
      const lines = text.split('\n').filter((line) => line.startsWith(`${metric}{`));
      const line = lines.find((candidate) => candidate.includes(`url="${destinations[0]?.url}"`));
      return Number(line?.split(' ').at(-1) ?? 0);
    },
    async samples() {
      const answer = await fetch(`http://${address}/api/v1/query?query=${encodeURIComponent('{__name__!=""}[10m]')}`);
      const { data } = (await answer.json()) as { data: { result: readonly Row[] } };
      return new Map(data.result.map(({ metric, values }) => [seriesText(metric), values.map(toSample)]));
    },
  };
}

interface Row {
  readonly metric: Readonly<Record<string, string>>;
  readonly values: readonly (readonly [seconds: number, value: string])[];
}

function toSample([seconds, value]: readonly [number, string]): readonly [number, number] {
  return [Math.round(seconds * 1_000), Number(value.replace('Inf', 'Infinity'))];
}

/** `up{instance="a",job="b"}`, the labels in order. */
export function seriesText({ __name__: name = '', ...labels }: Readonly<Record<string, string>>): string {
  const pairs = Object.entries(labels).toSorted(([a], [b]) => (a < b ? -1 : 1));
  return `${name}{${pairs.map(([label, value]) => `${label}="${value}"`).join(',')}}`;
}

function start(program: string, args: readonly string[], address: string): Running {
  const child = spawn(program, args, { stdio: 'ignore' });
  return {
    address,
    async kill() {
      if (child.exitCode !== null || child.signalCode !== null) return;
      const gone = once(child, 'exit');
      child.kill('SIGKILL');
      await gone;
    },
  };
}

async function isAnswered(url: string): Promise<void> {
  const ask = (): Promise<boolean> =>
    fetch(url).then(
      ({ ok }) => ok,
      () => false,
    );
  // Also before all tests, where nothing polls for an expectation.
  await vi.waitFor(async () => expect(await ask(), `${url} is not ready`).toBe(true), { timeout: 90_000 });
}
