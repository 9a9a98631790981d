import type { ExceptionEvent, Frame } from '#modules/exceptions/decide/event.ts';
import { type Id, newId } from '#kernel/ids.ts';
import { groupAndStore } from '#test/modules/exceptions/given_events.ts';
import { givenLongNight } from '#test/kit/big_incident.ts';
import { exceptionEvent, FRAME } from '#test/kit/exception_event.ts';
import { givenMetrics } from '#test/kit/metrics/given_metrics.ts';
import { givenIncidents } from '#test/kit/many_incidents.ts';
import type { World } from '#test/kit/world.ts';

const SERVICES = 55;
const PEOPLE = 40;
const GROUPS = 120;
const NAMES = 700;
const DASHBOARDS = 55;

/** The largest of each kind, by the names that bodies use. */
export interface BigIds {
  readonly serviceId: Id<'service'>;
  readonly dashboardId: string;
  readonly groupId: string;
  readonly incidentId: Id<'incident'>;
  readonly teamId: string;
  readonly scheduleId: string;
}

/**
 * Fills an organization as years of use do: many services with rules, incidents, groups with the largest events, people
 * with hourly shifts and overrides, dashboards and metrics. The same each time but for its ids.
 */
export async function givenBigWorld(w: World): Promise<BigIds> {
  const { serviceId } = await w.given.service({ name: 'big' });
  await inTurns(SERVICES, 10, (nth) =>
    w.expectOk('create_service', { name: `service ${pad(nth)}`, environment: 'eu' }),
  );
  const rule = {
    serviceId,
    kind: 'metric_threshold',
    config: { metricName: 'latency', comparator: '>', threshold: 1 },
  };
  const nameOfRule = (nth: number): string => `Rule ${pad(nth)} of the big service`;
  const { ruleId } = await w.expectOk('create_alert_rule', { ...rule, name: nameOfRule(0) });
  await copyRow(w, { table: 'alert_rules', id: ruleId, count: 29 }, (nth) => {
    return { id: newId('rule'), name: nameOfRule(nth) };
  });
  await givenIncidents(w, serviceId, { count: 300, minutesAgo: 60, title: 'Latency is high in the region' });
  const queue = { count: 80, status: 'triggered' as const, minutesAgo: 200, title: 'Queue is full' };
  const [incidentId] = await givenIncidents(w, serviceId, queue);
  await w.context.db.sql.run('update incidents set rule_id = $1', [ruleId]);
  await givenIncidents(w, serviceId, { count: 40, status: 'acknowledged', minutesAgo: 5, title: 'Disk fills' });
  await groupAndStore(
    w,
    serviceId,
    Array.from({ length: GROUPS }, (_, nth) => eventOfGroup(w, nth)),
  );
  const largest = Array.from({ length: 25 }, (_, nth) => largestEvent(w, nth));
  const [group] = await groupAndStore(w, serviceId, largest);
  await givenMetrics(
    w,
    serviceId,
    {
      name: 'latency',
      minutes: 10_080,
      everySeconds: 600,
      value: (step) => 100 + (step % 97) + (step === 900 ? 5_000 : 0),
    },
    ...Array.from({ length: NAMES }, (_, nth) => {
      return { name: `a_rather_long_name_of_a_metric_${pad(nth)}`, minutes: 1, everySeconds: 60, value: () => 1 };
    }),
  );
  const { dashboardId } = await w.expectOk('create_dashboard', { name: 'Wall', serviceId, layout: widgets(150) });
  const board = await w.expectOk('create_dashboard', { name: `Board ${pad(0)}` });
  await copyRow(w, { table: 'dashboards', id: board.dashboardId, count: DASHBOARDS - 1 }, (nth) => {
    return { id: newId('dashboard'), name: `Board ${pad(nth)}` };
  });
  const { userIds, ...team } = await givenPeople(w);
  await givenLongNight(w, incidentId!, userIds);
  return { serviceId, dashboardId, groupId: group!.groupId, incidentId: incidentId!, ...team };
}

