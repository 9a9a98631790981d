import fc, { slowRuns } from '#test/kit/properties.ts';
import pLimit from 'p-limit';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';

import { readSimulation } from '#modules/policies/operations/simulation_view.ts';
import { simulateEscalation } from '#modules/policies/operations/simulate_escalation.ts';
import { declareIncident } from '#modules/incidents/operations/declare_incident.ts';
import { createMaintenance } from '#modules/maintenance/operations/maintenance.ts';
import { type Channel, CHANNELS } from '#modules/contacts/decide/channel.ts';
import type { PolicyPlan } from '#modules/policies/decide/run.ts';
import type { EscalationStep } from '#modules/policies/decide/escalation.ts';
import { maskAddress } from '#modules/contacts/decide/masking.ts';
import { ROTATION_TYPES } from '#modules/schedules/decide/rotation.ts';
import { fireStep } from '#modules/incidents/paging/fire_step.ts';
import { openIncident } from '#modules/incidents/open_incidents.ts';
import { newId, type Id } from '#kernel/ids.ts';
import { FAR_FUTURE, isAtOrBefore, Temporal } from '#kernel/time.ts';
import { inUnitOfWork, storesOf } from '#modules/stores.ts';
import { ZONES } from '#test/modules/schedules/decide/given_rotation.ts';
import { setOfRule } from '#test/kit/metrics/rule_settings.ts';
import { memberCaller, runOperation } from '#test/kit/run_operation.ts';
import { type World, world } from '#test/kit/world.ts';

const NOW = '2026-03-04T12:00:00Z';
const START = Temporal.Instant.from(NOW);
const PEOPLE = 6;

const person = fc.nat({ max: PEOPLE - 1 });

const anyStep = fc.record({
  afterMinutes: fc.oneof(fc.integer({ min: 0, max: 30 }), fc.integer({ min: 0, max: 9_000 }), fc.constant(2 ** 51)),
  channels: fc.uniqueArray(fc.constantFrom(...CHANNELS), { minLength: 1 }),
  targets: fc.uniqueArray(person, { maxLength: 2 }),
  useSchedule: fc.boolean(),
  more: fc.option(
    fc.record({
      schedules: fc.uniqueArray(fc.nat({ max: 1 }), { maxLength: 2 }),
      isNext: fc.boolean(),
      pagesTeam: fc.boolean(),
      isInTurn: fc.boolean(),
    }),
  ),
});

const anyMember = fc.record({
  person,
  hasPhone: fc.boolean(),
  smsEnabled: fc.boolean(),
  callEnabled: fc.boolean(),
  pushEnabled: fc.boolean(),
  emailEnabled: fc.boolean(),
});

const anySchedule = fc.record({
  timezone: fc.constantFrom(...ZONES),
  rotationType: fc.constantFrom(...ROTATION_TYPES),
  people: fc.array(person, { maxLength: 4 }),
  shiftHours: fc.option(fc.integer({ min: 1, max: 30 })),
  startsAfterHours: fc.integer({ min: -20_000, max: 5_000 }),
  overrides: fc.array(
    fc.record({ person, from: fc.integer({ min: -300, max: 300 }), minutes: fc.integer({ min: 1, max: 400 }) }),
    { maxLength: 2 },
  ),
});

