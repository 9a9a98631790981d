import { expect, onTestFinished, test } from 'vitest';

import { newId } from '#kernel/ids.ts';
import { silentLog } from '#kernel/log.ts';
import type { Database } from '#storage/postgres/database.ts';
import { storesOf } from '#modules/stores.ts';
import { runStorePoints } from '#test/kit/ingest_jobs.ts';
import { type StaffedWorld, staffedWorld } from '#test/kit/staffed_world.ts';
import { evaluateRules, SHORT_WINDOWS } from '#workers/evaluate_rules.ts';
import { startShardedJobs } from '#workers/sharded_jobs.ts';
import { type Happenings, happenings, hurry } from '#test/kit/when.ts';

const RULES = 24;

/** A worker process, as far as rules are concerned. */
interface Process {
  /** The rules that it evaluated last. */
  readonly share: ReadonlySet<string>;
  /** Cuts the process off: it reaches no store from now on, and says nothing to anybody. */
  kill(): void;
  stop(): Promise<void>;
}

function startProcess(w: StaffedWorld, shares: Happenings<void>): Process {
  let isDead = false;
  let share: ReadonlySet<string> = new Set();
  const alive = <Result>(work: () => Result): Result => {
    if (isDead) throw new Error('killed');
    return work();
  };
  const db: Database = {
    ...w.context.db,
    session: () => alive(() => w.context.db.session()),
    transaction: (work) => alive(() => w.context.db.transaction(work)),
  };
  const runtime = {
    ...w.runtime,
    db,
    rules: {
      evaluate: (...[questions, now]: Parameters<typeof w.runtime.rules.evaluate>) => {
        share = new Set(questions.map(({ ruleId }) => ruleId));
        shares.happen();
        return alive(() => w.runtime.rules.evaluate(questions, now));
      },
    },
  };
  const work = {
    name: 'evaluate_rules',
    everySeconds: 5,
    run: (shards: readonly number[] | null) => evaluateRules(runtime, SHORT_WINDOWS, shards),
  };
  const sharing = startShardedJobs({ db, clock: w.clock, log: silentLog, holder: newId('job') }, 'worker', [work]);
  onTestFinished(() => sharing.stop());
  return {
    get share() {
      return share;
    },
    kill: () => void (isDead = true),
    stop: () => sharing.stop(),
  };
}

/** Every rule is over its threshold. */
async function breached(w: StaffedWorld): Promise<Set<string>> {
  const { serviceId } = await w.given.service();
  const config = { metricName: 'metric_0', comparator: '>', threshold: 1, windowMinutes: 15 };
  const rule = { serviceId, name: 'Rule 0', kind: 'metric_threshold', config };
  const { ruleId } = await w.expectOk('create_alert_rule', rule);
  const others = Array.from({ length: RULES - 1 }, () => newId('rule'));
  await w.context.db.sql.run(
    `insert into alert_rules select (jsonb_populate_record(r, jsonb_build_object('id', other.id, 'name', 'Rule ' || nth,
       'config', r.config::jsonb || jsonb_build_object('metricName', 'metric_' || nth)))).*
     from alert_rules r, unnest($2::text[]) with ordinality as other(id, nth) where r.id = $1`,
    [ruleId, others],
  );
  const ruleIds = new Set([ruleId, ...others]);
  const points = Array.from({ length: RULES }, (_, index) => ({
    name: `metric_${index}`,
    at: w.clock.now(),
    value: 2,
  }));
  await runStorePoints(w.runtime, serviceId, points);
  return ruleIds;
}

/** Resolves once each has a share, no rule is in two, and none is left out. */
async function whenShared(
  evaluations: Happenings<void>,
  processes: readonly Process[],
  ruleIds: ReadonlySet<string>,
): Promise<void> {
  const shares = () => processes.map(({ share }) => share);
  const isShared = () => {
    const all = shares().flatMap((share) => [...share]);
    return shares().every(({ size }) => size > 0) && all.length === ruleIds.size && new Set(all).size === ruleIds.size;
  };
  await evaluations.hold(isShared);
}

test('rules are shared by live workers; those of one that dies or stops are taken over, and each incident opens once', async () => {
  const w = await staffedWorld({ settings: { incidentsPerService: 0 } });
  hurry();
  const ruleIds = await breached(w);
  const evaluations = happenings();
  const [first, second, third] = [
    startProcess(w, evaluations),
    startProcess(w, evaluations),
    startProcess(w, evaluations),
  ];
  await whenShared(evaluations, [first, second, third], ruleIds);
  const shares = [first, second, third].map(({ share }) => share);

  third.kill();
  w.clock.advance({ seconds: 2 });
  await whenShared(evaluations, [first, second], ruleIds);
  for (const [index, process] of [first, second].entries()) {
    // Nothing moved between those who live.
    expect(process.share.isSupersetOf(shares[index]!)).toBe(true);
  }

  await second.stop();
  await whenShared(evaluations, [first], ruleIds);
  const { incidents } = await w.expectOk('list_incidents');
  expect(incidents).toHaveLength(RULES);
  expect(new Set(incidents.map(({ ruleId }: { ruleId: string }) => ruleId))).toEqual(ruleIds);
});

