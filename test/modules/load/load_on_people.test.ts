import fc from '#test/kit/properties.ts';
import { expect, test } from 'vitest';

import { exportLoadOnPeople, getLoadOnPeople } from '#modules/load/operations/load_on_people.ts';
import type { PersonLoad } from '#modules/load/decide/load_on_people.ts';
import { Temporal } from '#kernel/time.ts';
import { nightFinder } from '#modules/schedules/decide/layered_shifts.ts';
import { beyondLinear } from '#test/kit/counting/count_work.ts';
import { simulatedIdsOf } from '#notify/twilio/simulated_account.ts';
import { memberCaller, runOperation } from '#test/kit/run_operation.ts';
import { detailedWorld } from '#test/modules/policies/detailed_world.ts';

const SMS = { channels: ['sms'] } as const;

test('the load of a month equals what the log of its incidents says, counted by hand', async () => {
  // Friday, 22:30 in Amsterdam.
  const w = await detailedWorld({ at: '2027-02-05T21:30:00Z' });
  const [anna, bram] = [await w.person('Anna'), await w.person('Bram')];
  const rotationConfig = { userIds: [anna.userId, bram.userId] };
  const timezone = 'Europe/Amsterdam';
  await w.expectOk('create_schedule', {
    teamId: w.teamId,
    name: 'Primary',
    timezone,
    rotationConfig,
    startAt: '2027-02-01T00:00',
  });
  const alert = await w.alertBy([
    { afterMinutes: 0, ...SMS, targetUserIds: [anna.userId] },
    { afterMinutes: 60, ...SMS, targetUserIds: [anna.userId, bram.userId] },
  ]);
  // By day: Anna acknowledges after 10 minutes, Bram resolves 20 minutes after the trigger.
  const first = await alert.trigger('first');
  await w.runUntilIdle();
  await w.advance({ minutes: 10 });
  await w.expectOk('acknowledge_incident', { incidentId: first }, { key: anna.key });
  await w.advance({ minutes: 10 });
  await w.expectOk('resolve_incident', { incidentId: first }, { key: bram.key });
  await w.runUntilIdle();
  // At 00:50 on Saturday: nobody acknowledges, the rule ends it after two hours.
  await w.advance({ hours: 2 });
  const second = await alert.trigger('second');
  await w.runUntilIdle();
  await w.advance({ hours: 1 });
  await w.advance({ hours: 1 });
  await w.context.db.sql.rows(
    `update incidents set status = 'resolved', resolved_at = $2, resolved_by = '{"system":true,"via":"rule"}' where id = $1`,
    [second, w.clock.now().toString()],
  );
  // On Sunday afternoon: Bram acknowledges 30 minutes after Anna was paged, before anything reached him.
  w.clock.set('2027-02-07T14:00:00Z');
  const third = await alert.trigger('third');
  await w.runUntilIdle();
  await w.advance({ minutes: 30 });
  await w.expectOk('acknowledge_incident', { incidentId: third }, { key: bram.key });
  await w.runUntilIdle();

  const caller = memberCaller(w.orgId, anna.userId, 'responder');
  const load = await runOperation(w, getLoadOnPeople, caller, { teamId: w.teamId, month: '2027-02' });

  // By hand, from the logs that get_incident shows.
  const logs = await Promise.all(
    [first, second, third].map(async (incidentId) => (await w.expectOk('get_incident', { incidentId })).notifications),
  );
  const left = logs
    .flat()
    .filter(
      ({ step, status }: { step: number | null; status: string }) => step !== null && /sent|delivered/.test(status),
    );
  const pagesTo = ({ userId }: { userId: string }) =>
    left.filter((page: { userId: string }) => page.userId === userId).length;
  const of = ({ userId }: { userId: string }) => load.people.find((person: PersonLoad) => person.userId === userId);
  expect([pagesTo(anna), pagesTo(bram)]).toEqual([4, 1]);
  expect(of(anna)).toMatchObject({
    name: 'Anna',
    timezone,
    pages: pagesTo(anna),
    // 00:50 and 01:50 on Saturday.
    nightPages: 2,
    weekendPages: 3,
    acknowledged: 1,
    minutesToAcknowledge: 10,
    resolved: 0,
    minutesToResolve: null,
    // From 00:50 for an hour, and from 01:50 for an hour until it ended.
    minutesAwake: 120,
    shifts: 1,
  });
  expect(of(bram)).toMatchObject({
    pages: pagesTo(bram),
    nightPages: 1,
    weekendPages: 1,
    acknowledged: 1,
    minutesToAcknowledge: null,
    resolved: 1,
    minutesToResolve: 20,
    minutesAwake: 60,
    shifts: 0,
    hoursOnCall: 0,
  });
  expect(load.mean).toMatchObject({ pages: 2.5, nightPages: 1.5, weekendPages: 2, minutesAwake: 90 });
  expect(load.rules).toEqual([
    { ruleId: alert.ruleId, name: 'Latency', incidents: 3, pages: 5, ignoredIncidents: 1, ignoredPages: 3 },
  ]);
  const { content } = await runOperation(w, exportLoadOnPeople, caller, { teamId: w.teamId, month: '2027-02' });
  const lines: string[] = [];
  for await (const line of content) lines.push(line.trim());
  expect(lines[1]).toMatch(new RegExp(`^2027-02,Platform,Anna,${anna.userId},Europe/Amsterdam,4,2,3,1,10,0,,120,1,`));
  expect(lines.at(-1)).toMatch(/^2027-02,Platform,mean,,,2\.5,1\.5,2,/);

  await expect(runOperation(w, getLoadOnPeople, caller, { teamId: w.teamId, month: '2027-03' })).rejects.toMatchObject({
    code: 'invalid_input',
    faults: [{ path: 'month' }],
  });
  const elsewhere = await w.given.organization('Elsewhere');
  const stranger = memberCaller(elsewhere.orgId, elsewhere.owner.userId, 'owner');
  await expect(
    runOperation(w, getLoadOnPeople, stranger, { teamId: w.teamId, month: '2027-02' }),
  ).rejects.toMatchObject({ code: 'not_found' });

  // What the phone simulator took was a load on nobody.
  const simulated = simulatedIdsOf(w.context.config.appSecret ?? '')
    .replace('__', 'SM')
    .replace('%', '0'.repeat(20));
  await w.context.db.sql.run('update notifications set provider_id = $1', [simulated]);
  const trial = await runOperation(w, getLoadOnPeople, caller, { teamId: w.teamId, month: '2027-02' });
  expect(trial.people.map(({ pages }: PersonLoad) => pages)).toEqual([0, 0]);
});

test('work grows no faster than the pages of a month do', async () => {
  expect(await beyondLinear(import.meta.resolve('./load_workloads.ts'), 400)).toEqual([]);
});

test('a night begins at 23:00 and ends at 07:00 of the wall clock, also on days on which it changes', () => {
  const nightOf = nightFinder();
  const zone = fc.constantFrom('Europe/Amsterdam', 'Australia/Lord_Howe', 'America/St_Johns', 'Asia/Kathmandu', 'UTC');
  fc.assert(
    fc.property(fc.integer({ min: 0, max: 4_000_000 }), zone, (quarter, timeZone) => {
      const ms = quarter * 15 * 60_000;
      const local = Temporal.Instant.fromEpochMilliseconds(ms).toZonedDateTimeISO(timeZone);
      const day = local.toPlainDate();
      const night = local.hour >= 23 ? day : local.hour < 7 ? day.subtract({ days: 1 }) : null;
      expect(nightOf(ms, timeZone)).toBe(night === null ? null : night.toString());
    }),
  );
});
