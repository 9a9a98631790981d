import { expect, test } from 'vitest';

import { staffedWorld, type StaffedWorld } from '#test/kit/staffed_world.ts';

/** Anna is paged by SMS; whoever has seen her link knows which message it is of. */
async function annaIsPaged() {
  const w = await staffedWorld();
  const [teamId, anna] = await w.staff.teamOf('Anna');
  const alert = await w.staff.alert(teamId, [{ afterMinutes: 0, channels: ['sms'], targetUserIds: [anna.userId] }]);
  const incidentId = await alert.trigger();
  await w.runUntilIdle();
  const url = /(\/a\/\S+)$/.exec(w.phone.messages[0]?.body ?? '')?.[1] ?? '';
  const id = `notification_${url.slice(3, 29)}`;
  const forged = [
    `/a/${id.slice('notification_'.length)}${'0'.repeat(16)}`,
    `/p/${id.slice('notification_'.length)}${'0'.repeat(16)}`,
    `/api/answers/resolve/${id}/1.x`,
    `/api/callbacks/twilio/sms-status/${id}`,
  ];
  return { w, url, id, forged, incidentId };
}

/** Makes as many attempts of each kind from each address, and returns the answers. */
async function tryForged(w: StaffedWorld, urls: readonly string[], addresses: number, tries: number) {
  const statuses = new Set<number>();
  for (const url of urls) {
    for (let address = 0; address < addresses; address += 1) {
      for (let count = 0; count < tries; count += 1) {
        const remoteAddress = `198.51.100.${address}`;
        statuses.add((await w.app.inject({ method: 'POST', url, remoteAddress })).statusCode);
      }
    }
  }
  return [...statuses];
}

const recorded = async (w: StaffedWorld) =>
  await w.context.db.sql.rows<{ action: string; after: unknown }>(
    `select action, after from audit_log where result = 'forbidden' order by id`,
  );

test('of forged links and unsigned call-backs from one address twelve an hour are recorded, and all are refused', async () => {
  const { w, forged, url, id } = await annaIsPaged();
  expect(await tryForged(w, forged, 1, 5)).toEqual([403]);
  const rows = await recorded(w);
  expect(rows).toHaveLength(12);
  expect(rows[0]).toMatchObject({ action: 'acknowledge_incident', after: { notificationId: id, why: 'forged link' } });
  expect(w.context.reachedLimits.counts.get('refusedAnswersPerHour'), 'the rest is counted').toBe(4 * 5 - 12);

  expect((await w.app.inject({ method: 'POST', url })).statusCode, 'the true link still acts').toBe(200);

  await w.advance({ hours: 1 });
  expect(await tryForged(w, forged, 1, 5)).toEqual([403]);
  expect(await recorded(w), 'and as many an hour later').toHaveLength(24);
});

test('of many addresses together as many are recorded of an organization as the setting says', async () => {
  const { w, forged } = await annaIsPaged();
  expect(await tryForged(w, forged, 20, 2)).toEqual([403]);
  expect(await recorded(w)).toHaveLength(120);
});
