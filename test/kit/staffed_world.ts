import { randomBytes } from 'node:crypto';

import { onTestFinished } from 'vitest';

import type { Channel } from '#core/oncall/channel.ts';
import { startPhone, type Phone } from '@tocsin/phone-simulator';
import { openIncident } from '#incidents/open_incident.ts';
import type { Config } from '#entry/config.ts';
import type { Id } from '#kernel/ids.ts';
import type { Temporal } from '#kernel/time.ts';
import { inboundSmsUrl } from '#notify/twilio/callbacks.ts';
import { storesOf } from '#storage/postgres/stores.ts';
import { inUnitOfWork } from '#storage/postgres/unit_of_work.ts';
import { type TestClock, testClock } from '#test/kit/clock.ts';
import { drivenQueue } from '#test/kit/driven_queue.ts';
import { pace } from '#test/kit/pace.ts';
import { rolesRuntime, type RolesRuntime, startJobs } from '#test/kit/roles.ts';
import { runnerUntilIdle } from '#test/kit/run_until_idle.ts';
import { type World, world } from '#test/kit/world.ts';
import { evaluateRules } from '#workers/evaluate_rules.ts';
import { sweepDue } from '#workers/sweep_due.ts';

/** A step as tests write it. */
export interface StepInput {
  readonly afterMinutes: number;
  readonly channels: readonly Channel[];
  readonly targetUserIds?: readonly string[];
  readonly useSchedule?: boolean;
}

export interface Responder {
  readonly userId: Id<'user'>;
  readonly memberId: string;
  readonly name: string;
  readonly phone: string;
  readonly email: string;
  readonly key: string;
}

/** A world with running workers and the phone simulator. */
export interface StaffedWorld extends World {
  readonly phone: Phone;
  readonly runtime: RolesRuntime;
  /** Does all work that is due, in this process and by the clock, until there is none. Only in a world with `jobs: 'driven'`. */
  runUntilIdle(): Promise<void>;
  /** Resolves once every job that could run has run and every call-back is answered. */
  settle(): Promise<void>;
  /** Moves the clock, runs everything that is due, and settles. */
  advance(duration: Temporal.DurationLike): Promise<void>;
  /** Evaluates every metric rule once, and settles. */
  evaluate(): Promise<void>;
  readonly staff: {
    team(): Promise<string>;
    /** Somebody of the team with a phone of their own. */
    responder(teamId: string, name: string): Promise<Responder>;
    /** The person has confirmed their number, so that answers from it count as theirs. */
    confirm(person: Pick<Responder, 'userId' | 'phone'>): Promise<void>;
    /** A policy, a rule that uses it, and what opens an incident of that rule. */
    alert(teamId: string, steps: readonly StepInput[], options?: { key?: string }): Promise<Alert>;
  };
}

export interface Alert {
  readonly serviceId: Id<'service'>;
  readonly ruleId: Id<'rule'>;
  readonly policyId: string;
  /** Opens an incident as a breach of the rule would, and returns its id at once. */
  trigger(title?: string): Promise<Id<'incident'>>;
}

const ACCOUNT_SID = `AC${'0'.repeat(32)}`;
const AUTH_TOKEN = 'token of the test account';
export const SERVICE_NUMBER = '+15005550006';
const BASE_URL = 'http://tocsin.test';

const WAITING_BESIDE_QUEUE =
  'select (select count(*)::int from outbox) as outbox, (select count(*)::int from kept_jobs) as jobs';
/** In one question, since tests ask it again and again. */
const WAITING = `select (select count(*)::int from outbox) as outbox,
  (select count(*)::int from kept_jobs) + (select count(*)::int from bullmq.job where state in ('waiting', 'active')) as jobs`;

const LOOKS_AT_LEAST_EVERY_MS = 16;

/**
 * With `jobs: 'driven'` the test itself runs the jobs, by `runUntilIdle`, `advance` and `evaluate`, and nothing runs in
 * between; with true, workers take them from the real queue; with false no worker runs.
 */
