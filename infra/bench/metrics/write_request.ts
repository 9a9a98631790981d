import { deflateSnappyBlock } from './snappy.ts';

interface SeriesOfRequest {
  /** Names and values in turn. */
  readonly labels: readonly string[];
  readonly values: Float64Array;
}

/** The body of a Prometheus remote write 1.0 request: https://prometheus.io/docs/specs/prw/remote_write_spec/ */
export function writeRequest(series: readonly SeriesOfRequest[], startMs: number, everyMs: number): Buffer {
  const parts = series.flatMap(({ labels, values }) => {
    const pairs: [string, string][] = [];
    for (let index = 0; index < labels.length; index += 2) pairs.push([labels[index] ?? '', labels[index + 1] ?? '']);
    const sorted = pairs.toSorted(([a], [b]) => (a < b ? -1 : 1));
    const named = sorted.map(([name, value]) => message(1, Buffer.concat([text(1, name), text(2, value)])));
    const samples = Array.from(values, (value, index) => message(2, sampleOf(value, startMs + index * everyMs)));
    return message(1, Buffer.concat([...named, ...samples]));
  });
  return deflateSnappyBlock(Buffer.concat(parts));
}

function sampleOf(value: number, at: number): Buffer {
  const bytes = Buffer.alloc(9);
  bytes[0] = 0x09;
  bytes.writeDoubleLE(value, 1);
  return Buffer.concat([bytes, Buffer.from([0x10]), varint(at)]);
}

const message = (field: number, body: Buffer): Buffer =>
  Buffer.concat([Buffer.from([(field << 3) | 2]), varint(body.length), body]);

const text = (field: number, value: string): Buffer => message(field, Buffer.from(value));

function varint(value: number): Buffer {
  const bytes: number[] = [];
  let rest = value;
  for (; rest >= 128; rest = Math.floor(rest / 128)) bytes.push((rest % 128) | 128);
  return Buffer.from([...bytes, rest]);
}
