import { afterAll, beforeAll, expect, onTestFinished, test } from 'vitest';

import { buildApp } from '#entry/http/app.ts';
import type { Temporal } from '#kernel/time.ts';
import { sweep } from '#test/kit/properties.ts';
import { type StaffedWorld, staffedWorld } from '#test/kit/staffed_world.ts';

interface Counted {
  readonly app?: StaffedWorld['app'];
  readonly value: number;
  readonly start: Temporal.Instant;
}

let w: StaffedWorld;
beforeAll(async () => {
  w = await staffedWorld({ keepOpen: true });
});
afterAll(() => w.close());

/** A service that counts errors, and a rule on how many there are. */
async function counting({ windowMinutes, threshold }: { windowMinutes: number; threshold: number }) {
  const { serviceId, ingestionKey } = await w.given.service();
  const config = { metricName: 'errors', comparator: '>=', threshold, windowMinutes, aggregation: 'sum' };
  await w.expectOk('create_alert_rule', { serviceId, name: 'Errors', kind: 'metric_threshold', config });
  const nanoseconds = (at: Temporal.Instant): string => String(BigInt(at.epochMilliseconds) * 1_000_000n);
  const startedAgo = (minutes: number): Temporal.Instant => w.clock.now().subtract({ minutes });
  return {
    startedAgo,
    /** Exports as an SDK of OpenTelemetry does now. */
    async export({ app = w.app, value, start }: Counted): Promise<void> {
      const point = { startTimeUnixNano: nanoseconds(start), timeUnixNano: nanoseconds(w.clock.now()), asInt: value };
      const sum = { aggregationTemporality: 2, isMonotonic: true, dataPoints: [point] };
      const payload = { resourceMetrics: [{ scopeMetrics: [{ metrics: [{ name: 'errors', sum }] }] }] };
      const headers = { authorization: `Bearer ${ingestionKey}`, 'content-type': 'application/json' };
      const answer = await app.inject({ method: 'POST', url: '/api/ingest/otlp/v1/metrics', headers, payload });
      expect(answer).toMatchObject({ statusCode: 200, body: '{}' });
      await w.runUntilIdle();
      w.clock.advance({ seconds: 1 });
    },
    /** Returns the values for which the rule has opened incidents. */
    async opened(): Promise<number[]> {
      await w.evaluate();
      const { incidents } = await w.expectOk('list_incidents', { serviceId });
      return (incidents as { details: { value: number } }[]).map(({ details }) => details.value);
    },
    async increaseWithin(minutes: number): Promise<number> {
      const query = { serviceId, metricName: 'errors', aggregation: 'sum', windowMinutes: minutes };
      const { points } = await w.expectOk('query_metric', query);
      return (points as { value: number }[]).reduce((sum, { value }) => sum + value, 0);
    },
  };
}

test.each(
  sweep(
    [
      [5, 9],
      [60, 64],
    ],
    2,
    1,
  ),
)('a rule over %i minutes counts a first export of 5 that began %i minutes ago', async (windowMinutes, minutesAgo) => {
  const service = await counting({ windowMinutes, threshold: 5 });
  await service.export({ value: 5, start: service.startedAgo(minutesAgo) });
  expect(await service.opened()).toEqual([5]);
});

test.each(
  sweep(
    [
      [5, 10],
      [5, 24 * 60],
      [60, 65],
    ],
    3,
  ),
)(
  'a rule over %i minutes pages nobody for a first export that began %i minutes ago, and counts from the second on',
  async (windowMinutes, minutesAgo) => {
    const service = await counting({ windowMinutes, threshold: 3 });
    const start = service.startedAgo(minutesAgo);
    await service.export({ value: 5, start });
    expect(await service.opened()).toEqual([]);
    expect(await service.increaseWithin(2 * minutesAgo)).toBe(5);
    w.clock.advance({ minutes: 1 });
    await service.export({ value: 8, start });
    expect(await service.opened()).toEqual([3]);
  },
);

test('a restart from 100 to 150 with a new start is an increase of 150', async () => {
  const service = await counting({ windowMinutes: 5, threshold: 150 });
  await service.export({ value: 100, start: service.startedAgo(60) });
  expect(await service.opened()).toEqual([]);
  w.clock.advance({ minutes: 2 });
  await service.export({ value: 150, start: service.startedAgo(1) });
  expect(await service.opened()).toEqual([150]);
});

test('a series that an API process has forgotten is not taken for a new one', async () => {
  const service = await counting({ windowMinutes: 5, threshold: 6 });
  const start = service.startedAgo(1);
  await service.export({ value: 5, start });
  w.clock.advance({ minutes: 1 });
  const app = await buildApp(w.context);
  onTestFinished(() => app.close());
  await service.export({ app, value: 5, start });
  expect(await service.opened()).toEqual([]);
  expect(await service.increaseWithin(60)).toBe(5);
});
