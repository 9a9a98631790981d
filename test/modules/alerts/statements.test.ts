import pg from 'pg';
import { expect, onTestFinished, test, vi } from 'vitest';

import { bareEvent } from '#modules/alerts/decide/alert_event.ts';
import { takeAlerts } from '#modules/alerts/take_alerts.ts';
import { alertedService } from '#test/kit/alert_senders.ts';

/** Text of a query, however it is given. */
function textOf(query: unknown): string {
  return typeof query === 'string' ? query : String(Reflect.get(Object(query), 'text'));
}

test('an alert that is repeated costs ten statements with begin and commit, and a hundred at once no more', async () => {
  const { w, serviceId } = await alertedService();
  const { db, clock } = w.context;
  const runtime = { db, clock, onOutbox: () => {}, incidentLimit: { incidents: 20, minutes: 5 } };
  const query = vi.spyOn(pg.Client.prototype, 'query');
  onTestFinished(() => query.mockRestore());
  const trigger = async (times: number): Promise<string[]> => {
    const event = { ...bareEvent('trigger', 'disk'), title: 'Disk full' };
    const sent = { source: { protocol: 'events', name: '' } as const, event };
    query.mockClear();
    await takeAlerts(
      runtime,
      { orgId: w.orgId, serviceId },
      Array.from({ length: times }, () => sent),
    );
    // Other work of the process has connections of its own.
    const connections = Map.groupBy(query.mock.calls.keys(), (index) => query.mock.contexts[index]);
    const texts = [...connections.values()].map((calls) => calls.map((index) => textOf(query.mock.calls[index]?.[0])));
    const taking = texts.find((statements) => statements.some((text) => text.startsWith('insert into "alerts"'))) ?? [];
    return taking.slice(
      taking.lastIndexOf(
        'begin',
        taking.findIndex((text) => text.startsWith('insert into "alerts"')),
      ),
    );
  };
  await trigger(1);
  for (const times of [1, 100]) {
    const statements = await trigger(times);
    expect(statements, statements.join('\n')).toHaveLength(10);
    expect(statements.at(-1)).toBe('commit');
  }
});
