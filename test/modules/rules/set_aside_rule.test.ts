import { expect, test } from 'vitest';

import { SHARDS } from '#storage/queue/shards.ts';
import { findOverdue } from '#modules/monitors/take_check_ins.ts';
import type { Id } from '#kernel/ids.ts';
import { newId } from '#kernel/ids.ts';
import { runStorePoints } from '#test/kit/ingest_jobs.ts';
import { listHolidayCalendars } from '#modules/schedules/operations/holiday_calendars.ts';
import { memberCaller, runOperation } from '#test/kit/run_operation.ts';
import { type StaffedWorld, staffedWorld } from '#test/kit/staffed_world.ts';
import { startMailServer } from '#test/kit/programs/mail_server.ts';
import { getPagingProblems } from '#modules/notifications/operations/get_paging_problems.ts';
import { notifyOfUnreadableRows } from '#modules/unreadable_rows/notify_owners.ts';
import { evaluateRules } from '#workers/evaluate_rules.ts';

const EVERY_SHARD = Array.from({ length: SHARDS }, (_, shard) => shard);

const RULE = { metricName: 'latency', comparator: '>', threshold: 100, windowMinutes: 5, aggregation: 'max' };

interface Watched {
  readonly serviceId: Id<'service'>;
  readonly policyId: string;
  readonly ruleId: string;
}

async function watched(w: StaffedWorld, useSchedule = false): Promise<Watched> {
  const [teamId, anna] = await w.staff.teamOf('Anna');
  const steps = [{ afterMinutes: 0, channels: ['sms'], targetUserIds: [anna.userId], useSchedule }];
  const { policyId } = await w.expectOk('create_escalation_policy', { teamId, name: 'Wake', steps });
  return await watchedBy(w, policyId);
}

/** A service with a rule that pages by the policy. */
async function watchedBy(w: StaffedWorld, policyId: string): Promise<Watched> {
  const { serviceId } = await w.given.service();
  const rule = { serviceId, name: 'Slow', kind: 'metric_threshold', config: RULE, escalationPolicyId: policyId };
  return { serviceId, policyId, ruleId: (await w.expectOk('create_alert_rule', rule)).ruleId };
}

async function titlesOf(w: StaffedWorld, serviceId: string): Promise<string[]> {
  const { incidents } = await w.expectOk('list_incidents', { serviceId });
  return incidents.map(({ title }: { title: string }) => title);
}

test('a rule that cannot be read is set aside and told, and holds up no other', async () => {
  const w = await staffedWorld();
  const broken = [
    { ...RULE, windowMinutes: 1e12 },
    { ...RULE, windowMinutes: 99_999 },
    { ...RULE, windowMinutes: 'x' },
    { ...RULE, comparator: 'like' },
    { metricName: 'latency' },
    { ...RULE, metricName: undefined },
  ];
  const good = await watched(w);
  const odd: Watched[] = [];
  for (const config of broken) {
    const rule = await watchedBy(w, good.policyId);
    await w.context.db.sql.run('update alert_rules set config = $2 where id = $1', [
      rule.ruleId,
      JSON.stringify(config),
    ]);
    odd.push(rule);
  }
  const at = w.clock.now();
  await runStorePoints(w.runtime, good.serviceId, [{ name: 'latency', at, value: 250 }]);
  await evaluateRules(w.runtime, undefined, EVERY_SHARD);
  expect(await titlesOf(w, good.serviceId)).toHaveLength(1);
  for (const { serviceId, ruleId } of odd) {
    expect(await titlesOf(w, serviceId)).toEqual(['The rule "Slow" cannot be read and was set aside']);
    const [row] = await w.context.db.sql.rows('select enabled from alert_rules where id = $1', [ruleId]);
    expect(row).toEqual({ enabled: false });
    const { alertRules } = await w.expectOk('get_service', { serviceId });
    expect(alertRules).toMatchObject([{ unreadable: expect.stringMatching(/^config/) }]);
    const changes = await w.context.db.sql.rows(
      `select after->>'fault' <> '' as "hasFault" from audit_log where action = 'set_aside_rule' and target = $1`,
      [ruleId],
    );
    expect(changes).toEqual([{ hasFault: true }]);
  }
  // Once more: nothing is told twice.
  await evaluateRules(w.runtime, undefined, EVERY_SHARD);
  expect(await titlesOf(w, odd[0]?.serviceId ?? '')).toHaveLength(1);
});

