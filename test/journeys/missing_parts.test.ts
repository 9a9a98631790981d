import { expect, test } from 'vitest';

import type { PointKind } from '#modules/metrics/decide/point.ts';
import type { StoredSettings } from '#modules/rules/decide/rule_settings.ts';
import { runStorePoints } from '#test/kit/ingest_jobs.ts';
import { setOfRule } from '#test/kit/metrics/rule_settings.ts';
import { type StaffedWorld, staffedWorld } from '#test/kit/staffed_world.ts';

interface Sent {
  readonly name: string;
  readonly labels: Record<string, string>;
  readonly value: number;
  readonly kind?: PointKind;
}

async function watched(w: StaffedWorld, config: object, settings: StoredSettings) {
  const [teamId, anna] = await w.staff.teamOf('Anna');
  w.phone.addFault({ kind: 'callback_lost', number: anna.phone });
  const steps = [{ afterMinutes: 0, channels: ['sms'], targetUserIds: [anna.userId] }] as const;
  const { serviceId, ruleId } = await w.staff.alert(teamId, steps, {
    config: { metricName: 'load', windowMinutes: 2, ...config },
  });
  await setOfRule(w, ruleId, { noData: 'keep', ...settings });
  return {
    /** Sends the points of each of so many minutes, and evaluates the rule. */
    minutes: async (count: number, pointsOf: (minute: number) => readonly Sent[]) => {
      for (let passed = 0; passed < count; passed += 1) {
        w.clock.advance({ minutes: 1 });
        const at = w.clock.now();
        const points = pointsOf(passed).map((sent) => ({ kind: 'gauge' as const, at, ...sent }));
        if (points.length > 0) await runStorePoints(w.runtime, serviceId, points);
        await w.evaluate();
      }
    },
    statuses: async (): Promise<string[]> =>
      (await w.expectOk('list_incidents')).incidents.map(({ status }: { status: string }) => status).toSorted(),
  };
}

const disk = (host: string, name: string, value: number): Sent => ({
  name: 'load',
  labels: { host, disk: name },
  value,
});

test('by label, a value stays open whose breaching series fell silent beside a healthy one', async () => {
  const w = await staffedWorld();
  const rule = await watched(w, { aggregation: 'max', comparator: '>', threshold: 45 }, { byLabel: 'host' });
  await rule.minutes(2, () => [disk('a', 'x', 5), disk('a', 'y', 96), disk('b', 'x', 5)]);
  expect(await rule.statuses()).toEqual(['triggered']);
  await rule.minutes(4, () => [disk('a', 'x', 5), disk('b', 'x', 5)]);
  expect(await rule.statuses()).toEqual(['triggered']);
  await rule.minutes(5, () => [disk('a', 'x', 5), disk('a', 'y', 7), disk('b', 'x', 5)]);
  expect(await rule.statuses()).toEqual(['resolved']);
});

test('a ratio has not recovered when the host that failed falls silent, on either side', async () => {
  const w = await staffedWorld();
  const rule = await watched(
    w,
    { metricName: 'errors / requests', aggregation: 'sum', comparator: '>', threshold: 0.3 },
    {},
  );
  const host = (name: string, errors: number, minute: number): Sent[] => [
    { name: 'errors', labels: { host: name }, value: errors * minute, kind: 'counter' },
    { name: 'requests', labels: { host: name }, value: 100 * minute, kind: 'counter' },
  ];
  await rule.minutes(4, (minute) => [...host('a', 90, minute), ...host('b', 0, minute)]);
  expect(await rule.statuses()).toEqual(['triggered']);
  await rule.minutes(4, (minute) => host('b', 0, 4 + minute));
  expect(await rule.statuses()).toEqual(['triggered']);
});

test('a short window in which nothing was sent is neither a breach nor an end', async () => {
  const w = await staffedWorld();
  const rule = await watched(
    w,
    { aggregation: 'avg', comparator: '>', threshold: 90, windowMinutes: 30 },
    { shortWindowMinutes: 2, forMinutes: 6, recoveryMinutes: 6 },
  );
  const each = (value: number) => (minute: number) => (minute % 5 === 0 ? [disk('a', 'x', value)] : []);
  await rule.minutes(11, each(96));
  expect(await rule.statuses()).toEqual(['triggered']);
  await rule.minutes(11, each(5));
  expect(await rule.statuses()).toEqual(['resolved']);
});
