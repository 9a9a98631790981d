import { expect, test } from 'vitest';

import { setAlertSource } from '#modules/alerts/operations/alert_sources.ts';
import { expireAcknowledgements } from '#modules/incidents/paging/acknowledgement_timeout.ts';
import { storesOf } from '#modules/stores.ts';
import { alertedService } from '#test/kit/alert_senders.ts';
import { memberCaller, runOperation } from '#test/kit/run_operation.ts';

const SETTINGS = { incidentsPer: 'group', leaseMinutes: null, onSilence: 'keep', mapping: null, groupMinutes: 0 };

test('an incident of an alert that somebody acknowledged and forgot pages again, where its source says so', async () => {
  const { w, send, serviceId, anna } = await alertedService();
  const { incidentId } = (await send('/events', { dedupKey: 'disk', title: 'Disk full' })).body;
  await w.runUntilIdle();
  const owner = memberCaller(w.orgId, w.owner.userId, 'owner');
  const [source] = await storesOf(w.context.db.session()).alertSources.list(serviceId);
  const advance = async (minutes: number) => {
    await w.advance({ minutes });
    await expireAcknowledgements({ db: w.context.db, clock: w.clock, log: w.context.log, onOutbox: () => {} });
    await w.runUntilIdle();
  };
  const set = (change: object) =>
    runOperation(w, setAlertSource, owner, { sourceId: source!.id, ...SETTINGS, ...change });
  expect((await set({ repageMinutes: 30 })).settings.repageMinutes).toBe(30);
  // Left out, it stays.
  expect((await set({})).settings.repageMinutes).toBe(30);
  await w.expectOk('acknowledge_incident', { incidentId }, { key: anna.key });
  await advance(29);
  expect(w.phone.messages).toHaveLength(1);
  await advance(2);
  expect(w.phone.messages).toHaveLength(2);
  expect(await w.expectOk('get_incident', { incidentId })).toMatchObject({ status: 'triggered' });
  await set({ repageMinutes: null });
  await w.expectOk('acknowledge_incident', { incidentId }, { key: anna.key });
  await advance(60);
  expect(w.phone.messages).toHaveLength(2);
});
