import pg from 'pg';
import { expect, onTestFinished, test, vi } from 'vitest';

import { AlertIntake } from '#ingest/alert_intake.ts';
import { AppError } from '#kernel/errors.ts';
import { asId } from '#kernel/ids.ts';
import { silentLog } from '#kernel/log.ts';
import { bareEvent } from '#modules/alerts/decide/alert_event.ts';
import { takeAlerts } from '#modules/alerts/take_alerts.ts';
import { alertedService } from '#test/kit/alert_senders.ts';

function textOf(query: unknown): string {
  return typeof query === 'string' ? query : String(Reflect.get(Object(query), 'text'));
}

test('an alert that is repeated costs eight statements with begin and commit, and a hundred at once no more', async () => {
  const { w, serviceId } = await alertedService();
  const { db, clock } = w.context;
  const runtime = { db, clock, onOutbox: () => {}, incidentLimit: { incidents: 20, minutes: 5 } };
  const query = vi.spyOn(pg.Client.prototype, 'query');
  onTestFinished(() => query.mockRestore());
  const trigger = async (times: number): Promise<string[]> => {
    const event = { ...bareEvent('trigger', 'disk'), title: 'Disk full' };
    const owner = { orgId: w.orgId, serviceId };
    const sent = { owner, source: { protocol: 'events', name: '' } as const, event };
    query.mockClear();
    await takeAlerts(
      runtime,
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
    expect(statements, statements.join('\n')).toHaveLength(8);
    expect(statements.at(-1)).toBe('commit');
  }
});

test('what waits for services of one organization is taken together, each with a share, and what fails fails alone', async () => {
  const turns: string[][] = [];
  const begun = Promise.withResolvers<void>();
  const idOf = (name: string) => asId('service', name);
  const intake = new AlertIntake({
    async take(sent) {
      turns.push([...new Set(sent.map(({ owner: { serviceId } }) => `${serviceId} × ${sent.length}`))]);
      if (turns.length <= 2) await begun.promise;
      if (sent.some(({ owner }) => owner.serviceId === idOf('gone'))) throw new AppError('unauthenticated', 'gone');
      return sent.map(() => ({ alertId: null, incidentId: null, effect: 'nothing' }));
    },
    mayRetry: () => false,
    log: silentLog,
  });
  const send = async (name: string, times: number, org = 'ours') => {
    const event = { source: { protocol: 'events', name: '' } as const, event: bareEvent('trigger', 'disk') };
    const owner = { orgId: asId('org', org), serviceId: idOf(name) };
    return await intake.accept(
      owner,
      Array.from({ length: times }, () => event),
    );
  };
  const first = [send('first', 1), send('second', 1)];
  const waiting = ['flood', 'third', 'gone'].map((name) => send(name, name === 'flood' ? 60 : 2));
  const theirs = send('theirs', 3, 'theirs');
  begun.resolve();
  expect((await Promise.allSettled([...first, ...waiting, theirs])).map(({ status }) => status)).toEqual([
    'fulfilled',
    'fulfilled',
    'fulfilled',
    'fulfilled',
    'rejected',
    'fulfilled',
  ]);
  expect(turns.slice(0, 3)).toEqual([['first × 1'], ['second × 1'], ['theirs × 3']]);
  expect(turns).toContainEqual(['flood × 29', 'third × 29', 'gone × 29']);
  await intake.close();
});
