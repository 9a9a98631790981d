import { afterAll, beforeAll, describe, expect, test } from 'vitest';

import { restoreBackup } from '#entry/backup/restore_backup.ts';
import type { AppContext } from '#entry/compose.ts';
import { fireStep } from '#modules/incidents/paging/fire_step.ts';
import { resumeAfterRestore } from '#modules/incidents/paging/schedule_steps.ts';
import type { Id } from '#kernel/ids.ts';
import { silentLog } from '#kernel/log.ts';
import type { Temporal } from '#kernel/time.ts';
import {
  BACKUP_KEY,
  backUp,
  emptyTarget,
  open,
  type Restored,
  sendEvent,
  sendPoint,
} from '#test/entry/backup/restored.ts';
import { rolesRuntime } from '#test/kit/roles.ts';
import { type StaffedWorld, staffedWorld } from '#test/kit/staffed_world.ts';
import { sweepDue } from '#workers/pager_role.ts';

/** Every row of every table, one digest each; those that a restore, or an API process by itself, writes to are left out. */
async function digests({ db }: AppContext): Promise<Record<string, string>> {
  const tables = await db.sql.rows<{ name: string }>(
    `select relname::text as name from pg_class where relnamespace = 'public'::regnamespace and relkind = 'r'
     and relname not in ('migrations', 'migrated_by', 'restorations', 'audit_log', 'audit_links', 'audit_heads', 'outbox', 'leases', 'series_days', 'ingest_refusals', 'installation')
     order by 1`,
  );
  const hashes: Record<string, string> = {};
  for (const { name } of tables) {
    const row = await db.sql.row<{ digest: string }>(
      `select count(*) || ' ' || coalesce(md5(string_agg(t::text, E'\\n' order by t::text)), '') as digest from ${name} t`,
    );
    hashes[name] = row?.digest ?? '';
  }
  return hashes;
}

describe('a restored installation', () => {
  let w: StaffedWorld;
  let before: Record<string, string>;
  let restored: Restored;
  let serviceId: Id<'service'>;
  const incidentIds: string[] = [];
  beforeAll(async () => {
    w = await staffedWorld({ keepOpen: true, settings: { backupKey: BACKUP_KEY } });
    const [teamId, anna] = await w.staff.teamOf('Anna');
    const step = { channels: ['sms'], targetUserIds: [anna.userId] } as const;
    for (const status of ['triggered', 'acknowledged', 'resolved']) {
      const alert = await w.staff.alert(teamId, [
        { ...step, afterMinutes: 0 },
        { ...step, afterMinutes: 5 },
      ]);
      const incidentId = await alert.trigger(`one that is ${status}`);
      incidentIds.push(incidentId);
      await w.runUntilIdle();
      if (status !== 'triggered') await w.expectOk('acknowledge_incident', { incidentId });
      if (status === 'resolved') await w.expectOk('resolve_incident', { incidentId });
    }
    const service = await w.given.service({ name: 'shop' });
    ({ serviceId } = service);
    for (let index = 0; index < 20; index += 1) {
      await sendPoint(w, service.ingestionKey, index);
      await sendEvent(w, service.dsn, `out of ${['beans', 'milk', 'cups'][index % 3]}`);
    }
    await w.runUntilIdle();
    before = await digests(w.context);
    const { file } = await backUp(w.context.config);
    const target = await emptyTarget(w.context.config);
    await restoreBackup({ ...target, appSecret: undefined }, { file, replace: false });
    restored = await open(target, w.clock, w.orgKey);
  });
  afterAll(() => w.close());

  test('has every row', async () => {
    expect(await digests(restored.context)).toEqual(before);
  });

  test('gives the same answers', async () => {
    const asked = [
      ['list_services', {}],
      ['list_incidents', {}],
      ...incidentIds.map((incidentId) => ['get_incident', { incidentId }] as const),
      ['list_exception_groups', { serviceId }],
      ['list_metric_names', { serviceId }],
      ['query_metric', { serviceId, metricName: 'cpu', windowMinutes: 60, aggregation: 'sum' }],
      ['list_teams', {}],
    ] as const;
    for (const [action, body] of asked) {
      expect(await restored.ask(action, body), action).toEqual(await w.expectOk(action, body));
    }
  });

  test('never gives a number twice, and its audit log is whole and tells of the restore', async () => {
    const audit = await restored.context.db.sql.rows<{ action: string }>(
      `select action from audit_log where action = 'restore_backup'`,
    );
    expect(audit).toHaveLength(1);
    const [last, next] = await Promise.all(
      [w.context, restored.context].map(({ db }) =>
        db.sql.row<{ value: string }>(
          `select last_value::text as value from pg_sequences where sequencename = 'incidents_number_seq'`,
        ),
      ),
    );
    expect(next).toEqual(last);
  });
});

/** Returns the pending steps that a pager finds after the restore: due in minutes from now. */
async function pendingIn({ db }: AppContext, now: Temporal.Instant): Promise<Record<string, number>> {
  const rows = await db.sql.rows<{ title: string; index: number; at: string }>(
    `select i.title, t.step_index as index, extract(epoch from t.due_at)::text as at from incident_steps t
     join incidents i on i.id = t.incident_id where t.state = 'pending'`,
  );
  return Object.fromEntries(
    rows.map(({ title, index, at }) => [
      `${title} ${index}`,
      Math.round((Number(at) * 1_000 - now.epochMilliseconds) / 60_000) || 0,
    ]),
  );
}

