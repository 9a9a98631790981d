import { randomBytes } from 'node:crypto';

import { onTestFinished } from 'vitest';
import { type Phone, startPhone } from '@tocsin/phone-simulator';

import { openIncident } from '#modules/incidents/open_incidents.ts';
import type { Config } from '#entry/config.ts';
import type { Id } from '#kernel/ids.ts';
import type { Temporal } from '#kernel/time.ts';
import { inboundSmsUrl } from '#notify/twilio/client.ts';
import { inUnitOfWork, storesOf } from '#modules/stores.ts';
import type { TestClock } from '#test/kit/clock.ts';
import {
  givenMember,
  givenPolicy,
  givenRule,
  givenTeam,
  type RuleInput,
  type StepInput,
} from '#test/kit/given_rows.ts';
import { rolesRuntime, type RolesRuntime } from '#test/kit/roles.ts';
import { runnerUntilIdle } from '#test/kit/run_until_idle.ts';
import { type ReusableByFiles, useForFile, useInFiles, useInTurn } from '#test/kit/used_in_turn.ts';
import { composeWorld, type Composition, openWorld, type World } from '#test/kit/world.ts';
import { evaluateRules } from '#workers/evaluate_rules.ts';

export interface Responder {
  readonly userId: Id<'user'>;
  readonly memberId: string;
  readonly name: string;
  readonly phone: string;
  readonly email: string;
  readonly key: string;
}

type TeamOf<Names extends readonly string[]> = readonly [teamId: string, ...{ [Place in keyof Names]: Responder }];

/** A world with the work of the worker and the pager, and the phone simulator. */
export interface StaffedWorld extends World {
  readonly phone: Phone;
  readonly runtime: RolesRuntime;
  /** Does all work that is due, in this process and by the clock, until there is none. Rejects with the real queue. */
  runUntilIdle(): Promise<void>;
  /** Moves the clock, and runs until idle. */
  advance(duration: Temporal.DurationLike): Promise<void>;
  /** Evaluates every metric rule once, and runs until idle. */
  evaluate(): Promise<void>;
  readonly staff: {
    team(): Promise<string>;
    teamOf<Names extends readonly string[]>(...names: Names): Promise<TeamOf<Names>>;
    /** Somebody of the team with a phone of their own. */
    responder(teamId: string, name: string): Promise<Responder>;
    /** The person has confirmed their number, so that answers from it count as theirs. */
    confirm(person: Pick<Responder, 'userId' | 'phone'>): Promise<void>;
    policy(teamId: string, steps: readonly StepInput[], name?: string): Promise<Id<'policy'>>;
    /** A policy, a rule that uses it, of a service of its own unless one is named, and what opens an incident of that rule. */
    alert(teamId: string, steps: readonly StepInput[], options?: AlertOptions): Promise<Alert>;
  };
}