const anyWorld = fc.record({
  steps: fc.array(anyStep, { minLength: 1, maxLength: 4 }),
  members: fc.uniqueArray(anyMember, { maxLength: 4, selector: (member) => member.person }),
  schedules: fc.array(anySchedule, { maxLength: 2 }),
  configured: fc.uniqueArray(fc.constantFrom(...CHANNELS), { minLength: 1 }),
  repeat: fc.option(
    fc.record({ times: fc.integer({ min: 1, max: 2 }), pauseMinutes: fc.integer({ min: 1, max: 500 }) }),
  ),
  hours: fc.option(
    fc.record({
      timezone: fc.constantFrom(...ZONES),
      windows: fc.array(
        fc.record({
          days: fc.uniqueArray(fc.integer({ min: 1, max: 7 }), { minLength: 1 }),
          from: fc.constantFrom('00:00', '02:30', '09:00', '21:00'),
          to: fc.constantFrom('03:00', '12:00', '17:00', '24:00'),
        }),
        { minLength: 1, maxLength: 2 },
      ),
      outside: fc.constant('hold' as const),
      exemptFrom: fc.constant(null),
    }),
  ),
  /** Number of minutes within a year. */
  afterMinutes: fc.integer({ min: 0, max: 365 * 24 * 60 }),
});

type AnyWorld = typeof anyWorld extends fc.Arbitrary<infer Made> ? Made : never;

