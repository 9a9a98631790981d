import { fork } from 'node:child_process';
import { once } from 'node:events';
import type { AddressInfo } from 'node:net';
import path from 'node:path';

import { expect, onTestFinished, test } from 'vitest';

import { addEscalationPolicy } from '#modules/policies/operations/create_escalation_policy.ts';
import { countPages, isAllDone, PageWatch } from '#infra/bench/paging/pages.ts';
import { programService } from '#infra/embedded/services.ts';
import { supervise, type Supervised } from '#infra/embedded/supervisor.ts';
import type { ActiveRule } from '#modules/rules/store/active_rule_store.ts';
import { inUnitOfWork, storesOf } from '#modules/stores.ts';
import { fromEpochMilliseconds } from '#kernel/time.ts';
import { seeded } from '#infra/bench/seeded.ts';
import { runningClock } from '#test/kit/clock.ts';
import { pace } from '#test/kit/pace.ts';
import { memberCaller, runOperation } from '#test/kit/run_operation.ts';
import type { StepInput } from '#test/kit/given_rows.ts';
import { type StaffedWorld, staffedWorld } from '#test/kit/staffed_world.ts';
import { openIncident } from '#modules/incidents/open_incidents.ts';
import { inboundSmsUrl } from '#notify/twilio/client.ts';

/** Everything random here follows from it: `SEED=7 npx vitest run test/faults/pagers_killed.test.ts`. */
const SEED = Number(process.env['SEED'] ?? 20_261_121);
const INCIDENTS = 100;
const STEPS = ['anna', 'bram'] as const;
const CHANNELS = ['sms', 'call'] as const;
const ROUNDS = 2;
const PAGES = INCIDENTS * STEPS.length * CHANNELS.length * ROUNDS;

const PHONE_TOKEN = 'phones';
const PAGERS = 3;
const SPREAD_MS = 10_000;
const KILL_EVERY_MS = 500;
/** Least number of kills: each pager is up at the start, however long pagers take to start again. */
const KILLS_MIN = PAGERS;
const WITHHELD_PERCENT = 20;
/** Time that a provider takes to answer, so that kills strike during requests. */
const PROVIDER_MS = 40;

test(
  'each step of each round fires once and no page is lost though pagers are killed and jobs vanish',
  { timeout: 240_000 },
  async () => {
    const random = seeded(SEED);
    const w = await staffedWorld({ jobs: 'real queue', clock: runningClock() });
    await withholdJobs(w);
    const rules = await makeRules(w);
    const phoneUrl = await startPhoneProcess(w);
    const pagers = await startPagers(w, phoneUrl);

    const watch = new PageWatch(`${phoneUrl}/${PHONE_TOKEN}`);
    await openIncidents(w, rules, () => Date.now() + random() * SPREAD_MS);
    let kills = await killUntil(Date.now() + SPREAD_MS, pagers, random);
    await expect.poll(() => hasBegunAgain(w), { timeout: 90_000, interval: 200 }).toBe(true);
    kills += await killUntil(Date.now() + SPREAD_MS, pagers, random);
    expect(kills).toBeGreaterThanOrEqual(KILLS_MIN);
    await expect.poll(() => isAllDone(w.context.db), { timeout: 180_000, interval: 200 }).toBe(true);

    const outcome = { seed: SEED, kills, ...(await countPages(w.context.db, await watch.look())) };
    const wanted = {
      steps: INCIDENTS * STEPS.length * ROUNDS,
      stepsNotFired: 0,
      stepsFiredTwice: 0,
      pages: PAGES,
      lost: 0,
    };
    expect(outcome).toMatchObject(wanted);
    expect(outcome.duplicates, JSON.stringify(outcome)).toBeLessThanOrEqual(kills);
  },
);

/** Time in which rules are made and incidents opened before the hours begin. */
const PREPARED_MS = 30_000;
const WAITING = 40;

