import path from 'node:path';

import { expect, onTestFinished, test } from 'vitest';

import { inUnitOfWork } from '#storage/postgres/unit_of_work.ts';
import { countPages, isAllDone, takenAmong } from '#infra/bench/paging/pages.ts';
import { programService } from '#infra/embedded/services.ts';
import { supervise, type Supervised } from '#infra/embedded/supervisor.ts';
import { storesOf } from '#storage/postgres/stores.ts';
import { seeded } from '#infra/bench/seeded.ts';
import { runningClock } from '#test/kit/clock.ts';
import { pace } from '#test/kit/pace.ts';
import { type StaffedWorld, staffedWorld, type StepInput } from '#test/kit/staffed_world.ts';
import { openIncident } from '#incidents/open_incident.ts';

/** Everything random here follows from it: `SEED=7 npx vitest run test/faults/pagers_killed.test.ts`. */
const SEED = Number(process.env['SEED'] ?? 20_261_121);
const INCIDENTS = 100;
const STEPS = ['anna', 'bram'] as const;
const CHANNELS = ['sms', 'call'] as const;
/** Nobody gets so many that they would become a digest. */
const MESSAGES_EACH = 3;
const PAGES = INCIDENTS * STEPS.length * CHANNELS.length;

const PAGERS = 3;
/** Time for the first pagers to start before the first timer is due. */
const HEAD_START_MS = 2_000;
const SPREAD_MS = 10_000;
const KILL_EVERY_MS = 500;
const WITHHELD_PERCENT = 20;
/** So long a provider takes to answer, so that kills strike while it is being asked. */
const PROVIDER_MS = 40;

test(
  'each step fires once and no page is lost though pagers are killed and jobs vanish',
  { timeout: 240_000 },
  async () => {
    const random = seeded(SEED);
    const w = await staffedWorld({ jobs: false, clock: runningClock() });
    w.phone.addFault({ kind: 'slow', byMs: PROVIDER_MS });
    await withholdJobs(w);
    const firstDueMs = Date.now() + HEAD_START_MS;
    await openIncidents(w, () => firstDueMs + random() * SPREAD_MS);
    const pagers = await startPagers(w);

    const kills = await killUntil(firstDueMs + SPREAD_MS, pagers, random);
    await expect.poll(() => isAllDone(w.context.db), { timeout: 180_000, interval: 200 }).toBe(true);

    const found = { seed: SEED, kills, ...(await countPages(w.context.db, takenAmong(w.phone.requests))) };
    const wanted = { steps: INCIDENTS * STEPS.length, stepsNotFired: 0, stepsFiredTwice: 0, pages: PAGES, lost: 0 };
    expect(found).toMatchObject(wanted);
    expect(found.duplicates, JSON.stringify(found)).toBeLessThanOrEqual(kills);
  },
);

/** A part of all jobs never reaches the queue, from any process. */
async function withholdJobs({ context }: StaffedWorld): Promise<void> {
  await context.db.sql.run(`
    create function withhold() returns trigger language plpgsql as $$ begin
      return case when abs(hashtext(new.payload::text)) % 100 < ${WITHHELD_PERCENT} then null else new end;
    end $$`);
  await context.db.sql.run('create trigger withhold before insert on outbox for each row execute function withhold()');
}

/** Every incident has two steps that are due at the same time, each pages one person on two channels. */
async function openIncidents(w: StaffedWorld, dueMs: () => number): Promise<void> {
  const teamId = await w.staff.team();
  const { serviceId } = await w.staff.alert(teamId, await newSteps(w, teamId));
  let policyId = '';
  for (let index = 1; index < INCIDENTS; index += 1) {
    if (index % MESSAGES_EACH === 1) {
      const policy = { teamId, name: `Policy ${index}`, steps: await newSteps(w, teamId) };
      ({ policyId } = await w.expectOk('create_escalation_policy', policy));
    }
    const config = { metricName: `metric_${index}`, comparator: '>', threshold: 1 };
    const rule = { serviceId, name: `Rule ${index}`, kind: 'metric_threshold', config, escalationPolicyId: policyId };
    await w.expectOk('create_alert_rule', rule);
  }
  const rules = await storesOf(w.context.db.session()).activeRules.list('metric_threshold');
  expect(rules).toHaveLength(INCIDENTS);
  for (const rule of rules) {
    const cause = { kind: 'metric_threshold', exceptionGroupId: null, title: rule.name, severity: 'error' } as const;
    const triggeredAt = w.clock.now().subtract({ milliseconds: Math.round(Date.now() + 60_000 - dueMs()) });
    const runtime = { ...w.runtime, clock: { now: () => triggeredAt }, onOutbox: () => {} };
    await inUnitOfWork(runtime, (unit) => openIncident(unit, rule, { ...cause, details: {}, sentence: 'a test' }));
  }
}

/** Each of people who are in no other. */
async function newSteps(w: StaffedWorld, teamId: string): Promise<StepInput[]> {
  const steps: StepInput[] = [];
  for (const name of STEPS) {
    const { userId } = await w.staff.responder(teamId, name);
    steps.push({ afterMinutes: 1, channels: CHANNELS, targetUserIds: [userId] });
  }
  return steps;
}

async function startPagers({ context }: StaffedWorld): Promise<Supervised[]> {
  const { config } = context;
  const program = {
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
      TWILIO_API_BASE: config.twilioApiBase,
      LOG_LEVEL: 'error',
    },
  };
  const atOnce = { firstDelayMs: 1, maxDelayMs: 1, healthyAfterMs: 0 };
  const pagers = Array.from({ length: PAGERS }, (_, index) =>
    supervise(programService(`Pager ${index}`, program), () => {}, atOnce),
  );
  onTestFinished(async () => void (await Promise.all(pagers.map((pager) => pager.stop(1_000)))));
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
