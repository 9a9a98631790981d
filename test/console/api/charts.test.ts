import { QueryClient, QueryObserver } from '@tanstack/react-query';
import { afterEach, beforeEach, expect, test, vi } from 'vitest';

import { chartsQuery, metricListQuery } from '#console/api/charts.ts';

const RANGE = { kind: 'last', minutes: 60 } as const;
const query = (serviceId: string, metricName: string) =>
  ({ serviceId, metricName, aggregation: 'avg', top: 5, offsetDays: 0, pixels: 300 }) as const;

/** No request is answered. */
beforeEach(() => void vi.stubGlobal('fetch', () => new Promise<Response>(() => {})));
afterEach(() => void vi.unstubAllGlobals());

test('while a chart loads, what is shown is of the same metric of the same service, or nothing', () => {
  const client = new QueryClient();
  const of = (serviceId: string, metricName: string) => chartsQuery('org', RANGE, [query(serviceId, metricName)]);
  client.setQueryData(of('a', 'cpu').queryKey, { results: ['of cpu'] } as never);
  const shownAfter = (serviceId: string, metricName: string) => {
    const observer = new QueryObserver(client, of('a', 'cpu'));
    const stop = observer.subscribe(() => {});
    observer.setOptions(of(serviceId, metricName));
    const { data, isPlaceholderData } = observer.getCurrentResult();
    stop();
    return isPlaceholderData ? data : null;
  };
  expect(shownAfter('a', 'cpu{host="x"}')).toEqual({ results: ['of cpu'] });
  expect(shownAfter('a', 'memory')).toBeNull();
  expect(shownAfter('b', 'cpu')).toBeNull();
});

test('while the metrics of a service load, those of another are not listed as its own', () => {
  const of = (serviceId: string, text: string) => metricListQuery('org', { serviceId, text });
  const kept = of('a', 'cpu').placeholderData as (before: unknown, query: unknown) => unknown;
  expect(kept('before', of('a', ''))).toBe('before');
  expect(kept('before', of('b', ''))).toBeUndefined();
});
