import { expect, test } from 'vitest';

import { newId } from '#kernel/ids.ts';
import { type StaffedWorld, staffedWorld } from '#test/kit/staffed_world.ts';

/** A message that is due now, of which no job knows. */
async function dueMessage(w: StaffedWorld, phone: string): Promise<void> {
  await w.context.db.sql.run(
    `insert into notifications (id, org_id, kind, user_id, channel, address, status, due_at, created_at, updated_at)
     values ($1, $2, 'test', $3, 'sms', $4, 'queued', $5, $5, $5)`,
    [newId('notification'), w.orgId, w.owner.userId, phone, w.clock.now().toString()],
  );
}

async function annaIsTriggered(w: StaffedWorld) {
  const teamId = await w.staff.team();
  const anna = await w.staff.responder(teamId, 'Anna');
  const alert = await w.staff.alert(teamId, [{ afterMinutes: 0, channels: ['sms'], targetUserIds: [anna.userId] }]);
  await alert.trigger();
  return anna;
}

test('what is due without a job is found by a sweep once time has passed, and not before', async () => {
  const w = await staffedWorld();
  await dueMessage(w, '+31612345678');
  await w.runUntilIdle();
  expect(w.phone.messages).toEqual([]);
  await w.advance({ seconds: 1 });
  expect(w.phone.messages).toMatchObject([{ to: '+31612345678' }]);
});

test('lost jobs run at no time: only sweeps page', async () => {
  const w = await staffedWorld({ jobs: 'lost' });
  const anna = await annaIsTriggered(w);
  await w.runUntilIdle();
  expect(w.phone.messages).toMatchObject([{ to: anna.phone }]);
});

test.each([1, 2])('(%i) sees no rows, jobs, messages and time of an earlier test of the file', async () => {
  const w = await staffedWorld();
  expect(Math.abs(w.clock.now().epochMilliseconds - Date.now())).toBeLessThan(24 * 60 * 60_000);
  expect((await w.expectOk('list_incidents')).total).toBe(0);
  expect(await w.context.db.sql.rows('select id from organizations')).toEqual([{ id: w.orgId }]);
  await w.runUntilIdle();
  expect(w.phone.messages).toEqual([]);
  await annaIsTriggered(w);
  await w.runUntilIdle();
  expect(w.phone.messages).toHaveLength(1);
  await annaIsTriggered(w);
  w.clock.advance({ hours: 1_000 });
});