test(
  'incidents that wait for hours are paged once, and not before, though pagers are killed as they begin',
  { timeout: 240_000 },
  async () => {
    const random = seeded(SEED);
    const w = await staffedWorld({ jobs: 'real queue', clock: runningClock() });
    await withholdJobs(w);
    const phoneUrl = await startPhoneProcess(w);
    const pagers = await startPagers(w, phoneUrl);
    const beginMs = Math.ceil((Date.now() + PREPARED_MS) / 60_000) * 60_000;
    const rules = await makeRules(w, { hours: hoursFrom(beginMs) }, WAITING);
    const watch = new PageWatch(`${phoneUrl}/${PHONE_TOKEN}`);
    await openIncidents(w, rules, Date.now);
    expect(Date.now(), 'the incidents were opened before the hours').toBeLessThan(beginMs);

    await killUntil(beginMs - SPREAD_MS / 2, pagers, random);
    const kills = await killUntil(beginMs + SPREAD_MS, pagers, random);
    expect(kills).toBeGreaterThanOrEqual(KILLS_MIN);
    await expect.poll(() => isAllDone(w.context.db), { timeout: 180_000, interval: 200 }).toBe(true);

    const taken = await watch.look();
    const outcome = { seed: SEED, kills, ...(await countPages(w.context.db, taken)) };
    const steps = WAITING * STEPS.length;
    const wanted = { steps, stepsNotFired: 0, stepsFiredTwice: 0, pages: steps * CHANNELS.length, lost: 0 };
    expect(outcome).toMatchObject(wanted);
    expect(outcome.duplicates, JSON.stringify(outcome)).toBeLessThanOrEqual(kills);
    const first = Math.min(...[...taken.values()].flat().map(({ receivedAtMs }) => receivedAtMs));
    expect(first).toBeGreaterThanOrEqual(beginMs);
  },
);

/** Hours of an hour a day, by UTC; outside them incidents wait. */
function hoursFrom(beginMs: number) {
  const [from, to] = [beginMs, beginMs + 3_600_000].map((ms) => new Date(ms).toISOString().slice(11, 16));
  return { timezone: 'UTC', windows: [{ days: [1, 2, 3, 4, 5, 6, 7], from, to }], outside: 'hold', exemptFrom: null };
}

const FREEZES = 3;
const INCIDENTS_A_FREEZE = 5;
const FROZEN = 2;
/** Longest from a freeze until all that was being sent has been: 5 s, and 3 for a busy machine. */
const SENT_WITHIN_MS = 8_000;

test(
  'what two of three pagers were sending when they froze has left within seconds, once each',
  { timeout: 240_000 },
  async () => {
    const w = await staffedWorld({ jobs: 'real queue', clock: runningClock() });
    const rules = await makeRules(w);
    const phoneUrl = await startPhoneProcess(w, 400);
    const pagers = await startPagers(w, phoneUrl);
    const waits: number[] = [];
    for (let freeze = 0; freeze < FREEZES; freeze += 1) {
      await openIncidents(w, rules.slice(freeze * INCIDENTS_A_FREEZE, (freeze + 1) * INCIDENTS_A_FREEZE), Date.now);
      await expect.poll(() => count(w, `status = 'sending'`), { timeout: 30_000, interval: 20 }).toBeGreaterThan(2);
      const frozen = Array.from({ length: FROZEN }, (_, nth) => pagers[(freeze + nth) % pagers.length]!.pid!);
      for (const pid of frozen) process.kill(pid, 'SIGSTOP');
      const frozenAtMs = Date.now();
      await expect
        .poll(() => isSent(w, (freeze + 1) * INCIDENTS_A_FREEZE), { timeout: 60_000, interval: 50 })
        .toBe(true);
      waits.push(Date.now() - frozenAtMs);
      for (const pid of frozen) process.kill(pid, 'SIGCONT');
    }
    console.log(`all had been sent after a freeze, in ms: ${waits.join(' ')}`);
    expect(await isSent(w, FREEZES * INCIDENTS_A_FREEZE)).toBe(true);
    const pages = await countPages(w.context.db, await new PageWatch(`${phoneUrl}/${PHONE_TOKEN}`).look());
    expect(pages).toMatchObject({ stepsFiredTwice: 0, lost: 0, duplicates: 0 });
    expect(Math.max(...waits)).toBeLessThan(SENT_WITHIN_MS);
  },
);

/** Whether the pages of the first round of so many incidents are all in the log, and have been sent. */
async function isSent(w: StaffedWorld, incidents: number): Promise<boolean> {
  const ofRound = `kind = 'page' and step_index < ${STEPS.length}`;
  const all = await count(w, ofRound);
  const waiting = await count(w, `${ofRound} and status in ('queued', 'sending')`);
  return waiting === 0 && all === incidents * STEPS.length * CHANNELS.length;
}

