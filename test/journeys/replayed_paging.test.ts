import { beforeAll, expect, test } from 'vitest';

import { replayPaging, type ReplayedOpening } from '#modules/incidents/decide/replay_paging.ts';
import { acknowledge } from '#modules/incidents/acknowledge.ts';
import { openIncident } from '#modules/incidents/open_incidents.ts';
import { expireAcknowledgements } from '#modules/incidents/paging/acknowledgement_timeout.ts';
import { resolve } from '#modules/incidents/change_status.ts';
import { asId, type Id } from '#kernel/ids.ts';
import { Temporal } from '#kernel/time.ts';
import type { ActiveRule } from '#modules/rules/store/active_rule_store.ts';
import type { IncidentRow } from '#modules/incidents/store/incident_store.ts';
import { inUnitOfWork, storesOf } from '#modules/stores.ts';
import fc, { slowRuns } from '#test/kit/properties.ts';
import { type RolesRuntime, rolesRuntime } from '#test/kit/roles.ts';
import { fileWorld } from '#test/kit/world.ts';

const RULES = 3;
const MINUTES = 60;
const START = Temporal.Instant.from('2027-03-01T00:00:00Z');
const BY = { system: true, via: 'rule' } as const;

let runtime: RolesRuntime;
let rules: ActiveRule[];
let cases = 0;

const w = await fileWorld();
beforeAll(async () => {
  runtime = rolesRuntime(w.context);
  const { teamId } = await w.expectOk('create_team', { name: 'Platform' });
  const steps = [
    { afterMinutes: 0, channels: ['sms'], targetUserIds: [w.owner.userId] },
    { afterMinutes: 10, channels: ['sms'], targetUserIds: [w.owner.userId] },
  ];
  const { policyId } = await w.expectOk('create_escalation_policy', { teamId, name: 'Wake somebody', steps });
  const { serviceId } = await w.given.service();
  for (let index = 0; index < RULES; index += 1) {
    const config = { metricName: `latency_${index}`, comparator: '>', threshold: 1 };
    const rule = { serviceId, name: `Rule ${index}`, kind: 'metric_threshold', config, escalationPolicyId: policyId };
    await w.expectOk('create_alert_rule', rule);
  }
  rules = await storesOf(w.context.db.session()).activeRules.list('metric_threshold');
});

/** Rules with any times, settings and severity. */
const anyRule = fc.record({
  lives: fc.array(fc.record({ afterSteps: fc.integer({ min: 0, max: 5 }), minutes: fc.integer({ min: 1, max: 30 }) }), {
    minLength: 1,
    maxLength: 4,
  }),
  severity: fc.constantFrom('error', 'warning'),
  groupMinutes: fc.constantFrom(0, 2, 15, 15),
});

const anyCase = fc.record({
  rules: fc.tuple(anyRule, anyRule, anyRule),
  windows: fc.array(
    fc.record({
      rule: fc.option(fc.integer({ min: 0, max: RULES - 1 })),
      from: fc.integer({ min: -10, max: MINUTES }),
      minutes: fc.integer({ min: 1, max: 30 }),
    }),
    { maxLength: 2 },
  ),
  repageMinutes: fc.option(fc.integer({ min: 5, max: 12 })),
  acknowledgedAfterMinutes: fc.option(fc.integer({ min: 1, max: 6 }), { freq: 1 }),
});

type AnyCase = typeof anyCase extends fc.Arbitrary<infer Made> ? Made : never;

interface Life {
  readonly rule: number;
  readonly opens: number;
  readonly closes: number | null;
}

/** No two open in the same minute; one of a rule opens after the one before has closed. */
function livesOf(asked: AnyCase): Life[] {
  return asked.rules
    .flatMap(({ lives }, rule) => {
      let free = 0;
      return lives.map(({ afterSteps, minutes }): Life => {
        const opens = Math.ceil(free / RULES) * RULES + afterSteps * RULES + rule;
        free = opens + minutes;
        return { rule, opens, closes: free >= MINUTES ? null : free };
      });
    })
    .filter(({ opens }) => opens < MINUTES)
    .toSorted((a, b) => a.opens - b.opens);
}

type Runs = { from: number; until: number | null }[];