interface AlertOptions extends RuleInput {
  readonly key?: string;
  readonly serviceId?: Id<'service'>;
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

interface StaffedOptions {
  readonly clock?: TestClock | undefined;
  readonly settings?: Partial<Config>;
  /**
   * Runner of the jobs; by default the test runs them. Lost ones are never run, as when the store of the queue is
   * wiped: only sweeps find what is due. Those in the real queue are run by workers that the test starts (`startJobs`,
   * `startRoles`).
   */
  readonly jobs?: 'driven' | 'lost' | 'real queue';
  /** Whether no test has used the world before. */
  readonly fresh?: boolean;
  /** Whether no test has used the HTTP application before. */
  readonly newApp?: boolean;
  /** Whether the file closes the world: for `beforeAll`. */
  readonly keepOpen?: boolean;
}

interface StaffedComposition extends ReusableByFiles {
  readonly composition: Composition;
  readonly phone: Phone;
  reopen(): Promise<void>;
}

/**
 * Returns a new organization whose work is done by the test itself, in `runUntilIdle`, `advance` and `evaluate`: nothing
 * happens in between. Tests use one composition in turn, as with `world`.
 */
export async function staffedWorld(options: StaffedOptions = {}): Promise<StaffedWorld> {
  const { settings = {}, clock, jobs = 'driven', fresh = false, newApp = false, keepOpen = false } = options;
  const make = () => composeStaffed({ settings, clock, jobs: jobs === 'real queue' ? jobs : 'driven' });
  const areLost = jobs === 'lost';
  // Other files have other settings, mostly.
  const hasSettings = Object.keys(settings).length > 0;
  const key = `staffed ${JSON.stringify(settings)}`;
  if (fresh || jobs === 'real queue' || clock !== undefined || (keepOpen && hasSettings)) {
    const staffed = await make();
    if (!keepOpen) onTestFinished(staffed.close);
    return await openStaffed(staffed, areLost);
  }
  if (keepOpen) {
    const { item, giveBack } = await useForFile(key, make);
    return { ...(await openStaffed(item, areLost)), close: giveBack };
  }
  const use = hasSettings ? useInTurn : useInFiles;
  const staffed = await use(key, make);
  if (newApp) await staffed.reopen();
  return await openStaffed(staffed, areLost);
}

async function composeStaffed({
  settings,
  ...options
}: Parameters<typeof composeWorld>[0]): Promise<StaffedComposition> {
  let listening = '';
  const phone = await startPhone({
    accountSid: ACCOUNT_SID,
    authToken: AUTH_TOKEN,
    numbers: [{ e164: SERVICE_NUMBER, smsUrl: inboundSmsUrl(BASE_URL) }],
    publicUrlRewrite: (url) => url.replace(BASE_URL, listening),
  });
  const twilio = {
    twilioAccountSid: ACCOUNT_SID,
    twilioAuthToken: AUTH_TOKEN,
    twilioFrom: SERVICE_NUMBER,
    twilioApiBase: phone.url,
  };
  const composition = await composeWorld({ ...options, settings: { ...twilio, ...settings } });
  const listen = async (): Promise<void> => {
    if (composition.app.server.listening) return;
    listening = await composition.app.listen({ port: 0, host: '127.0.0.1' });
  };
  await listen();
  return {
    composition,
    phone,
    async renew() {
      await phone.settled();
      phone.clear();
      if (!(await composition.renew())) return false;
      await listen();
      return true;
    },
    async reopen() {
      await composition.reopen();
      await listen();
    },
    rest: () => composition.rest(),
    async close() {
      await composition.close();
      await phone.close();
    },
  };
}

async function openStaffed(
  { composition, phone, close }: StaffedComposition,
  areJobsLost: boolean,
): Promise<StaffedWorld> {
  const w = await openWorld(composition);
  const { queue } = composition;
  const runtime = rolesRuntime(w.context);
  const runUntilIdle =
    queue === null
      ? () => Promise.reject(new Error('with the real queue, workers do the work'))
      : runnerUntilIdle({ context: w.context, runtime, queue, phone, areJobsLost });

  const staff: StaffedWorld['staff'] = {
    team: () => givenTeam(w.context, w.orgId, 'Platform'),
    async teamOf(...names) {
      const teamId = await staff.team();
      const people: Responder[] = [];
      for (const name of names) people.push(await staff.responder(teamId, name));
      return [teamId, ...people] as never;
    },
    async responder(teamId, name) {
      const person = await w.given.user({ name, role: 'responder' });
      const phoneNumber = `+3161${String(randomBytes(4).readUInt32BE() % 10_000_000).padStart(7, '0')}`;
      const { userId, email, key } = person;
      const memberId = await givenMember(w.context, { teamId, userId, phone: phoneNumber });
      return { userId, memberId, name, phone: phoneNumber, email, key };
    },
    confirm: ({ userId, phone: number }) =>
      storesOf(w.context.db.session()).phoneNumbers.confirm(userId, number, w.clock.now()),
    policy: (teamId, steps, name = 'Wake somebody') => givenPolicy(w.context, { teamId, name, steps }),
    async alert(teamId, steps, { key = w.orgKey, serviceId: wanted, ...rule } = {}) {
      const serviceId = wanted ?? (await w.given.service({ key })).serviceId;
      const policyId = await staff.policy(teamId, steps);
      const ruleId = await givenRule(w.context, { serviceId, policyId, ...rule });
      return {
        serviceId,
        ruleId,
        policyId,
        async trigger(title = 'latency is 250 (> 100)') {
          return await inUnitOfWork(runtime, async (unit) => {
            const [active] = await unit.stores.activeRules.list('metric_threshold', { ruleId });
            if (active === undefined) throw new Error('the rule is not active');
            const cause = { kind: 'metric_threshold', exceptionGroupId: null, title, severity: 'error' } as const;
            const id = await openIncident(unit, active, { ...cause, details: {}, sentence: title });
            if (id === null) throw new Error('an incident of this rule is open already');
            return id;
          });
        },
      };
    },
  };

  return {
    ...w,
    close,
    phone,
    runtime,
    runUntilIdle,
    async advance(duration) {
      w.clock.advance(duration);
      await runUntilIdle();
    },
    async evaluate() {
      await evaluateRules(runtime);
      await runUntilIdle();
    },
    staff,
  };
}