describe('the simulator equals the engine', () => {
  let w: World;
  let userIds: Id<'user'>[];
  let rule: { serviceId: Id<'service'>; ruleId: Id<'rule'> };

  beforeAll(async () => {
    w = await world({ keepOpen: true });
    w.clock.set(NOW);
    const made = await Promise.all(
      Array.from({ length: PEOPLE }, (_, index) => w.given.user({ name: `Person ${index}` })),
    );
    userIds = made.map(({ userId }) => userId);
    await w.context.db.transaction(async (session) => {
      for (const userId of userIds.slice(0, 3)) {
        const browser = { endpoint: `https://push.example.com/${userId}`, p256dh: 'p', auth: 'a', label: 'Phone' };
        await storesOf(session).pushSubscriptions.put(userId, browser, START);
      }
    });
    // Named by steps and schedules all the same.
    await w.context.db.sql.run('delete from memberships where user_id = $1', [userIds[PEOPLE - 1]]);
    const { serviceId } = await w.given.service();
    const config = { metricName: 'latency', comparator: '>', threshold: 1 };
    const { ruleId } = await w.expectOk('create_alert_rule', {
      serviceId,
      name: 'Slow',
      kind: 'metric_threshold',
      config,
    });
    rule = { serviceId, ruleId };
  });
  afterAll(() => w.close());

  const idOf = (index: number): Id<'user'> => userIds[index]!;

  /** A team with its members, schedules and overrides. */
  async function givenTeam({ members, schedules }: AnyWorld, triggeredAt: Temporal.Instant): Promise<Id<'team'>> {
    return await w.context.db.transaction(async (session) => {
      const stores = storesOf(session);
      const team = await stores.teams.insert(w.orgId, 'Team', START);
      for (const { person: index, hasPhone, ...switches } of members) {
        if (index === PEOPLE - 1) continue;
        await stores.teams.insertMember(
          team,
          idOf(index),
          { ...switches, phone: hasPhone ? `+3161234567${index}` : null },
          START,
        );
      }
      for (const { timezone, rotationType, people, shiftHours, startsAfterHours, overrides } of schedules) {
        const schedule = await stores.schedules.insert(
          team,
          {
            name: 'Schedule',
            timezone,
            rotationType,
            rotationConfig: { userIds: people.map(idOf), ...(shiftHours !== null && { shiftHours }) },
            startAt: triggeredAt.add({ hours: startsAfterHours }),
            startWall: null,
          },
          START,
        );
        for (const { person: index, from, minutes } of overrides) {
          const startAt = triggeredAt.add({ minutes: from });
          const window = { userId: idOf(index), startAt, endAt: startAt.add({ minutes }) };
          await stores.schedules.insertOverride(schedule, window, START);
        }
      }
      return team.id;
    });
  }

  /** A policy of the team that says all of it. */
  async function givenPolicy(teamId: Id<'team'>, { steps, repeat, hours }: AnyWorld): Promise<PolicyPlan> {
    return await w.context.db.transaction(async (session) => {
      const stores = storesOf(session);
      const schedules = await stores.schedules.listOfTeams(w.orgId, [teamId]);
      const wanted = steps.map(({ targets, more, ...step }, index): EscalationStep => {
        const scheduleIds = (more?.schedules ?? []).flatMap((place) => schedules[place]?.id ?? []);
        return {
          ...step,
          targetUserIds: targets.map(idOf),
          ...(scheduleIds.length > 0 && { scheduleIds }),
          ...(more?.isNext && { turn: 'next' }),
          ...(more?.pagesTeam && { members: { teamId, ...(more.isInTurn && index === 0 && { inTurn: true }) } }),
        };
      });
      const details = { ...(repeat && { repeat }), ...(hours && { hours }) };
      const policy = { name: 'Policy', steps: wanted, details: Object.keys(details).length === 0 ? null : details };
      return await stores.policies.insert({ orgId: w.orgId, id: teamId }, policy, START);
    });
  }

  /** Opens an incident at that time and fires its steps as their timers come due: what really happened, step by step. */
  async function runEngine(
    { id: escalationPolicyId, teamId, steps }: PolicyPlan,
    triggeredAt: Temporal.Instant,
    configured: ReadonlySet<Channel>,
  ): Promise<string[]> {
    let now = triggeredAt;
    const runtime = { db: w.context.db, clock: { now: () => now }, onOutbox: () => {}, configured };
    const incidentId = await inUnitOfWork(runtime, async (unit) => {
      const active = {
        ...rule,
        orgId: w.orgId,
        name: 'Slow',
        config: { metricName: 'latency', comparator: '>', threshold: 1, windowMinutes: 5, aggregation: 'avg' },
        settings: null,
        escalationPolicyId,
        teamId,
        steps,
      } as const;
      const cause = { kind: 'metric_threshold', exceptionGroupId: null, title: 'Slow', severity: 'error' } as const;
      return await openIncident(unit, active, { ...cause, dedupKey: newId('job'), details: {}, sentence: 'slow' });
    });
    if (incidentId === null) throw new Error('no incident was opened');
    const stores = storesOf(w.context.db.session());
    const fired: { stepIndex: number; at: Temporal.Instant }[] = [];
    for (;;) {
      const timers = await stores.stepTimers.listSteps([incidentId]);
      const [next] = timers
        .filter(({ state, dueAt }) => state === 'pending' && !isAtOrBefore(FAR_FUTURE, dueAt))
        .toSorted((a, b) => Temporal.Instant.compare(a.dueAt, b.dueAt) || a.stepIndex - b.stepIndex);
      if (next === undefined) break;
      now = next.dueAt;
      const held = await fireStep(runtime, incidentId, next.stepIndex);
      if (held === null) fired.push({ stepIndex: next.stepIndex, at: now });
    }
    const timers = await stores.stepTimers.listSteps([incidentId]);
    const log = Map.groupBy(await stores.notifications.listOf(incidentId, 1_000), ({ stepIndex }) => stepIndex);
    const never = timers.filter(({ state }) => state === 'pending').map(({ stepIndex }) => ({ stepIndex, at: null }));
    return [...fired, ...never].map(({ stepIndex, at }) => {
      const entries = (log.get(stepIndex) ?? []).map(({ userId, channel, status, address, reason }) =>
        [userId, channel, status === 'queued' ? 'notify' : status, maskAddress(channel, address), reason].join(' '),
      );
      const skipped = timers.find((timer) => timer.stepIndex === stepIndex)?.reason ?? 'fired';
      return [stepIndex, at?.toString() ?? 'never', at === null ? 'fired' : skipped, ...entries.toSorted()].join(' | ');
    });
  }

  async function runSimulator(
    policy: PolicyPlan,
    triggeredAt: Temporal.Instant,
    configuredChannels: ReadonlySet<Channel>,
  ): Promise<string[]> {
    const context = {
      caller: memberCaller(w.orgId, idOf(0), 'viewer'),
      stores: storesOf(w.context.db.session()),
      configuredChannels,
      installation: w.context.actions.installation,
    };
    const simulated = await readSimulation(policy, triggeredAt, context);
    return simulated.map(({ step, firesAt, nobodyReached, people }) => {
      const entries = people.flatMap(({ userId, channels }) =>
        channels.map(({ channel, outcome, to, reason }) => [userId, channel, outcome, to, reason].join(' ')),
      );
      const at = firesAt === null ? 'never' : Temporal.Instant.from(firesAt).toString();
      return [step, at, nobodyReached ?? 'fired', ...entries.toSorted()].join(' | ');
    });
  }

  const PARTS = [0, 1, 2, 3];
  const seen = { skipped: 0, paged: 0 };

  test.each(PARTS)('in random worlds, whose steps the engine really fires: part %i', async (part) => {
    const worlds = fc.sample(anyWorld, { numRuns: slowRuns(1_000, 60), seed: 20_260_304 });
    const limit = pLimit(8);
    await Promise.all(
      worlds
        .filter((_, index) => index % PARTS.length === part)
        .map((made) =>
          limit(async () => {
            const triggeredAt = START.add({ minutes: made.afterMinutes });
            const configured = new Set(made.configured);
            const policy = await givenPolicy(await givenTeam(made, triggeredAt), made);
            const simulated = await runSimulator(policy, triggeredAt, configured);
            const real = await runEngine(policy, triggeredAt, configured);
            expect(simulated, JSON.stringify(made)).toEqual(real);
            seen.skipped += real.filter((line) =>
              /nobody_on_call|no_targets|no_usable|not_configured \|/.test(line),
            ).length;
            seen.paged += real.filter((line) => line.includes('notify')).length;
          }),
        ),
    );
  });

  test('in random worlds, of which enough skip steps and page', () => {
    expect(seen.skipped).toBeGreaterThan(slowRuns(200, 40));
    expect(seen.paged).toBeGreaterThan(slowRuns(300, 40));
  });
});

