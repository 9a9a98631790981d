import { mkdtempSync, rmSync } from 'node:fs';
import os from 'node:os';
import path from 'node:path';

import { remoteWrite, type Written } from '#infra/bench/metrics/write_request.ts';
import { startPrometheus } from '#infra/bench/metrics/prometheus.ts';
import { PointBatch } from '#ingest/admission/point_batch.ts';
import { columnsOf, seriesKey } from '#test/kit/metrics/points.ts';

/** Value of an instant vector by the labels that are left, as text; not finite ones as Prometheus says them. */
export type Vector = ReadonlyMap<string, number>;

/** Debian's Prometheus, which takes samples by remote write and evaluates expressions. */
export interface PromQl {
  readonly version: string;
  write(series: readonly Written[]): Promise<void>;
  evaluate(expression: string, atMs: number): Promise<Vector>;
  close(): Promise<void>;
}

export async function startPromQl(): Promise<PromQl> {
  const folder = mkdtempSync(path.join(os.tmpdir(), 'tocsin-promql-'));
  const server = await startPrometheus(folder, '{}', { flags: ['--web.enable-remote-write-receiver'] });
  return {
    version: server.version,
    async write(series) {
      const headers = { 'content-type': 'application/x-protobuf', 'content-encoding': 'snappy' };
      const body = remoteWrite(series);
      const answer = await fetch(`${server.url}/api/v1/write`, { method: 'POST', headers, body });
      if (!answer.ok) throw new Error(`Prometheus refused samples: ${await answer.text()}`);
    },
    async evaluate(expression, atMs) {
      const body = new URLSearchParams({ query: expression, time: String(atMs / 1_000) });
      const answer = (await (await fetch(`${server.url}/api/v1/query`, { method: 'POST', body })).json()) as Answer;
      if (answer.status !== 'success') throw new Error(`${expression}: ${answer.error}`);
      return new Map(
        answer.data.result.map(({ metric, value }) => [
          Object.values(metric).join(),
          Number(value[1].replace('Inf', 'Infinity')),
        ]),
      );
    },
    async close() {
      await server.stop();
      rmSync(folder, { recursive: true, force: true });
    },
  };
}

interface Answer {
  readonly status: string;
  readonly error?: string;
  readonly data: { readonly result: readonly { metric: Record<string, string>; value: [number, string] }[] };
}

/** The same series as the product stores them. */
export function pointsOf(series: readonly Written[], kind: 'counter' | 'gauge') {
  const batch = new PointBatch();
  for (const { labels, samples = [] } of series) {
    const { __name__: name = '', ...others } = labels;
    const flat = Object.entries(others)
      .toSorted(([a], [b]) => (a < b ? -1 : 1))
      .flat();
    const place = batch.addSeries({ name, labels: flat, key: seriesKey(name, flat) });
    for (const { at, value } of samples) batch.add(place, at, value, kind);
  }
  return columnsOf(batch);
}
