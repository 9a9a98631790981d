import { encodeBytes, encodeVarint } from '#ingest/protocols/body/protobuf_wire.ts';

import { deflateSnappyBlock } from './snappy.ts';

interface SampleAt {
  readonly at: number;
  readonly value: number;
}

/** A series with its samples, or with native histograms of schema 3 by their buckets (`exponentialCounts`). */
export interface Written {
  readonly labels: Readonly<Record<string, string>>;
  readonly samples?: readonly SampleAt[];
  readonly histograms?: readonly { readonly at: number; readonly counts: ReadonlyMap<number, number> }[];
}

/** Prometheus's client libraries choose this schema for buckets that are at most 10 % wide. */
const SCHEMA = 3;

/** A body of remote write 1.0: https://prometheus.io/docs/specs/prw/remote_write_spec/ */
export function remoteWrite(series: readonly Written[]): Buffer {
  return deflateSnappyBlock(Buffer.concat(series.map((sample) => encodeBytes(1, seriesOf(sample)))));
}

function seriesOf({ labels, samples = [], histograms = [] }: Written): Buffer {
  const sorted = Object.entries(labels).toSorted(([a], [b]) => (a < b ? -1 : 1));
  return Buffer.concat([
    ...sorted.map(([name, value]) => encodeBytes(1, Buffer.concat([encodeBytes(1, name), encodeBytes(2, value)]))),
    ...samples.map(({ at, value }) => encodeBytes(2, Buffer.concat([double(1, value), encodeVarint(2, at)]))),
    ...histograms.map(({ at, counts }) => encodeBytes(4, histogramOf(at, counts))),
  ]);
}

function histogramOf(at: number, counts: ReadonlyMap<number, number>): Buffer {
  const indexes = [...counts.keys()].toSorted((a, b) => a - b);
  const spans: Buffer[] = [];
  const deltas: Buffer[] = [];
  let [next, begun, length, before] = [0, 0, 0, 0];
  const close = (): void => {
    if (length > 0) spans.push(encodeBytes(11, Buffer.concat([zigzag(1, begun), encodeVarint(2, length)])));
  };
  for (const index of indexes) {
    // Prometheus names a bucket by its upper bound.
    const place = index + 1;
    if (length === 0 || place !== next) {
      close();
      [begun, length] = [place - next, 0];
    }
    const count = counts.get(index) ?? 0;
    deltas.push(signed(count - before));
    [next, length, before] = [place + 1, length + 1, count];
  }
  close();
  const total = [...counts.values()].reduce((sum, count) => sum + count, 0);
  return Buffer.concat([
    encodeVarint(1, total),
    double(3, 0),
    zigzag(4, SCHEMA),
    double(5, 1e-128),
    encodeVarint(6, 0),
    ...spans,
    encodeBytes(12, Buffer.concat(deltas)),
    encodeVarint(15, at),
  ]);
}

function double(field: number, value: number): Buffer {
  const bytes = Buffer.alloc(9);
  bytes[0] = field * 8 + 1;
  bytes.writeDoubleLE(value, 1);
  return bytes;
}

const zigzag = (field: number, value: number): Buffer => encodeVarint(field, value < 0 ? -2 * value - 1 : 2 * value);

/** The value alone, as in a packed list. */
const signed = (value: number): Buffer => zigzag(1, value).subarray(1);

interface SeriesOfRequest {
  /** Names and values in turn. */
  readonly labels: readonly string[];
  readonly values: Float64Array;
}

/** A body of remote write 1.0 with the values of series at even times. */
export function writeRequest(series: readonly SeriesOfRequest[], startMs: number, everyMs: number): Buffer {
  return remoteWrite(
    series.map(({ labels, values }) => ({
      labels: Object.fromEntries(labels.flatMap((name, at) => (at % 2 === 0 ? [[name, labels[at + 1] ?? '']] : []))),
      samples: Array.from(values, (value, index) => ({ at: startMs + index * everyMs, value })),
    })),
  );
}