test('a policy that cannot be read pages whoever is on call, and a rotation that cannot be read puts nobody on call', async () => {
  const w = await staffedWorld();
  const rule = await watched(w, true);
  const { sql } = w.context.db;
  const [policy] = await sql.rows<{ team_id: string }>('select team_id from escalation_policies where id = $1', [
    rule.policyId,
  ]);
  await sql.run(
    `insert into schedules (id, org_id, team_id, name, timezone, rotation_type, rotation_config, start_at, created_at, updated_at)
     values ($1, $2, $3, 'Odd', 'Mars/X', 'weekly', '{"userIds": "all"}', now(), now(), now())`,
    [newId('schedule'), w.orgId, policy?.team_id],
  );
  await runStorePoints(w.runtime, rule.serviceId, [{ name: 'latency', at: w.clock.now(), value: 250 }]);
  await evaluateRules(w.runtime);
  await w.runUntilIdle();
  const paged = await sql.rows(`select kind from notifications where kind = 'page'`);
  expect(paged).toHaveLength(1);
  await sql.run(`update escalation_policies set steps = '"none"' where id = $1`, [rule.policyId]);
  const second = await w.given.service();
  const config = { serviceId: second.serviceId, name: 'Slow', kind: 'metric_threshold', config: RULE };
  await w.expectOk('create_alert_rule', { ...config, escalationPolicyId: rule.policyId });
  await runStorePoints(w.runtime, second.serviceId, [{ name: 'latency', at: w.clock.now(), value: 250 }]);
  await evaluateRules(w.runtime);
  const steps = await sql.rows<{ steps: object[] }>('select steps from incidents where service_id = $1', [
    second.serviceId,
  ]);
  expect(steps).toMatchObject([{ steps: [{ afterMinutes: 0, useSchedule: true }] }]);
  const { incidents } = await w.expectOk('list_incidents', { serviceId: second.serviceId });
  const { timeline } = await w.expectOk('get_incident', { incidentId: incidents[0].incidentId });
  expect(timeline.map(({ text }: { text: string }) => text)).toContainEqual(
    expect.stringContaining('policy cannot be read'),
  );

  const { teams } = await w.expectOk('list_teams');
  expect(teams[0].warnings.map(({ kind, message }: { kind: string; message: string }) => [kind, message])).toEqual([
    ['policy_unreadable', expect.stringContaining('"Wake" cannot be read')],
    ['step_reaches_nobody', expect.stringContaining('nobody is on call')],
    ['schedule_unreadable', expect.stringContaining('"Odd" cannot be read')],
  ]);
  await w.expectOk('update_escalation_policy', { policyId: rule.policyId, name: 'Wake again' });
  const kinds = async () =>
    (await w.expectOk('list_teams')).teams[0].warnings.map(({ kind }: { kind: string }) => kind);
  expect(await kinds()).toContain('policy_unreadable');
  const again = [{ afterMinutes: 0, channels: ['sms'], useSchedule: true }];
  await w.expectOk('update_escalation_policy', { policyId: rule.policyId, steps: again });
  expect(await kinds()).toEqual(['step_reaches_nobody', 'schedule_unreadable']);
});

test('a calendar of holidays that cannot be read has no days, says so, and the layers that use it page', async () => {
  const w = await staffedWorld();
  const { policyId, serviceId } = await watched(w, true);
  const { sql } = w.context.db;
  const [policy] = await sql.rows<{ team_id: string }>('select team_id from escalation_policies where id = $1', [
    policyId,
  ]);
  const calendarId = newId('calendar');
  await sql.run(
    `insert into holiday_calendars (id, org_id, name, dates, created_at, updated_at) values ($1, $2, 'Odd', '5', now(), now())`,
    [calendarId, w.orgId],
  );
  const { userId, phone } = await w.staff.responder(String(policy?.team_id), 'Nora');
  const layer = { id: 'rotation', name: 'Days', endsAt: null, hours: null, holidays: { calendarId, on: 'silent' } };
  await sql.run(
    `insert into schedules (id, org_id, team_id, name, timezone, rotation_type, rotation_config, layers, start_at, created_at, updated_at)
     values ($1, $2, $3, 'Layered', 'UTC', 'weekly', $4, $5, '2026-01-01', now(), now())`,
    [newId('schedule'), w.orgId, policy?.team_id, JSON.stringify({ userIds: [userId] }), JSON.stringify([layer])],
  );
  await runStorePoints(w.runtime, serviceId, [{ name: 'latency', at: w.clock.now(), value: 250 }]);
  await evaluateRules(w.runtime);
  await w.runUntilIdle();
  expect(w.phone.messages.map(({ to }) => to)).toContain(phone);
  const owner = memberCaller(w.orgId, w.owner.userId, 'owner');
  const { calendars } = await runOperation(w, listHolidayCalendars, owner, {});
  expect(calendars).toMatchObject([{ dates: [], fault: expect.stringContaining('cannot be read') }]);
});

