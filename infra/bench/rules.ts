import { setTimeout as delay } from 'node:timers/promises';

import { type Id, newId } from '#kernel/ids.ts';
import { silentLog } from '#kernel/log.ts';
import { fromEpochMilliseconds, systemClock, type Temporal } from '#kernel/time.ts';
import { RuleReader } from '#modules/rules/store/rule_reader.ts';
import { storesOf } from '#modules/stores.ts';
import { workerRuntime } from '#workers/worker_role.ts';
import { type EvaluationRuntime, evaluateRules, LONG_WINDOWS, SHORT_WINDOWS } from '#workers/evaluate_rules.ts';
import { type Shards, startShardedJobs } from '#workers/sharded_jobs.ts';

import { count, duration, ratio, spreadCells, spreadOf } from './figures.ts';
import { type Bench, printInputs, printTable, timed, withFolder } from './harness.ts';
import { type History, SERIES, withHistory } from './metrics/history.ts';
import {
  evaluateByPrometheus,
  makeRules,
  prometheusVersion,
  RULE_SHARES,
  THRESHOLD,
} from '#infra/bench/metrics/prometheus.ts';

const RULES = 10_000;
const CYCLES = 20;
const WARM_UP_CYCLES = 25;
const OPENED = 200;
const WORKERS = 3;
const WORKERS_MS = 21_000;

interface Cycle {
  readonly name: string;
  readonly p50: number;
}

const KINDS = [
  ['every 5 s: up to 15 min', SHORT_WINDOWS, 5_000],
  ['every 12 s: longer', LONG_WINDOWS, 12_000],
] as const;

export const rules: Bench = {
  name: 'rules',
  about:
    'one cycle of the rule evaluator over 100 million points (goals: 10,000 rules in under 0.5 s a cycle; windows up to ' +
    '15 min in 0.3 times what Prometheus takes, longer ones no slower)',
  run: () =>
    withHistory(async (history) => {
      printInputs({
        ...history.inputs,
        rules: RULE_SHARES,
        'between cycles': `points of as many seconds arrive, ${count(SERIES / 15)} a second`,
      });
      const time = new Time(history);
      const cycles = await measureCycles(time);
      await besidePrometheus(cycles);
      printTable([await byWorkers(time)]);
      printTable([await oneByOne(time), await opening(time)]);
    }),
};

/** The history goes on as the clock does. */
class Time {
  readonly history: History;
  #nowMs: number;

  constructor(history: History) {
    this.history = history;
    this.#nowMs = history.now.epochMilliseconds;
  }

