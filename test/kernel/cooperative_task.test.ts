import { expect, onTestFinished, test, vi } from 'vitest';

import { pointLimits } from '#ingest/admission/point_admission.ts';
import { decodeMetricsJson } from '#ingest/protocols/metrics_json.ts';
import { decodeOtlpMetrics } from '#ingest/protocols/otlp_metrics.ts';
import { decodePrometheusWrite } from '#ingest/protocols/prometheus_write.ts';
import { trimEvent } from '#ingest/protocols/sentry/trim_event.ts';
import { inSlices, type Steps } from '#kernel/cooperative_task.ts';
import { fromEpochMilliseconds } from '#kernel/time.ts';
import { bytes, label, message, sample, writeRequest } from '#test/ingest/metric_bytes.ts';
import { restsOf } from '#test/kit/counting/rests.ts';

const NOW = fromEpochMilliseconds(1_790_000_000_000);
const LIMITS = pointLimits(30);
const MEGABYTE = 1024 * 1024;
const fill = (piece: string, length: number): string => piece.repeat(Math.floor(length / piece.length));
const many = (count: number, entry: (index: number) => string): string =>
  Array.from({ length: count }, (_, index) => entry(index)).join(',');

const JSON_TYPE = 'application/json';
const PROTOBUF = 'application/x-protobuf';
const otlp = (points: Buffer): Buffer => bytes(1, bytes(2, bytes(2, Buffer.concat([bytes(1, 'm'), bytes(5, points)]))));

/** Numbers of things to read, and of things after which the work rests at the latest. */
test.each<[string, number, number, () => Steps<unknown>]>([
  [
    'native JSON of 15,000 points',
    15_000,
    128,
    () =>
      decodeMetricsJson(
        Buffer.from(`{"points":[${many(15_000, (i) => `{"name":"m","value":${i},"labels":{"i":"${i}"}}`)}]}`),
        JSON_TYPE,
        NOW,
        LIMITS,
      ),
  ],
  [
    'some 700,000 values',
    350_000,
    128,
    () => decodeMetricsJson(Buffer.from(`{"points":[${fill('{},', MEGABYTE)}{}]}`), JSON_TYPE, NOW, LIMITS),
  ],
  [
    'a quarter of a million lines',
    262_144,
    128,
    () => decodeMetricsJson(Buffer.alloc(MEGABYTE / 4, '\n'), 'application/x-ndjson', NOW, LIMITS),
  ],
  [
    'OTLP JSON of 8,000 points',
    8_000,
    128,
    () =>
      decodeOtlpMetrics(
        Buffer.from(
          `{"resourceMetrics":[{"scopeMetrics":[{"metrics":[{"name":"m","gauge":{"dataPoints":[${many(8_000, (i) => `{"asDouble":${i},"attributes":[{"key":"i","value":{"stringValue":"${i}"}}]}`)}]}}]}]}]}`,
        ),
        JSON_TYPE,
        NOW,
        LIMITS,
      ),
  ],
  [
    'OTLP of a quarter of a million empty points',
    262_144,
    64,
    () => decodeOtlpMetrics(otlp(Buffer.from(fill('\n\0', MEGABYTE / 2))), PROTOBUF, NOW, LIMITS),
  ],
  [
    'remote write of 20,000 series',
    20_000,
    300,
    () =>
      decodePrometheusWrite(
        writeRequest(
          ...Array.from({ length: 20_000 }, (_, i) =>
            message(
              1,
              label('__name__', `m${i}`),
              label('job', 'a long enough value'),
              sample(1, NOW.epochMilliseconds),
            ),
          ),
        ),
        PROTOBUF,
        NOW,
        LIMITS,
      ),
  ],
  [
    'an event of 4 MiB',
    4 * MEGABYTE,
    MEGABYTE / 4,
    () => trimEvent(Buffer.from(`{"extra":[${fill('{"a":1},', 4 * MEGABYTE - 100)}1]}`), MEGABYTE),
  ],
])('%s is read in many short steps', (_what, items, itemsARest, steps) => {
  expect(items / restsOf(steps())).toBeLessThanOrEqual(itemsARest);
});

test('one of many bodies that are read at once has a slice in each turn of the event loop', async () => {
  vi.useFakeTimers({ toFake: ['performance'] });
  onTestFinished(() => void vi.useRealTimers());
  let turn = 0;
  let isDone = false;
  const countTurns = (): void => {
    turn += 1;
    if (!isDone) setImmediate(countTurns);
  };
  countTurns();
  const turns: number[] = [];
  function* longWork(): Steps<null> {
    for (let slice = 0; slice < 4; slice += 1) {
      if (slice > 0) turns.push(turn);
      vi.advanceTimersByTime(9);
      yield;
    }
    return null;
  }
  await Promise.all(Array.from({ length: 4 }, () => inSlices(longWork())));
  isDone = true;
  expect(turns).toHaveLength(12);
  expect(new Set(turns).size).toBe(12);
});