describe('the simulator of the console', () => {
  async function givenRule(channels: readonly Channel[] = ['push', 'email']) {
    const twilio = { twilioAccountSid: `AC${'0'.repeat(32)}`, twilioAuthToken: 'token', twilioFrom: '+15005550006' };
    const w = await world(channels.includes('sms') ? { settings: twilio } : {});
    w.clock.set(NOW);
    const [anna, bram] = [await w.given.user({ name: 'Anna' }), await w.given.user({ name: 'Bram' })];
    const { teamId } = await w.expectOk('create_team', { name: 'Payments' });
    await w.expectOk('add_team_member', { teamId, userId: anna.userId, phone: '+31612345678' });
    await w.expectOk('create_schedule', {
      teamId,
      name: 'Primary',
      startAt: '2026-03-01T09:00:00Z',
      rotationType: 'daily',
      rotationConfig: { userIds: [anna.userId, bram.userId] },
    });
    const { policyId } = await w.expectOk('create_escalation_policy', {
      teamId,
      name: 'Wake somebody',
      steps: [
        { afterMinutes: 0, channels, targetUserIds: channels.includes('sms') ? [anna.userId] : [], useSchedule: true },
      ],
    });
    const { serviceId } = await w.given.service({ name: 'checkout' });
    const { ruleId } = await w.expectOk('create_alert_rule', {
      serviceId,
      name: 'Slow',
      kind: 'exception',
      config: {},
      escalationPolicyId: policyId,
    });
    const viewer = memberCaller(w.orgId, anna.userId, 'viewer');
    const simulate = (input: object) => runOperation(w, simulateEscalation, viewer, { serviceId, ...input });
    return { w, anna, bram, serviceId, ruleId, policyId, simulate };
  }

  test('names the rule, its policy, the people of that time and why channels are skipped', async () => {
    const { simulate, bram, ruleId, policyId } = await givenRule();
    const found = await simulate({ ruleId, at: '2026-03-04T10:00:00+01:00' });
    expect(found).toMatchObject({
      at: '2026-03-04T09:00:00.000Z',
      service: { name: 'checkout' },
      rules: [{ ruleId, name: 'Slow', status: 'active', pages: true }],
      simulated: { ruleId, policy: { policyId, teamName: 'Payments' } },
    });
    expect(found.simulated.steps[0]).toMatchObject({
      step: 0,
      firesAt: '2026-03-04T09:00:00.000Z',
      onCall: [{ name: 'Primary', userId: bram.userId, personName: 'Bram', source: 'rotation' }],
      people: [
        {
          name: 'Bram',
          isOnCall: true,
          channels: [
            { channel: 'push', outcome: 'skipped', reason: 'no_address' },
            { channel: 'email', outcome: 'failed', reason: 'channel_not_configured' },
          ],
        },
      ],
      nobodyReached: 'channel_not_configured',
    });
  });

  test('says that it is in maintenance, joins another incident, and pages again when it is forgotten', async () => {
    const { w, anna, serviceId, ruleId, policyId, simulate } = await givenRule(['sms']);
    await setOfRule(w, ruleId, { groupMinutes: 2, repageMinutes: 30 });
    const editor = memberCaller(w.orgId, anna.userId, 'editor');
    const [startsAt, endsAt] = ['2026-03-05T09:30:00Z', '2026-03-05T11:00:00Z'];
    const window = { name: 'Upgrade', timezone: 'UTC', startsAt, endsAt, target: { serviceId } };
    await runOperation(w, createMaintenance, editor, window);
    const declared = {
      serviceId,
      title: 'Slow too',
      severity: 'error',
      escalationPolicyId: policyId,
      requestKey: 'k'.repeat(16),
    };
    const { incidentId } = await runOperation(w, declareIncident, editor, declared);
    const at = w.clock.now().add({ minutes: 1 }).toString();
    expect((await simulate({ at })).simulated).toMatchObject({
      quiet: null,
      joined: { incidentId, title: 'Slow too' },
    });
    const later = w.clock.now().add({ minutes: 3 }).toString();
    expect((await simulate({ at: later })).simulated).toMatchObject({ quiet: null, joined: null });
    const quiet = (await simulate({ at: '2026-03-05T10:00:00Z' })).simulated;
    expect(quiet).toMatchObject({
      quiet: { until: '2026-03-05T11:00:00.000Z', maintenance: 'Upgrade' },
      steps: [{ firesAt: '2026-03-05T11:00:00.000Z' }],
      stale: {
        acknowledgedAt: '2026-03-05T11:00:00.000Z',
        pagesAgainAt: '2026-03-05T11:30:00.000Z',
        steps: [{ step: 0 }],
      },
    });
  });

  test('takes the first rule that pages, and says when none does', async () => {
    const { w, simulate, ruleId, policyId } = await givenRule();
    expect((await simulate({})).simulated).toMatchObject({ ruleId });
    await w.expectOk('update_alert_rule', { ruleId, enabled: false });
    expect((await simulate({})).simulated).toMatchObject({ status: 'disabled', pages: true });
    await w.expectOk('delete_escalation_policy', { policyId });
    expect((await simulate({})).simulated).toMatchObject({ pages: false, policy: null, steps: [] });
    await w.expectOk('delete_alert_rule', { ruleId });
    expect(await simulate({})).toMatchObject({ rules: [], simulated: null });
  });

  test('refuses a malformed time, and a rule of another service', async () => {
    const { w, simulate, ruleId } = await givenRule();
    await expect(simulate({ at: 'tonight' })).rejects.toMatchObject({ code: 'invalid_input' });
    const other = await w.given.service({ name: 'search' });
    await expect(simulate({ serviceId: other.serviceId, ruleId })).rejects.toMatchObject({ code: 'not_found' });
  });
});
