import { finish } from '#kernel/cooperative_task.ts';
import { inflateSnappyBlock } from '#ingest/protocols/prometheus/snappy_block.ts';
import { WIRE, WireReader } from '#ingest/protocols/body/protobuf_wire.ts';

import { RECORDED_INSTANCE } from './recorded_scrapes.ts';
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