  now(): Temporal.Instant {
    return fromEpochMilliseconds(this.#nowMs);
  }

  async pass(ms: number): Promise<void> {
    await this.history.continueFor(this.#nowMs, this.#nowMs + ms);
    this.#nowMs += ms;
  }

  /** A worker that has nothing in memory yet. */
  startWorker(): EvaluationRuntime {
    return { ...workerRuntime(this.history.context), clock: { now: () => this.now() } };
  }
}

async function measureCycles(time: Time): Promise<Cycle[]> {
  const figures: Record<string, string>[] = [];
  const starts: Record<string, string>[] = [];
  const cycles: Cycle[] = [];
  for (const wanted of [RULES / 10, RULES]) {
    await insertRules(time.history, wanted);
    const worker = watched(time.startWorker());
    for (const [name, windows, everyMs] of KINDS) {
      const { first, memory } = await warmUp(worker, windows);
      const { row, p50 } = await cycle(time, worker, windows, everyMs);
      const all = { 'of all rules': count(wanted), windows: name };
      figures.push({ ...all, ...row });
      starts.push({
        ...all,
        'first cycle after a start': duration(first),
        'cycles until all is in memory': count(memory),
      });
      if (wanted === RULES) cycles.push({ name, p50 });
    }
  }
  printTable(figures);
  printTable(starts);
  return cycles;
}

interface Watched {
  readonly runtime: EvaluationRuntime;
  readonly storeMs: number[];
}

function watched(runtime: EvaluationRuntime): Watched {
  const storeMs: number[] = [];
  return {
    storeMs,
    runtime: {
      ...runtime,
      rules: {
        async evaluate(questions, now) {
          const began = performance.now();
          const answers = await runtime.rules.evaluate(questions, now);
          storeMs.push(performance.now() - began);
          if (answers.values.size !== questions.length) throw new Error('not all rules were evaluated');
          return answers;
        },
      },
    },
  };
}

/** A worker reads its points little by little: until then it asks the store for the rest. */
async function warmUp({ runtime }: Watched, windows: typeof SHORT_WINDOWS): Promise<{ first: number; memory: number }> {
  const samples = await timed(() => evaluateRules(runtime, windows), { times: WARM_UP_CYCLES });
  const least = Math.min(...samples);
  return { first: samples[0] ?? 0, memory: samples.findIndex((ms) => ms < 1.5 * least) };
}

/** No rule is breached, as is usual: this measures the evaluation alone. */
async function cycle(
  time: Time,
  { runtime, storeMs }: Watched,
  windows: typeof SHORT_WINDOWS,
  everyMs: number,
): Promise<{ row: Record<string, string>; p50: number }> {
  storeMs.length = 0;
  const samples: number[] = [];
  for (let index = 0; index < CYCLES; index += 1) {
    await time.pass(everyMs);
    samples.push(...(await timed(() => evaluateRules(runtime, windows), { times: 1 })));
  }
  const spread = spreadOf(samples);
  const inStore = spreadOf(storeMs).p50;
  const rules = await storesOf(runtime.db.session()).activeRules.listMetricChecks(windows);
  const row = {
    rules: count(rules.length),
    ...spreadCells(spread),
    'points and values': duration(inStore),
    'the rest': duration(spread.p50 - inStore),
  };
  return { row, p50: spread.p50 };
}

/** Prometheus, on the same rules and series as far back as they look. */
async function besidePrometheus(cycles: readonly Cycle[]): Promise<void> {
  if (prometheusVersion() === null) {
    console.log('  Prometheus’s rule manager is left out: the program prometheus is not installed\n');
    return;
  }
  const prometheus = await withFolder((folder) => evaluateByPrometheus(folder, makeRules(RULES)));
  const prometheusMs = [prometheus.shortMs, prometheus.longMs];
  printTable(
    cycles.map(({ name, p50 }, index) => ({
      'beside Prometheus': name,
      'Tocsin p50': duration(p50),
      [`Prometheus ${prometheus.version}, ${count(prometheus.points)} points in memory`]: duration(
        prometheusMs[index] ?? 0,
      ),
      'of Prometheus': ratio(p50, prometheusMs[index] ?? 0),
    })),
  );
}

/** Several workers share the rules, as in production; each evaluates its shards, and has their points in memory. */
async function byWorkers(time: Time): Promise<Record<string, string>> {
  const { db } = time.history.context;
  const began: number[] = [];
  const tookMs: number[] = [];
  const workers = new Set<number>();
  let underWay = 0;
  let atOnce = 0;
  const tickers = Array.from({ length: WORKERS }, (_, worker) => {
    const runtime = time.startWorker();
    const run = async (shards: Shards): Promise<void> => {
      const beganAt = performance.now();
      began.push(beganAt);
      workers.add(worker);
      underWay += 1;
      atOnce = Math.max(atOnce, underWay);
      await evaluateRules(runtime, SHORT_WINDOWS, shards);
      underWay -= 1;
      tookMs.push(performance.now() - beganAt);
    };
    const options = { db, clock: systemClock, log: silentLog, holder: newId('job') };
    return startShardedJobs(options, 'worker', [{ name: 'evaluate_rules', everySeconds: 5, run }]);
  });
  await delay(WORKERS_MS);
  await Promise.all(tickers.map((ticker) => ticker.stop()));
  const gaps = began.slice(1).map((at, index) => at - (began[index] ?? 0));
  return {
    workers: `${WORKERS} for ${duration(WORKERS_MS)}`,
    evaluations: count(began.length),
    'by so many of them': count(workers.size),
    'at the same time at most': count(atOnce),
    'a share, p50': duration(spreadOf(tookMs).p50),
    'from one to the next': gaps.length === 0 ? '–' : duration(spreadOf(gaps).p50),
  };
}

/** The cost of one query per rule. */
async function oneByOne(time: Time): Promise<Record<string, string>> {
  const { db, clickhouse } = time.history.context;
  const reader = new RuleReader(clickhouse);
  const checks = await storesOf(db.session()).activeRules.listMetricChecks({ min: 1, max: 10_080 });
  const now = time.now();
  const keptSince = now.subtract({ hours: 720 });
  const samples = await timed(
    async (index) => {
      const check = checks[(index * 97) % checks.length];
      if (check === undefined) throw new Error('there are no rules');
      const { ruleId, serviceId, config } = check;
      await reader.evaluate([{ ruleId, serviceId, ...config, keptSince }], now);
    },
    { times: 100, secondsMax: 10 },
  );
  const { p50 } = spreadOf(samples);
  return {
    what: `for comparison: a query for each of ${count(RULES)} rules`,
    each: duration(p50),
    all: duration(p50 * RULES),
  };
}

/** Many rules are breached at once, and each opens an incident in its own transaction. */
async function opening(time: Time): Promise<Record<string, string>> {
  const { db } = time.history.context;
  await db.sql.run(
    `update alert_rules set config = (config::jsonb || '{"threshold": -1}')::json
     where id in (select id from alert_rules order by id limit $1)`,
    [OPENED],
  );
  const runtime = time.startWorker();
  const [took = 0] = await timed(() => evaluateRules(runtime), { times: 1 });
  const row = await db.sql.row<{ opened: number }>('select count(*) as opened from incidents');
  const opened = Math.max(1, row?.opened ?? 0);
  return {
    what: `a cycle of all that opens ${count(opened)} incidents, after a start`,
    each: duration(took / opened),
    all: duration(took),
  };
}

/** Adds rules until there are this many. */
async function insertRules({ context, services }: History, wanted: number): Promise<void> {
  const made = makeRules(wanted).map(({ service, metric, host, windowMinutes, aggregation }) => ({
    id: newId('rule'),
    service_id: services[service] satisfies Id<'service'> | undefined,
    config: {
      metricName: host === null ? metric : `${metric}{host=~"${host}"}`,
      comparator: '>',
      threshold: THRESHOLD,
      windowMinutes,
      aggregation,
    },
  }));
  await context.db.sql.run('delete from alert_rules');
  await context.db.sql.run(
    `insert into alert_rules (id, org_id, service_id, name, kind, config, enabled, created_at, updated_at)
     select r->>'id', s.org_id, s.id, 'rule', 'metric_threshold', r->'config', true, now(), now()
     from json_array_elements($1::json) r join services s on s.id = r->>'service_id'`,
    [JSON.stringify(made)],
  );
}