export async function staffedWorld(
  options: { jobs?: boolean | 'driven'; clock?: TestClock; settings?: Partial<Config> } = {},
): Promise<StaffedWorld> {
  let listening = '';
  const phone = await startPhone({
    accountSid: ACCOUNT_SID,
    authToken: AUTH_TOKEN,
    numbers: [{ e164: SERVICE_NUMBER, smsUrl: inboundSmsUrl(BASE_URL) }],
    publicUrlRewrite: (url) => url.replace(BASE_URL, listening),
  });
  onTestFinished(() => phone.close());
  const { clock = testClock(), jobs: mode = true } = options;
  const driven = mode === 'driven' ? drivenQueue(clock) : null;
  const w = await world({
    clock,
    ...(driven && { jobQueue: driven }),
    settings: {
      twilioAccountSid: ACCOUNT_SID,
      twilioAuthToken: AUTH_TOKEN,
      twilioFrom: SERVICE_NUMBER,
      twilioApiBase: phone.url,
      ...options.settings,
    },
  });
  listening = await w.app.listen({ port: 0, host: '127.0.0.1' });
  const runtime = rolesRuntime(w.context);
  if (mode === true) {
    const jobs = startJobs(w.context, runtime);
    onTestFinished(() => jobs.close());
  }

  const jobsRun = mode === true;
  const isQuiet = async (): Promise<boolean> => {
    const { outbox, queue, db } = w.context;
    await outbox.settled();
    await phone.settled();
    const waiting = await db.sql.row<{ outbox: number; jobs: number }>(
      queue.engine === 'postgres' ? WAITING : WAITING_BESIDE_QUEUE,
    );
    if (waiting?.outbox !== 0) await outbox.publishAll();
    if (waiting?.outbox !== 0 || (jobsRun && waiting.jobs > 0)) return false;
    if (!jobsRun || queue.engine === 'postgres') return true;
    return Object.values(await queue.depths()).every(({ ready }) => ready === 0);
  };
  /**
   * Work moves from outbox to queue to outbox, so it is done only when two checks in a row find nothing. Each check takes
   * time from that work, so there are fewer the longer it lasts.
   */
  const awaitQuiet = async (): Promise<void> => {
    let quietLooks = 0;
    let waitMs = 1;
    for await (const _ of pace(() => waitMs)) {
      quietLooks = (await isQuiet()) ? quietLooks + 1 : 0;
      if (quietLooks === 2) return;
      waitMs = quietLooks === 1 ? 2 : Math.min(2 * waitMs, LOOKS_AT_LEAST_EVERY_MS);
    }
  };

  const runUntilIdle =
    driven === null
      ? () => Promise.reject(new Error("runUntilIdle needs a world with jobs: 'driven'"))
      : runnerUntilIdle({ context: w.context, runtime, queue: driven, phone });
  const settle = driven === null ? awaitQuiet : runUntilIdle;

  return {
    ...w,
    phone,
    runtime,
    runUntilIdle,
    settle,
    async advance(duration) {
      w.clock.advance(duration);
      if (driven !== null) return await runUntilIdle();
      await sweepDue(runtime, 0);
      await settle();
      await sweepDue(runtime, 0);
      await settle();
    },
    async evaluate() {
      await evaluateRules(runtime);
      await settle();
    },
    staff: {
      team: async () => (await w.expectOk('create_team', { name: 'Platform' })).teamId,
      async responder(teamId, name) {
        const person = await w.given.user({ name, role: 'responder' });
        const phoneNumber = `+3161${String(randomBytes(4).readUInt32BE() % 10_000_000).padStart(7, '0')}`;
        const member = await w.expectOk('add_team_member', { teamId, userId: person.userId, phone: phoneNumber });
        const { userId, email, key } = person;
        return { userId, memberId: member.memberId, name, phone: phoneNumber, email, key };
      },
      confirm: ({ userId, phone: number }) =>
        storesOf(w.context.db.session()).phoneNumbers.confirm(userId, number, w.clock.now()),
      async alert(teamId, steps, { key = w.orgKey } = {}) {
        const policy = await w.expectOk('create_escalation_policy', { teamId, name: 'Wake somebody', steps }, { key });
        const { serviceId } = await w.given.service({ key });
        const rule = await w.expectOk(
          'create_alert_rule',
          {
            serviceId,
            name: 'Latency',
            kind: 'metric_threshold',
            config: { metricName: 'latency', comparator: '>', threshold: 100 },
            escalationPolicyId: policy.policyId,
          },
          { key },
        );
        return {
          serviceId,
          ruleId: rule.ruleId,
          policyId: policy.policyId,
          async trigger(title = 'latency is 250 (> 100)') {
            return await inUnitOfWork(runtime, async (unit) => {
              const active = (await unit.stores.activeRules.list('metric_threshold')).find(
                ({ ruleId }) => ruleId === rule.ruleId,
              );
              if (active === undefined) throw new Error('the rule is not active');
              const cause = { kind: 'metric_threshold', exceptionGroupId: null, title, severity: 'error' } as const;
              const id = await openIncident(unit, active, { ...cause, details: {}, sentence: title });
              if (id === null) throw new Error('an incident of this rule is open already');
              return id;
            });
          },
        };
      },
    },
  };
}
