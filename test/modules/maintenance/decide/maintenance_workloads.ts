import { SuppressionTimes } from '#modules/incidents/decide/maintenance_times.ts';
import { Temporal } from '#kernel/time.ts';
import type { Workloads } from '#test/kit/counting/count_work.ts';

/** Daily windows of six minutes, each beginning five minutes after the one before. */
export function chainedWindows(count: number) {
  return Array.from({ length: count }, (_, index) => ({
    serviceId: 'svc_1',
    ruleId: null,
    labelName: null,
    labelValue: null,
    startsAt: Temporal.Instant.from('2026-01-01T00:00:00Z'),
    endsAt: null,
    recurrence: {
      weekdays: [1, 2, 3, 4, 5, 6, 7],
      startTime: Temporal.PlainTime.from('00:00')
        .add({ minutes: 5 * index })
        .toString()
        .slice(0, 5),
      minutes: 6,
    },
    timezone: 'Europe/Amsterdam',
  }));
}

/** Time at which the first of them is in effect. */
export const CHAINED_AT = Temporal.Instant.from('2026-11-02T23:01:00Z');

export default {
  'windows that follow each other': (count) => {
    const windows = chainedWindows(count);
    return () => new SuppressionTimes(windows).find({ serviceId: 'svc_1', ruleId: null, labels: {} }, CHAINED_AT);
  },
} satisfies Workloads;