/** Runs the engine minute by minute, with its rows in PostgreSQL. */
async function drive(
  asked: AnyCase,
  lives: readonly Life[],
  at: (minute: number) => Temporal.Instant,
): Promise<Runs[]> {
  const ids: Id<'incident'>[] = [];
  const runs: Runs[] = [];
  const minuteOf = (instant: Temporal.Instant) => (instant.epochMilliseconds - at(0).epochMilliseconds) / 60_000;
  const withIncident = async (index: number, change: (incident: IncidentRow) => Promise<boolean>, minute: number) => {
    if (!(await change((await storesOf(w.context.db.session()).incidents.find(w.orgId, ids[index]!))!))) return;
    const last = runs[index]!.at(-1);
    if (last !== undefined && last.until === null) last.until = minute;
  };
  /** Notes whose steps run, and acknowledges what is due. */
  const look = async (minute: number): Promise<void> => {
    const stored = await storesOf(w.context.db.session()).incidents.findAll(w.orgId, ids.filter(Boolean));
    for (const [index, id] of ids.entries()) {
      const incident = id === undefined ? undefined : stored.get(id);
      if (incident?.status !== 'triggered') continue;
      const countsFrom = incident.steps.at(-1)!.countsFrom;
      const from = minuteOf(countsFrom === undefined ? incident.triggeredAt : Temporal.Instant.from(countsFrom));
      if (from > minute) continue;
      if (runs[index]!.at(-1)?.from !== from) runs[index]!.push({ from, until: null });
      if (from + (asked.acknowledgedAfterMinutes ?? Infinity) !== minute) continue;
      const answered = (one: IncidentRow) => inUnitOfWork(runtime, (unit) => acknowledge(unit, one, BY));
      await withIncident(index, answered, minute);
    }
  };
  for (let minute = 0; minute < MINUTES; minute += 1) {
    w.clock.set(at(minute).toString());
    // Nobody answers: what has begun by then is seen before it ends.
    if (lives.some(({ closes }) => closes === minute)) await look(minute - 1);
    for (const [index, { closes }] of lives.entries()) {
      if (closes !== minute) continue;
      const ended = (incident: IncidentRow) => inUnitOfWork(runtime, (unit) => resolve(unit, incident, BY));
      await withIncident(index, ended, minute);
    }
    for (const [index, { rule, opens }] of lives.entries()) {
      if (opens !== minute) continue;
      const { severity, groupMinutes } = asked.rules[rule]!;
      const opened = { ...rules[rule]!, settings: { groupMinutes, repageMinutes: asked.repageMinutes } };
      const cause = { kind: 'metric_threshold', exceptionGroupId: null, title: `${index}`, severity } as const;
      const id = await inUnitOfWork(runtime, (unit) =>
        openIncident(unit, opened, { ...cause, details: {}, sentence: '' }),
      );
      ids[index] = id!;
      runs[index] = [];
    }
    if (asked.repageMinutes !== null) await expireAcknowledgements(runtime);
    if (asked.acknowledgedAfterMinutes !== null || minute === MINUTES - 1) await look(minute);
  }
  for (const id of ids) {
    const incident = (await storesOf(w.context.db.session()).incidents.find(w.orgId, id))!;
    if (incident.status !== 'resolved')
      await w.context.db.sql.run("update incidents set status = 'resolved' where id = $1", [id]);
  }
  return runs;
}

test('a replay pages exactly when the engine does: maintenance, grouping and stale acknowledgements', async () => {
  const seen = { runs: 0, quiet: 0, joined: 0, stale: 0, released: 0 };
  await fc.assert(
    fc.asyncProperty(anyCase, async (asked) => {
      cases += 1;
      const at = (minute: number) => START.add({ minutes: cases * 1_440 + minute });
      const lives = livesOf(asked);
      const settings = JSON.stringify({ repageMinutes: asked.repageMinutes });
      await w.context.db.sql.run('update alert_rules set settings = $1', [settings]);
      await w.context.db.sql.run('delete from maintenance_windows');
      const windows = asked.windows.map(({ rule, from, minutes }) => ({
        orgId: w.orgId,
        name: 'Upgrade',
        serviceId: rule === null ? rules[0]!.serviceId : null,
        ruleId: rule === null ? null : rules[rule]!.ruleId,
        labelName: null,
        labelValue: null,
        startsAt: at(from),
        endsAt: at(from + minutes),
        recurrence: null,
        timezone: 'UTC',
      }));
      const { maintenance } = storesOf(w.context.db.session());
      for (const window of windows) await maintenance.insert(window, at(0));

      const openings = lives.map(({ rule, opens, closes }): ReplayedOpening => ({
        serviceId: rules[rule]!.serviceId,
        ruleId: rules[rule]!.ruleId,
        labels: {},
        escalationPolicyId: asId('policy', rules[rule]!.escalationPolicyId!),
        severity: asked.rules[rule]!.severity,
        groupMinutes: asked.rules[rule]!.groupMinutes,
        repageMinutes: asked.repageMinutes,
        steps: 2,
        openedAt: at(opens),
        closedAt: closes === null ? null : at(closes),
      }));
      const { acknowledgedAfterMinutes } = asked;
      const replayed = replayPaging(openings, { windows, others: [], acknowledgedAfterMinutes, now: at(MINUTES) });
      const expected = await drive(asked, lives, at);
      const minuteOf = (instant: Temporal.Instant) => (instant.epochMilliseconds - at(0).epochMilliseconds) / 60_000;
      const runs = replayed.map((one) =>
        one.runs
          .map(({ from, until }) => ({ from: minuteOf(from), until: until && minuteOf(until) }))
          // What would be answered behind the end is open at the end.
          .map(({ from, until }) => ({ from, until: until !== null && until >= MINUTES ? null : until })),
      );
      expect(runs).toEqual(expected);
      for (const [index, { start }] of replayed.entries()) {
        seen.runs += runs[index]!.length;
        if (start.kind === 'quiet') seen.quiet += 1;
        if (start.kind === 'with_parent') seen.joined += 1;
        if (start.kind === 'with_parent' && runs[index]!.length > 0) seen.released += 1;
        if (runs[index]!.length > 1) seen.stale += 1;
      }
    }),
    { numRuns: slowRuns(160) },
  );
  expect(seen.runs).toBeGreaterThan(10);
  expect(seen.quiet + seen.joined).toBeGreaterThan(0);
});
