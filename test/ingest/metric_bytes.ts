import { readFileSync } from 'node:fs';
import path from 'node:path';

import { type DecodedPoints, type PointLimits, pointLimits } from '#ingest/admission/point_admission.ts';
import { Temporal } from '#kernel/time.ts';
import { type MetricPoint, pointAt } from '#test/kit/metrics/points.ts';

/** A minute after the recordings were made. */
export const NOW_MS = 1_795_258_360_000;
export const NOW = Temporal.Instant.fromEpochMilliseconds(NOW_MS);
/**
 * Returns limits that share nothing with those of other tests: files share a process, and limits learn metrics and
 * series.
 */
export const freshLimits = (): PointLimits => pointLimits(30);

export function recording(file: string): Buffer {
  return readFileSync(path.join(import.meta.dirname, 'golden/recordings/metrics', file));
}

export function pointsOf({ points }: DecodedPoints): MetricPoint[] {
  return Array.from({ length: points.length }, (_, i) => pointAt(points, i));
}

/** `name{labels} value kind` of every point: short enough to compare by eye. */
export function shortOf(decoded: DecodedPoints): string[] {
  return pointsOf(decoded).map(({ name, labels, value, kind }) => {
    const inside = Object.entries(labels).map(([label, text]) => `${label}=${text}`);
    return `${name}${inside.length > 0 ? `{${inside.join(',')}}` : ''} ${value} ${kind}`;
  });
}

export function varint(value: number | bigint): Buffer {
  const bytes: number[] = [];
  let rest = BigInt.asUintN(64, BigInt(value));
  while (rest >= 128n) {
    bytes.push(Number(rest % 128n) + 128);
    rest /= 128n;
  }
  return Buffer.from([...bytes, Number(rest)]);
}

export const number = (field: number, value: number | bigint) => Buffer.concat([varint(field * 8), varint(value)]);

export function bytes(field: number, value: string | Buffer): Buffer {
  const inside = Buffer.from(value);
  return Buffer.concat([varint(field * 8 + 2), varint(inside.length), inside]);
}

export const message = (field: number, ...fields: Buffer[]) => bytes(field, Buffer.concat(fields));

export function double(field: number, value: number): Buffer {
  const buffer = Buffer.alloc(8);
  buffer.writeDoubleLE(value);
  return Buffer.concat([varint(field * 8 + 1), buffer]);
}

export function fixed64(field: number, value: bigint): Buffer {
  const buffer = Buffer.alloc(8);
  buffer.writeBigUInt64LE(BigInt.asUintN(64, value));
  return Buffer.concat([varint(field * 8 + 1), buffer]);
}

/** A snappy block of literals only. */
export function snappy(body: Buffer): Buffer {
  const parts = [varint(body.length)];
  for (let i = 0; i < body.length; i += 60) {
    const piece = body.subarray(i, i + 60);
    parts.push(Buffer.from([(piece.length - 1) << 2]), piece);
  }
  return Buffer.concat(parts);
}

export const label = (name: string | Buffer, value: string | Buffer) => message(1, bytes(1, name), bytes(2, value));
export const sample = (value: number, at: number | bigint) => message(2, double(1, value), number(2, at));

/** The sample that Prometheus writes when a series has ended. */
export const staleSample = (at: number) => message(2, fixed64(1, 0x7ff0000000000002n), number(2, at));

/** A WriteRequest of these parts, each a `message(1, …)` time series or `message(3, …)` metadata, as it is sent. */
export const writeRequest = (...parts: Buffer[]) => snappy(Buffer.concat(parts));

export const attribute = (field: number, name: string, value: Buffer) =>
  message(field, bytes(1, name), message(2, value));
export const textAttribute = (field: number, name: string, value: string) => attribute(field, name, bytes(1, value));

/** An ExportMetricsServiceRequest with one resource and these `message(2, …)` metrics. */
export function otlpRequest(resource: readonly Buffer[], ...metrics: Buffer[]): Buffer {
  return message(1, message(1, ...resource), message(2, ...metrics));
}

export const WRITE_V2_TYPE = 'application/x-protobuf;proto=io.prometheus.write.v2.Request';

/** A request of remote write 2.0, as it is sent: its symbols, which begin with the empty one, and its `message(5, …)` series. */
export const writeRequestV2 = (symbols: readonly string[], ...series: Buffer[]) =>
  snappy(Buffer.concat([...symbols.map((symbol) => bytes(4, symbol)), ...series]));

/** A packed list of whole numbers. */
export const packed = (field: number, ...values: number[]) =>
  bytes(field, Buffer.concat(values.map((value) => varint(value))));