async function givenPeople(w: World) {
  const { teamId } = await w.expectOk('create_team', { name: 'Everybody' });
  const people = await inTurns(PEOPLE, 1, (nth) => w.given.user({ name: `Person${pad(nth)}` }));
  const userIds = people.map(({ userId }) => userId);
  await inTurns(PEOPLE, 1, (nth) =>
    w.expectOk('add_team_member', { teamId, userId: userIds[nth], phone: `+316123${pad(nth)}0` }),
  );
  const rotationConfig = { userIds, shiftHours: 1 };
  const { scheduleId } = await w.expectOk('create_schedule', { teamId, name: 'Hourly', rotationConfig });
  const windowOf = (nth: number) => {
    const startAt = w.clock.now().add({ hours: 10 * nth + 1 });
    return { startAt: startAt.toString(), endAt: startAt.add({ hours: 3 }).toString() };
  };
  const first = { scheduleId, userId: userIds[0], ...windowOf(0) };
  const { overrideId } = await w.expectOk('create_schedule_override', first);
  await copyRow(w, { table: 'schedule_overrides', id: overrideId, count: 59 }, (nth) => {
    const { startAt, endAt } = windowOf(nth);
    return { id: newId('override'), user_id: userIds[nth % PEOPLE], start_at: startAt, end_at: endAt };
  });
  const steps = Array.from({ length: 10 }, (_, nth) => ({
    afterMinutes: nth * 5,
    channels: ['sms'],
    targetUserIds: userIds,
  }));
  await inTurns(5, 1, (nth) => w.expectOk('create_escalation_policy', { teamId, name: `Policy ${pad(nth)}`, steps }));
  return { teamId, scheduleId, userIds };
}

function eventOfGroup(w: World, nth: number): ExceptionEvent {
  const exceptions = [
    { type: `Failure${pad(nth)}`, value: 'the same words', module: null, mechanism: null, frames: [] },
  ];
  return exceptionEvent(w.clock.now().subtract({ minutes: nth }), { exceptions, transaction: `/route/${nth}` });
}

/** Returns an event as large as ingestion accepts: deep stacks, long data. */
function largestEvent(w: World, nth: number): ExceptionEvent {
  const line = 'x'.repeat(180);
  const frame: Frame = { ...FRAME, contextLine: line, preContext: [line, line, line], postContext: [line, line, line] };
  const library: Frame = {
    ...frame,
    inApp: false,
    filename: 'site-packages/framework/handlers/base.py',
    contextLine: null,
  };
  const frames = [
    ...Array.from({ length: 26 }, (_, deep) => ({ ...library, lineno: deep })),
    frame,
    frame,
    frame,
    frame,
  ];
  const data = Object.fromEntries(Array.from({ length: 40 }, (_, index) => [`key_${index}`, 'v'.repeat(90)]));
  const [raised] = exceptionEvent(w.clock.now()).exceptions;
  return exceptionEvent(w.clock.now().subtract({ minutes: nth }), {
    release: `shop@1.${nth % 12}.0`,
    environment: nth % 2 === 0 ? 'production' : 'staging',
    exceptions: Array.from({ length: 5 }, () => ({
      ...raised!,
      type: 'TooLarge',
      value: `order ${nth} ${line}`,
      frames,
    })),
    breadcrumbs: Array.from({ length: 30 }, () => {
      return {
        timestamp: w.clock.now().toString(),
        type: 'http',
        category: 'xhr',
        level: 'info',
        message: line,
        data: null,
      };
    }),
    contexts: data,
    extra: data,
    request: data,
    fingerprint: ['the largest'],
  });
}

function widgets(count: number): object[] {
  return Array.from({ length: count }, (_, nth) => ({
    type: 'line',
    title: `Widget ${pad(nth)} of the wall`,
    query: { metricName: `a_rather_long_name_of_a_metric_${pad(nth)}`, aggregation: 'avg' },
    grid: { x: (nth % 4) * 3, y: Math.floor(nth / 4), w: 3, h: 2 },
  }));
}

/** Adds copies of a row with other values, as the action that made it would make a hundred times more slowly. */
async function copyRow(
  w: World,
  { table, id, count }: { readonly table: string; readonly id: string; readonly count: number },
  valuesOf: (nth: number) => object,
): Promise<void> {
  const copies = Array.from({ length: count }, (_, index) => valuesOf(index + 1));
  await w.context.db.sql.run(
    `insert into ${table} select (jsonb_populate_record(t, copy)).* from ${table} t, jsonb_array_elements($2::jsonb) copy
     where t.id = $1`,
    [id, JSON.stringify(copies)],
  );
}

/** Runs so many, some at a time; what each gave, in order. */
async function inTurns<Result>(
  count: number,
  atOnce: number,
  run: (nth: number) => Promise<Result>,
): Promise<Result[]> {
  const results: Result[] = [];
  for (let first = 0; first < count; first += atOnce) {
    const turn = Array.from({ length: Math.min(atOnce, count - first) }, (_, index) => run(first + index));
    results.push(...(await Promise.all(turn)));
  }
  return results;
}

const pad = (nth: number): string => String(nth).padStart(3, '0');
