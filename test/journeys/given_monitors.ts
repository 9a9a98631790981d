import { listMonitors } from '#modules/monitors/operations/monitors.ts';
import { findOverdue, takeCheckIns } from '#modules/monitors/take_check_ins.ts';
import type { Id } from '#kernel/ids.ts';
import { memberCaller, runOperation } from '#test/kit/run_operation.ts';
import { type StaffedWorld, staffedWorld } from '#test/kit/staffed_world.ts';
import type { World } from '#test/kit/world.ts';

export const HOURLY = { schedule: { type: 'crontab', value: '0 * * * *' }, checkin_margin: 5, max_runtime: 30 };

export const runtimeOf = (w: World) => ({
  db: w.context.db,
  clock: w.clock,
  log: w.context.log,
  onOutbox: () => w.context.outbox.wake(),
  incidentLimit: { incidents: 20, minutes: 5 },
});

/** Looks at what has come, and at what has not. */
export async function look(w: World): Promise<void> {
  await takeCheckIns(runtimeOf(w));
  await findOverdue(runtimeOf(w));
}

export async function checkIn(w: World, dsn: string, slug: string, query: string, body?: object) {
  const { pathname, username } = new URL(dsn);
  return await w.app.inject({
    method: body === undefined ? 'GET' : 'POST',
    url: `/api${pathname}/cron/${slug}/${username}/?${query}`,
    ...(body !== undefined && { payload: JSON.stringify(body), headers: { 'content-type': 'application/json' } }),
  });
}

export const owner = (w: World) => memberCaller(w.orgId, w.owner.userId, 'owner');
export const monitorsOf = async (w: World, serviceId: string) =>
  await runOperation(w, listMonitors, owner(w), { serviceId });

export async function incidentsOf(
  w: World,
  serviceId: string,
): Promise<{ title: string; status: string; occurrences: number }[]> {
  const { incidents } = await w.expectOk('list_incidents', { serviceId });
  return incidents.map(({ title, status, occurrences }: never) => ({ title, status, occurrences }));
}

export async function givenRule(w: World, serviceId: string, options: object = {}): Promise<void> {
  await w.expectOk('create_alert_rule', { serviceId, name: 'Jobs', kind: 'exception', config: {}, ...options });
}

export async function staffed(): Promise<{ w: StaffedWorld; serviceId: Id<'service'>; dsn: string }> {
  const w = await staffedWorld();
  w.clock.set('2027-06-01T12:00:10Z');
  const [teamId, anna] = await w.staff.teamOf('Anna');
  const steps = [{ afterMinutes: 0, channels: ['sms'], targetUserIds: [anna.userId] }];
  const { policyId } = await w.expectOk('create_escalation_policy', { teamId, name: 'Wake', steps });
  const { serviceId, dsn } = await w.given.service({ name: 'jobs' });
  await givenRule(w, serviceId, { escalationPolicyId: policyId });
  return { w, serviceId, dsn };
}