async function count({ context }: StaffedWorld, which: string): Promise<number> {
  const text = `select count(*)::int as count from notifications where ${which}`;
  return (await context.db.sql.row<{ count: number }>(text))?.count ?? 0;
}

/** The provider in a process of its own: one that stands still while this process works would look slow to pagers. */
async function startPhoneProcess({ app, context }: StaffedWorld, byMs = PROVIDER_MS): Promise<string> {
  const { config } = context;
  const { port } = app.server.address() as AddressInfo;
  const service = programService('Phone simulator', {
    entry: path.join(import.meta.dirname, '../../infra/embedded/phone_simulator/main.ts'),
    log: path.join(config.dataDir, 'phone.log'),
    env: {
      PATH: process.env['PATH'],
      PHONE_ACCOUNT_SID: config.twilioAccountSid,
      PHONE_AUTH_TOKEN: config.twilioAuthToken,
      PHONE_TOKEN: PHONE_TOKEN,
      PHONE_NUMBER: config.twilioFrom,
      PHONE_SMS_URL: inboundSmsUrl(config.baseUrl),
      PHONE_CALLBACK_ORIGIN: `http://127.0.0.1:${port}`,
      PHONE_DELAY_MS: '0',
    },
  });
  const phone = await service.start(new AbortController().signal);
  onTestFinished(() => phone.stop());
  const slow = { kind: 'slow', byMs };
  const headers = { 'content-type': 'application/json' };
  const answer = await fetch(`${service.url}/${PHONE_TOKEN}/phone/api/faults`, {
    method: 'POST',
    headers,
    body: JSON.stringify(slow),
  });
  expect(answer.ok).toBe(true);
  return service.url;
}

/** A part of all jobs never reaches the queue, from any process. */
async function withholdJobs({ context }: StaffedWorld): Promise<void> {
  await context.db.sql.run(`
    create function withhold() returns trigger language plpgsql as $$ begin
      return case when abs(hashtext(new.payload::text)) % 100 < ${WITHHELD_PERCENT} then null else new end;
    end $$`);
  await context.db.sql.run('create trigger withhold before insert on outbox for each row execute function withhold()');
}

const AGAIN = { repeat: { times: ROUNDS - 1, pauseMinutes: 1 } };

/**
 * Rules with a policy each: its two steps are due at the same time, each pages one person on two channels, and unless
 * `details` say otherwise they begin again. Nobody gets so many messages that they would become a digest.
 */
async function makeRules(w: StaffedWorld, details: object = AGAIN, count = INCIDENTS): Promise<ActiveRule[]> {
  const teamId = await w.staff.team();
  const { serviceId } = await w.given.service();
  const caller = memberCaller(w.orgId, w.owner.userId, 'editor');
  for (let index = 0; index < count; index += 1) {
    const policy = { teamId, name: `Policy ${index}`, steps: await newSteps(w, teamId) };
    const { policyId } = await runOperation(w, addEscalationPolicy, caller, { ...policy, ...details });
    const config = { metricName: `metric_${index}`, comparator: '>', threshold: 1 };
    const rule = { serviceId, name: `Rule ${index}`, kind: 'metric_threshold', config, escalationPolicyId: policyId };
    await w.expectOk('create_alert_rule', rule);
  }
  const rules = await storesOf(w.context.db.session()).activeRules.list('metric_threshold');
  expect(rules).toHaveLength(count);
  return rules;
}

async function hasBegunAgain({ context }: StaffedWorld): Promise<boolean> {
  const text = `select count(*)::int as count from incident_steps where step_index >= $1 and state = 'fired'`;
  return ((await context.db.sql.row<{ count: number }>(text, [STEPS.length]))?.count ?? 0) > 0;
}

async function openIncidents(w: StaffedWorld, rules: readonly ActiveRule[], dueMs: () => number): Promise<void> {
  for (const rule of rules) {
    const cause = { kind: 'metric_threshold', exceptionGroupId: null, title: rule.name, severity: 'error' } as const;
    const triggeredAt = fromEpochMilliseconds(Math.round(dueMs()));
    const runtime = { ...w.runtime, clock: { now: () => triggeredAt }, onOutbox: () => {} };
    await inUnitOfWork(runtime, (unit) => openIncident(unit, rule, { ...cause, details: {}, sentence: 'a test' }));
  }
}

