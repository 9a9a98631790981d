import { spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import http from 'node:http';
import path from 'node:path';
import { buffer } from 'node:stream/consumers';
import { setTimeout as delay } from 'node:timers/promises';

import { Line, rawRequest } from '#infra/bench/exceptions/open_loop.ts';
import { findFreePort } from '#infra/embedded/free_port.ts';
import { WIRE, WireReader } from '#ingest/protocols/body/protobuf_wire.ts';
import { inflateSnappyBlock } from '#ingest/protocols/prometheus/snappy_block.ts';
import { finish } from '#kernel/cooperative_task.ts';
import { prometheusVersion, startPrometheus } from './prometheus.ts';
import { deflateSnappyBlock } from './snappy.ts';

/** The requests of many instances. Requests of one shard are sent one after the other, as Prometheus does. */
export interface ManyScrapes {
  readonly lines: readonly (readonly Buffer[])[];
  readonly points: number;
  readonly series: number;
  readonly requests: number;
  readonly bytes: number;
}

interface Plan {
  readonly instances: number;
  /** Number of times that each instance sends the whole recording. */
  readonly rounds: number;
  readonly lines: number;
  /** The time of the first points; epoch milliseconds. */
  readonly startMs: number;
}

/** A body, and the offsets of the bytes that are changed in it. */
interface Template {
  readonly bytes: Buffer;
  readonly points: number;
  readonly instancesAt: readonly number[];
  readonly times: readonly { readonly at: number; readonly ms: number }[];
  readonly series: readonly string[];
}

/** Recordings of every second become scrapes every 15 s, the usual interval. */
const STRETCH = 15;
const SECOND_MS = 1_000;
const BODY_BYTES_MAX = 16 * 1024 * 1024;

/** Repeats recorded bodies for other instances and later times; nothing else in them changes. */
export function manyScrapes(recorded: readonly Buffer[], { instances, rounds, lines, startMs }: Plan): ManyScrapes {
  const templates = recorded.map(readTemplate).filter(({ points }) => points > 0);
  const firstMs = Math.min(...templates.flatMap(({ times }) => times.map(({ ms }) => ms)));
  const lastMs = Math.max(...templates.flatMap(({ times }) => times.map(({ ms }) => ms)));
  const roundMs = (lastMs - firstMs + SECOND_MS) * STRETCH;
  const made: Buffer[][] = Array.from({ length: lines }, () => []);
  for (let round = 0; round < rounds; round += 1) {
    const timeOf = (ms: number): number => startMs + round * roundMs + (ms - firstMs) * STRETCH;
    for (const template of templates) {
      for (let instance = 0; instance < instances; instance += 1) {
        made[instance % lines]?.push(requestOf(template, nameOf(instance), timeOf));
      }
    }
  }
  const requests = made.flat();
  return {
    lines: made,
    points: templates.reduce((sum, { points }) => sum + points, 0) * instances * rounds,
    series: new Set(templates.flatMap(({ series }) => series)).size * instances,
    requests: requests.length,
    bytes: requests.reduce((sum, { length }) => sum + length, 0),
  };
}

function nameOf(instance: number): string {
  return `host-${String(instance).padStart(4, '0')}`;
}

function requestOf(template: Template, instance: string, timeOf: (ms: number) => number): Buffer {
  const bytes = Buffer.from(template.bytes);
  for (const at of template.instancesAt) bytes.write(instance, at, 'latin1');
  for (const { at, ms } of template.times) writeVarint(bytes, at, timeOf(ms));
  return deflateSnappyBlock(bytes);
}

/** Epoch milliseconds take six bytes from 2004 to 2109. */
function writeVarint(bytes: Buffer, start: number, value: number): void {
  let rest = value;
  for (let i = 0; i < 5; i += 1) {
    bytes[start + i] = (rest % 128) + 128;
    rest = Math.floor(rest / 128);
  }
  bytes[start + 5] = rest;
}

function readTemplate(body: Buffer): Template {
  const bytes = finish(inflateSnappyBlock(body, BODY_BYTES_MAX));
  const reader = new WireReader(bytes, 'WriteRequest');
  const instancesAt: number[] = [];
  const times: { at: number; ms: number }[] = [];
  const series: string[] = [];
  while (reader.nextField(bytes.length)) {
    if (!reader.is(1, WIRE.bytes)) {
      reader.skip(bytes.length);
      continue;
    }
    const end = reader.message(bytes.length);
    let labels = '';
    while (reader.nextField(end)) {
      const isLabel = reader.is(1, WIRE.bytes);
      const partEnd = reader.message(end);
      if (isLabel) {
        labels += bytes.toString('latin1', reader.pos, partEnd);
        const at = bytes.indexOf(RECORDED_INSTANCE, reader.pos, 'latin1');
        if (at >= 0 && at < partEnd) instancesAt.push(at);
        reader.pos = partEnd;
      } else readTime(reader, partEnd, times);
    }
    series.push(labels);
  }
  return { bytes, points: times.length, instancesAt, times, series };
}

function readTime(reader: WireReader, end: number, times: { at: number; ms: number }[]): void {
  while (reader.nextField(end)) {
    if (reader.is(2, WIRE.varint)) times.push({ at: reader.pos, ms: reader.varint(end) });
    else reader.skip(end);
  }
}

/** The name of the recorded instance; other instances get names of the same length. */
const RECORDED_INSTANCE = 'host-0000';

export function canRecord(): boolean {
  const { status } = spawnSync('prometheus-node-exporter', ['--version']);
  return status === 0 && prometheusVersion() !== null;
}

const WITHIN_MS = 60_000;

/** The first bodies that a real Prometheus sends while it scrapes a real node exporter every second. */
export async function recordScrapes(folder: string, requests: number): Promise<Buffer[]> {
  const bodies: Buffer[] = [];
  const receiver = http.createServer((req, res) => {
    void buffer(req).then((body) => {
      bodies.push(body);
      res.writeHead(204).end();
    });
  });
  receiver.listen(0, '127.0.0.1');
  await once(receiver, 'listening');
  const address = receiver.address();
  const port = typeof address === 'object' && address !== null ? address.port : 0;
  const exporterAddress = `127.0.0.1:${await findFreePort(0)}`;
  const exporter = spawn('prometheus-node-exporter', [`--web.listen-address=${exporterAddress}`], { stdio: 'ignore' });
  try {
    const prometheus = await startPrometheus(path.join(folder, 'recorder'), configFor(exporterAddress, port));
    const deadline = performance.now() + WITHIN_MS;
    while (bodies.length < requests && performance.now() < deadline) await delay(100);
    await prometheus.stop();
  } finally {
    exporter.kill('SIGTERM');
    receiver.close();
  }
  if (bodies.length < requests) throw new Error(`Prometheus sent ${bodies.length} requests only`);
  return bodies.slice(0, requests);
}

/** Returns a configuration with Prometheus's default settings. */
function configFor(exporterAddress: string, port: number): string {
  return `
global: { scrape_interval: 1s, scrape_timeout: 1s }
scrape_configs:
  - job_name: node
    static_configs: [{ targets: ['${exporterAddress}'], labels: { instance: '${RECORDED_INSTANCE}' } }]
remote_write:
  - { url: 'http://127.0.0.1:${port}/', metadata_config: { send: false } }
`;
}

const AGAIN_MS = 100;

export const REMOTE_WRITE_HEADERS = {
  'content-type': 'application/x-protobuf',
  'content-encoding': 'snappy',
  'x-prometheus-remote-write-version': '0.1.0',
} as const;

/** Sends all shards at once, each over its own connection, and returns the time until the last answer. */
export async function sendScrapes(
  scrapes: ManyScrapes,
  url: string,
  credentials: Readonly<Record<string, string>> = {},
): Promise<number> {
  const { hostname: host, port, pathname } = new URL(url);
  const headers = { ...REMOTE_WRITE_HEADERS, ...credentials };
  const lines = await Promise.all(
    scrapes.lines.map(async (bodies) => ({
      requests: bodies.map((body) => rawRequest(pathname, headers, body)),
      line: await Line.open({ host, port: Number(port) }),
    })),
  );
  const began = performance.now();
  await Promise.all(lines.map(({ requests, line }) => sendInTurn(requests, line)));
  const tookMs = performance.now() - began;
  for (const { line } of lines) line.close();
  return tookMs;
}

/** A request that is answered with 429 or 503 is sent again, as Prometheus does. */
async function sendInTurn(requests: readonly Buffer[], line: Line): Promise<void> {
  for (const request of requests) {
    for (;;) {
      const status = await new Promise<number>((resolve) => line.send(request, resolve));
      if (status >= 200 && status < 300) break;
      if (status !== 429 && status !== 503) throw new Error(`a request was answered with ${status}`);
      await delay(AGAIN_MS);
    }
  }
}