test('a monitor whose schedule cannot be read expects no run and is told', async () => {
  const w = await staffedWorld();
  const { serviceId } = await w.given.service();
  await w.expectOk('create_alert_rule', { serviceId, name: 'Jobs', kind: 'exception', config: {} });
  const insert = async (slug: string, schedule: object) =>
    await w.context.db.sql.run(
      `insert into monitors (id, org_id, service_id, slug, environment, schedule, margin_minutes, runtime_minutes,
         failure_threshold, recovery_threshold, next_due_at, overdue_from, created_at, updated_at)
       values ($1, $2, $3, $4, 'production', $5, 1, 30, 1, 1, $6, $6, $6, $6)`,
      [newId('monitor'), w.orgId, serviceId, slug, JSON.stringify(schedule), w.clock.now().toString()],
    );
  await insert('odd', { type: 'interval', value: 1, unit: 'minute', timezone: 'Mars/X' });
  await insert('odder', { type: 'crontab', crontab: 'x y z', timezone: 'UTC' });
  w.clock.advance({ minutes: 30 });
  await findOverdue({ ...w.runtime, onOutbox: () => {} });
  expect((await titlesOf(w, serviceId)).sort()).toEqual([
    'Cron monitor odd (production) sent a schedule that cannot be read',
    'Cron monitor odder (production) sent a schedule that cannot be read',
  ]);
  const [left] = await w.context.db.sql.rows('select count(*)::int from monitors where overdue_from is not null');
  expect(left).toEqual({ count: 0 });
});

test('what cannot be read is left out alone, shown, and told to the owners once, until it can be read again', async () => {
  const mails = await startMailServer();
  const w = await staffedWorld({ settings: { smtpUrl: mails.url, mailFrom: 'Pages <pages@shop.test>' } });
  const { serviceId } = await watched(w, true);
  const { sql } = w.context.db;
  const of = [w.orgId, serviceId];
  await sql.run(
    `insert into alert_sources (id, org_id, service_id, protocol, name, settings, accepted, refused, created_at, updated_at)
     values ($3, $1, $2, 'events', 'Pager', '{"leaseMinutes": 1e12}', 0, 0, now(), now())`,
    [...of, newId('alertsource')],
  );
  await sql.run(
    `insert into alert_routes (id, org_id, service_id, position, conditions, outcome, pages_on_rise, created_at, updated_at)
     values ($3, $1, $2, 0, '"all"', 'page', false, now(), now())`,
    [...of, newId('alertroute')],
  );
  await sql.run(
    `insert into holiday_calendars (id, org_id, name, dates, created_at, updated_at) values ($2, $1, 'Feasts', '{}', now(), now())`,
    [w.orgId, newId('calendar')],
  );
  await sql.run(
    `insert into exception_settings (service_id, filters, patterns, secret_names, learns_spikes, assignment_rules, updated_at)
     values ($1, '[]', '{"a": 1}', '[]', false, '[]', now())`,
    [serviceId],
  );
  const page = newId('statuspage');
  await sql.run(
    `insert into status_pages (id, org_id, slug, title, is_public, version, created_at, updated_at)
     values ($2, $1, 'shop-odd', 'Shop', true, 1, now(), now())`,
    [w.orgId, page],
  );
  for (const [title, services] of [
    ['Odd', '"all"'],
    ['Plain', '[]'],
  ]) {
    await sql.run(
      `insert into status_publications (id, org_id, page_id, title, impact, service_ids, began_at, changed_at)
       values ($2, $1, $3, $4, 'outage', $5, $6, $6)`,
      [w.orgId, newId('publication'), page, title, services, w.clock.now().toString()],
    );
  }
  await sql.run(`update escalation_policies set steps = '"none"' where org_id = $1`, [w.orgId]);
  const shown = async () => {
    w.clock.advance({ seconds: 1 });
    await notifyOfUnreadableRows(w.runtime);
    await w.runUntilIdle();
    const caller = memberCaller(w.orgId, w.owner.userId, 'owner');
    const { unreadable } = await runOperation(w, getPagingProblems, caller, {});
    return (unreadable as { kind: string }[]).map(({ kind }) => kind).sort();
  };
  const all = ['alert_route', 'alert_source', 'exception_settings', 'holiday_calendar', 'policy', 'status_publication'];
  expect(await shown()).toEqual(all);
  expect(mails.mails).toMatchObject([
    {
      recipients: [w.owner.email],
      subject: '[Tocsin] Settings of your organization cannot be read and were set aside',
    },
  ]);
  const body = String(mails.mails[0]?.text);
  for (const name of ['Pager', 'Feasts', 'Odd', 'Wake']) expect(body).toContain(name);
  // The page shows what it can.
  const read = await w.app.inject({ url: '/status/shop-odd' });
  expect(read.statusCode).toBe(200);
  expect(read.body).toContain('Odd');
  w.clock.advance({ hours: 48 });
  expect(await shown()).toEqual(all);
  expect(mails.mails).toHaveLength(1);
  await sql.run(`update holiday_calendars set dates = '[]' where org_id = $1`, [w.orgId]);
  expect(await shown()).not.toContain('holiday_calendar');
  await sql.run(`update holiday_calendars set dates = '{}' where org_id = $1`, [w.orgId]);
  expect(await shown()).toEqual(all);
  expect(mails.mails).toHaveLength(2);
});