test('many rules are evaluated in groups, each rule once, and a group that fails holds up no other', async () => {
  const w = await staffedWorld({ settings: { incidentsPerService: 0 } });
  const ruleIds = await breached(w);
  const groups: string[][] = [];
  const rules: Parameters<typeof evaluateRules>[0]['rules'] = {
    async evaluate(questions, now) {
      groups.push(questions.map(({ ruleId }) => ruleId));
      if (groups.length === 2) throw new Error('a group fails');
      return await w.runtime.rules.evaluate(questions, now);
    },
  };
  await expect(evaluateRules({ ...w.runtime, rules }, SHORT_WINDOWS, null, 5)).rejects.toThrow('a group fails');
  expect(groups.length).toBeGreaterThanOrEqual(RULES / 5);
  for (const group of groups) expect(group.length).toBeLessThanOrEqual(5);
  expect(groups.flat().toSorted()).toEqual([...ruleIds].toSorted());
  const { total } = await w.expectOk('list_incidents');
  expect(total).toBe(RULES - (groups[1]?.length ?? 0));
});

test('an incident that cannot be opened keeps no other from being resolved', async () => {
  const w = await staffedWorld();
  const { serviceId } = await w.given.service();
  for (const metricName of ['recovers', 'breaches']) {
    const config = { metricName, comparator: '>', threshold: 1, windowMinutes: 1 };
    await w.expectOk('create_alert_rule', { serviceId, name: metricName, kind: 'metric_threshold', config });
  }
  const send = async (name: string, value: number) =>
    await runStorePoints(w.runtime, serviceId, [{ name, at: w.clock.now(), value }]);
  await send('recovers', 2);
  await evaluateRules(w.runtime);
  w.clock.advance({ seconds: 61 });
  await send('recovers', 0);
  await evaluateRules(w.runtime);
  w.clock.advance({ seconds: 61 });
  await send('recovers', 0);
  await send('breaches', 2);
  let changes = 0;
  const transaction: Database['transaction'] = (work) => {
    changes += 1;
    return changes === 1 ? Promise.reject(new Error('not opened')) : w.context.db.transaction(work);
  };
  const runtime = { ...w.runtime, db: { ...w.context.db, transaction } };
  await expect(evaluateRules(runtime)).rejects.toThrow('not opened');
  const { incidents } = await w.expectOk('list_incidents', { serviceId });
  expect(incidents).toMatchObject([{ status: 'resolved' }]);
});

test('the shards of all rules together are all rules, and rules over one metric are of one shard', async () => {
  const w = await staffedWorld();
  const { serviceId } = await w.given.service();
  const make = async (metricName: string) => {
    const config = { metricName, comparator: '>', threshold: 1 };
    const rule = { serviceId, name: metricName, kind: 'metric_threshold', config };
    return (await w.expectOk('create_alert_rule', rule)).ruleId as string;
  };
  const [plain, selected, other] = [await make('cpu'), await make('cpu{host="a"}'), await make('memory')];
  const { activeRules } = storesOf(w.context.db.session());
  const found = new Map<string, number>();
  for (let shard = 0; shard < 1_024; shard += 64) {
    const shards = Array.from({ length: 64 }, (_, index) => shard + index);
    for (const { ruleId } of await activeRules.listMetricChecks(SHORT_WINDOWS, shards)) {
      expect(found.has(ruleId)).toBe(false);
      found.set(ruleId, shard);
    }
  }
  expect([...found.keys()].toSorted()).toEqual([plain, selected, other].toSorted());
  expect(found.get(selected)).toBe(found.get(plain));
});

test('all of a work is done as of when the slowest of its live members has done its share', async () => {
  const w = await staffedWorld();
  const { workers } = storesOf(w.context.db.session());
  const at = w.clock.now();
  const seconds = (count: number) => at.add({ seconds: count });
  const renew = (member: string, now = at) =>
    workers.renew({ works: ['evaluate_rules'], left: [] }, member, { now, aliveUntil: now.add({ seconds: 3 }) });
  const doneAt = async () => {
    const row = await w.context.db.sql.row<{ ms: number }>(
      `select extract(epoch from done_at) * 1000 as ms from leases where name = 'evaluate_rules'`,
    );
    return Number(row?.ms) - at.epochMilliseconds;
  };
  expect(await renew('a')).toEqual([]);
  expect(await renew('b')).toMatchObject([{ member: 'a', doneAt: null }]);
  await workers.setDone('evaluate_rules', 'a', seconds(1), seconds(1));
  expect(await doneAt()).toBe(0);
  await workers.setDone('evaluate_rules', 'b', seconds(2), seconds(2));
  expect(await doneAt()).toBe(1_000);
  // One that dies holds back nobody, and comes back as if it were new.
  expect(await renew('a', seconds(9))).toEqual([]);
  await workers.setDone('evaluate_rules', 'a', seconds(9), seconds(9));
  expect(await doneAt()).toBe(9_000);
  await renew('b', seconds(10));
  await workers.setDone('evaluate_rules', 'a', seconds(11), seconds(11));
  expect(await doneAt()).toBe(10_000);
  await workers.leave(['evaluate_rules'], 'b');
  await workers.setDone('evaluate_rules', 'a', seconds(12), seconds(12));
  expect(await doneAt()).toBe(12_000);
});
