import { expect, test } from 'vitest';

import { staffedWorld } from '#test/kit/staffed_world.ts';

test('of a long timeline and log the newest entries are shown, all are counted, and no step loses whom it paged', async () => {
  const w = await staffedWorld();
  const [teamId, anna] = await w.staff.teamOf('Anna');
  const alert = await w.staff.alert(teamId, [{ afterMinutes: 0, channels: ['sms'], targetUserIds: [anna.userId] }]);
  const incidentId = await alert.trigger();
  await w.runUntilIdle();
  const short = await w.expectOk('get_incident', { incidentId });
  expect([short.timelineTotal, short.notificationTotal]).toEqual([short.timeline.length, short.notifications.length]);

  const later = w.clock.now().add({ minutes: 1 }).toString({ smallestUnit: 'millisecond' });
  await w.context.db.sql.run(
    `insert into incident_timeline (incident_id, at, event, data)
     select $1, $2, 'escalated', json_build_object('by', json_build_object('system', true, 'via', 'rule'), 'stepIndex', n)
     from generate_series(1, 2100) as n`,
    [incidentId, later],
  );
  await w.context.db.sql.run(
    `insert into notifications (id, org_id, incident_id, kind, user_id, channel, address, status, attempts, created_at, updated_at)
     select 'notification_' || lpad(n::text, 26, 'z'), $3, $1, 'update', $4, 'sms', '+31612345678', 'delivered', 1, $2, $2
     from generate_series(1, 5100) as n`,
    [incidentId, later, w.orgId, anna.userId],
  );
  const long = await w.expectOk('get_incident', { incidentId });
  expect([long.timeline.length, long.timelineTotal]).toEqual([2_000, short.timelineTotal + 2_100]);
  expect(long.timeline.at(-1).text).toContain('2101');
  expect([long.notifications.length, long.notificationTotal]).toEqual([5_000, short.notificationTotal + 5_100]);
  expect(long.notifications.at(-1).at).toBe(later);
  expect(long.escalation.steps[0].people).toEqual(short.escalation.steps[0].people);
});
