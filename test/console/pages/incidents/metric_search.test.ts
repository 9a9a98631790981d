import { expect, test } from 'vitest';

import { metricSearch } from '#console/pages/incidents/metric_search.ts';

const at = (time: string) => Date.parse(`2027-02-03T${time}Z`);
const measured = { metricName: 'latency{route="/pay"}', aggregation: 'max' } as const;
const incident = { serviceId: 'service_1', triggeredAt: '2027-02-03T02:00:00Z' };

test('the page of the metric shows the same selector from before the trigger until now, or after the end', () => {
  const open = metricSearch({ ...incident, resolvedAt: null }, measured, at('02:10:00'));
  expect(open).toEqual({
    service: 'service_1',
    metric: 'latency{route="/pay"}',
    agg: 'max',
    from: at('01:30:00'),
    to: at('02:10:00'),
  });
  const over = metricSearch({ ...incident, resolvedAt: '2027-02-03T02:20:00Z' }, measured, at('12:00:00'));
  expect(over.to).toBe(at('02:50:00'));
});