/** Each of people who are in no other. */
async function newSteps(w: StaffedWorld, teamId: string): Promise<StepInput[]> {
  const steps: StepInput[] = [];
  for (const name of STEPS) {
    const { userId } = await w.staff.responder(teamId, name);
    steps.push({ afterMinutes: 0, channels: CHANNELS, targetUserIds: [userId] });
  }
  return steps;
}

const TWILIO = 'twilio/lib/rest/api/v2010/account';
const LIBRARIES = [`${TWILIO}/message.js`, `${TWILIO}/call.js`, 'web-push', 'nodemailer'];

/** Adds to the word that a process is ready which of these libraries it has loaded. */
const TELL_LIBRARIES = `data:text/javascript,${encodeURIComponent(`
  import { registerHooks } from 'node:module';
  const names = ${JSON.stringify(LIBRARIES)};
  const loaded = new Set();
  registerHooks({
    load(url, context, next) {
      for (const name of names) if (url.includes('/node_modules/' + name)) loaded.add(name);
      return next(url, context);
    },
  });
  const send = process.send.bind(process);
  process.send = (said) => send({ ...said, loaded: names.filter((name) => loaded.has(name)) });
`)}`;

test('a pager is ready once it has loaded the libraries that send, so that no page waits for them', async () => {
  const w = await staffedWorld({ jobs: 'real queue', clock: runningClock() });
  // With an address of its own, the library loads more at once than for Twilio.
  const {
    entry,
    args,
    env: { TWILIO_API_BASE: _, ...env },
  } = pagerProgram(w, '');
  const mail = { SMTP_URL: 'smtp://127.0.0.1:9', MAIL_FROM: 'tocsin@example.com' };
  const pager = fork(entry, args, { env: { ...env, ...mail }, execArgv: ['--import', TELL_LIBRARIES] });
  onTestFinished(async () => {
    if (pager.exitCode === null && pager.kill('SIGKILL')) await once(pager, 'exit');
  });
  const [ready] = await once(pager, 'message');
  expect(ready).toEqual({ ready: true, loaded: LIBRARIES });
});

function pagerProgram({ context }: StaffedWorld, phoneUrl: string) {
  const { config } = context;
  return {
    entry: path.join(import.meta.dirname, '../../workers/main.ts'),
    args: ['pager'],
    log: path.join(config.dataDir, 'pagers.log'),
    env: {
      PATH: process.env['PATH'],
      NODE_COMPILE_CACHE: 'node_modules/.cache/node',
      DATA_DIR: config.dataDir,
      BASE_URL: config.baseUrl,
      APP_SECRET: config.appSecret,
      DATABASE_URL: config.databaseUrl,
      CLICKHOUSE_URL: config.clickhouseUrl,
      TWILIO_ACCOUNT_SID: config.twilioAccountSid,
      TWILIO_AUTH_TOKEN: config.twilioAuthToken,
      TWILIO_FROM: config.twilioFrom,
      TWILIO_API_BASE: phoneUrl,
      LOG_LEVEL: 'error',
    },
  };
}

async function startPagers(w: StaffedWorld, phoneUrl: string): Promise<Supervised[]> {
  const program = pagerProgram(w, phoneUrl);
  const atOnce = { firstDelayMs: 1, maxDelayMs: 1, healthyAfterMs: 0 };
  const pagers = Array.from({ length: PAGERS }, (_, index) =>
    supervise(programService(`Pager ${index}`, program), () => {}, atOnce),
  );
  onTestFinished(async () => {
    for (const { pid } of pagers) if (pid != null) process.kill(pid, 'SIGCONT');
    await Promise.all(pagers.map((pager) => pager.stop(1_000)));
  });
  await Promise.all(pagers.map(({ ready }) => ready));
  return pagers;
}

/** Returns how many were killed. */
async function killUntil(endMs: number, pagers: readonly Supervised[], random: () => number): Promise<number> {
  let kills = 0;
  for await (const _ of pace(() => random() * 2 * KILL_EVERY_MS)) {
    if (Date.now() >= endMs) return kills;
    const pid = pagers[Math.floor(random() * pagers.length)]?.pid;
    if (pid == null) continue;
    process.kill(pid, 'SIGKILL');
    kills += 1;
  }
  return kills;
}