describe('an installation that is restored while it escalates', () => {
  let w: StaffedWorld;
  let context: AppContext;
  let sentBefore = 0;
  beforeAll(async () => {
    w = await staffedWorld({ keepOpen: true });
    const teamId = await w.staff.team();
    const people = await Promise.all(['Anna', 'Bram', 'Cleo'].map((name) => w.staff.responder(teamId, name)));
    const stepsOf = (person: (typeof people)[number]) =>
      [0, 5, 15].map((afterMinutes) => ({ afterMinutes, channels: ['sms'] as const, targetUserIds: [person.userId] }));
    const incidents: string[] = [];
    for (const [index, title] of ['open', 'acknowledged', 'resolved'].entries()) {
      const alert = await w.staff.alert(teamId, stepsOf(people[index]!));
      incidents.push(await alert.trigger(title));
    }
    // The first step of each fires and its page leaves.
    await w.advance({ seconds: 1 });
    await w.expectOk('acknowledge_incident', { incidentId: incidents[1] });
    await w.expectOk('resolve_incident', { incidentId: incidents[2] });
    await w.advance({ minutes: 2 });
    const late = await w.staff.alert(teamId, [
      { afterMinutes: 0, channels: ['sms'], targetUserIds: [people[1]!.userId] },
    ]);
    await late.trigger('just now');
    const { file } = await backUp(w.context.config);
    sentBefore = w.phone.requests.length;
    // After the backup the page of the last one leaves, which the restored installation does not know.
    await w.advance({ seconds: 1 });

    const target = await emptyTarget(w.context.config);
    await restoreBackup(target, { file, replace: false });
    // The clock of the test is that of the backup; the database's own says when the backup was made.
    ({ context } = await open(target, w.clock, w.orgKey));
    await context.db.sql.run(`update restorations set snapshot_at = $1`, [w.clock.now().toString()]);
  });
  afterAll(() => w.close());

  test('goes on where it stopped, and pages nobody for what was over or had left', async () => {
    expect(w.phone.requests.length).toBe(sentBefore + 1);
    w.clock.advance({ hours: 3 });
    const runtime = rolesRuntime(context);
    await resumeAfterRestore(runtime, silentLog);
    await resumeAfterRestore(runtime, silentLog);
    expect(await pendingIn(context, w.clock.now())).toEqual({ 'open 1': 3, 'open 2': 13, 'just now 0': 0 });
    const messages = () => w.phone.requests.length - sentBefore - 1;
    await sweepDue(runtime, 0);
    await sweepDue(runtime, 0);
    expect(messages()).toBeLessThanOrEqual(1);
    w.clock.advance({ minutes: 4 });
    await sweepDue(runtime, 0);
    await w.phone.settled();
    expect(messages()).toBeLessThanOrEqual(2);
    const fired = await context.db.sql.rows<{ title: string; states: string }>(
      `select i.title, string_agg(t.state, ' ' order by t.step_index) as states from incidents i
     join incident_steps t on t.incident_id = i.id group by 1 order by 1`,
    );
    expect(fired).toEqual([
      { title: 'acknowledged', states: 'fired cancelled cancelled' },
      { title: 'just now', states: 'fired' },
      { title: 'open', states: 'fired fired pending' },
      { title: 'resolved', states: 'fired cancelled cancelled' },
    ]);
    const rows = await context.db.sql.rows<{ event: string }>(
      `select event from incident_timeline where event = 'restored'`,
    );
    expect(rows).toHaveLength(2);
  });
});

describe('a page that left after the backup', () => {
  const isMessage = ({ path: at, method }: { path: string; method: string }) =>
    method === 'POST' && /Messages/.test(at);
  let w: StaffedWorld;
  let context: AppContext;
  beforeAll(async () => {
    w = await staffedWorld({ keepOpen: true });
    const [teamId, anna] = await w.staff.teamOf('Anna');
    const alert = await w.staff.alert(teamId, [{ afterMinutes: 0, channels: ['sms'], targetUserIds: [anna.userId] }]);
    const incidentId = await alert.trigger();
    await fireStep(w.runtime, incidentId, 0);
    const { file } = await backUp(w.context.config);
    await w.advance({ seconds: 1 });
    const target = await emptyTarget(w.context.config);
    await restoreBackup(target, { file, replace: false });
    ({ context } = await open(target, w.clock, w.orgKey));
  });
  afterAll(() => w.close());

  test('is not sent again, for the provider knows it', async () => {
    expect(w.phone.requests.filter(isMessage)).toHaveLength(1);
    const runtime = rolesRuntime(context);
    await resumeAfterRestore(runtime, silentLog);
    await sweepDue(runtime, 0);
    await w.phone.settled();
    expect(w.phone.requests.filter(isMessage)).toHaveLength(1);
    const page = await context.db.sql.row<{ status: string }>(`select status from notifications where kind = 'page'`);
    expect(page).toEqual({ status: 'sent' });
  });
});
