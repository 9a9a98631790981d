import { setTimeout as delay } from 'node:timers/promises';

import { type Id, newId } from '#kernel/ids.ts';
import { silentLog } from '#kernel/log.ts';
import { systemClock, type Temporal } from '#kernel/time.ts';
import type { Database } from '#storage/postgres/database.ts';
import { storesOf } from '#storage/postgres/stores.ts';
import { workerRuntime } from '#workers/worker_role.ts';
import { type EvaluationRuntime, evaluateRules, LONG_WINDOWS, SHORT_WINDOWS } from '#workers/evaluate_rules.ts';
import { type Parts, startSharing } from '#workers/shared_work.ts';

import { count, duration, ratio, spreadCells, spreadOf } from './figures.ts';
import { type Bench, printInputs, printTable, timed, withFolder } from './harness.ts';
import { type History, withHistory } from './metrics/history.ts';
import { prometheusVersion } from './metrics/prometheus.ts';
import { evaluateByPrometheus } from './metrics/prometheus_rules.ts';
import { makeRules, RULE_SHARES, THRESHOLD } from './metrics/rule_set.ts';

const RULES = 10_000;
const CYCLES = 20;
const CYCLE_SECONDS_MAX = 25;
const OPENED = 200;
const WORKERS = 3;
const WORKERS_MS = 21_000;

interface Cycle {
  readonly name: string;
  readonly p50: number;
}

export const rules: Bench = {
  name: 'rules',
  about: 'one cycle of the rule evaluator over 100 million points (goal: 10,000 rules in under 1 s a cycle)',
  run: () =>
    withHistory(async (history) => {
      printInputs({ ...history.inputs, rules: RULE_SHARES });
      const runtime = { ...workerRuntime(history.context), clock: { now: () => history.now } };
      const cycles = await measureCycles(runtime, history);
      await besidePrometheus(cycles);
      printTable([await byWorkers(runtime, history.context.db)]);
      printTable([await oneByOne(runtime, history.now), await opening(runtime, history.context.db)]);
    }),
};

/** Returns those of all rules. */
async function measureCycles(runtime: EvaluationRuntime, history: History): Promise<Cycle[]> {
  const figures: Record<string, string>[] = [];
  const cycles: Cycle[] = [];
  for (const wanted of [RULES / 10, RULES]) {
    await insertRules(history, wanted);
    for (const [name, windows] of [
      ['every 5 s: up to 15 min', SHORT_WINDOWS],
      ['every 12 s: longer', LONG_WINDOWS],
    ] as const) {
      const { row, p50 } = await cycle(runtime, windows);
      figures.push({ 'of all rules': count(wanted), windows: name, ...row });
      if (wanted === RULES) cycles.push({ name, p50 });
    }
  }
  printTable(figures);
  return cycles;
}

/** No rule is breached, as is usual: this measures the evaluation alone. */
async function cycle(
  runtime: EvaluationRuntime,
  windows: typeof SHORT_WINDOWS,
): Promise<{ row: Record<string, string>; p50: number }> {
  const storeMs: number[] = [];
  let evaluated = 0;
  const watched: EvaluationRuntime = {
    ...runtime,
    rules: {
      async evaluate(questions, now) {
        const began = performance.now();
        const found = await runtime.rules.evaluate(questions, now);
        storeMs.push(performance.now() - began);
        evaluated = found.values.size;
        if (evaluated !== questions.length) throw new Error('not all rules were evaluated');
        return found;
      },
    },
  };
  await timed(() => evaluateRules(watched, windows), { times: 2 });
  storeMs.length = 0;
  const options = { times: CYCLES, secondsMax: CYCLE_SECONDS_MAX };
  const spread = spreadOf(await timed(() => evaluateRules(watched, windows), options));
  const inStore = spreadOf(storeMs).p50;
  const row = {
    rules: count(evaluated),
    ...spreadCells(spread),
    'asking ClickHouse': duration(inStore),
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

/** Several workers share the rules, as in production; each evaluates its part. */
async function byWorkers(runtime: EvaluationRuntime, db: Database): Promise<Record<string, string>> {
  const began: number[] = [];
  const workers = new Set<number>();
  let underWay = 0;
  let atOnce = 0;
  const tickers = Array.from({ length: WORKERS }, (_, worker) => {
    const run = async (parts: Parts): Promise<void> => {
      began.push(performance.now());
      workers.add(worker);
      underWay += 1;
      atOnce = Math.max(atOnce, underWay);
      await evaluateRules(runtime, SHORT_WINDOWS, parts);
      underWay -= 1;
    };
    const options = { db, clock: systemClock, log: silentLog, holder: newId('job') };
    return startSharing(options, 'worker', [{ name: 'evaluate_rules', everySeconds: 5, run }]);
  });
  await delay(WORKERS_MS);
  await Promise.all(tickers.map((ticker) => ticker.stop()));
  const gaps = began.slice(1).map((at, index) => at - (began[index] ?? 0));
  return {
    workers: `${WORKERS} for ${duration(WORKERS_MS)}`,
    evaluations: count(began.length),
    'by so many of them': count(workers.size),
    'at the same time at most': count(atOnce),
    'from one to the next': gaps.length === 0 ? '–' : duration(spreadOf(gaps).p50),
  };
}

/** The cost of one query per rule. */
async function oneByOne(runtime: EvaluationRuntime, now: Temporal.Instant): Promise<Record<string, string>> {
  const checks = await storesOf(runtime.db.session()).activeRules.listMetricChecks({ min: 1, max: 10_080 });
  const keptSince = now.subtract({ hours: 720 });
  const samples = await timed(
    async (index) => {
      const check = checks[(index * 97) % checks.length];
      if (check === undefined) throw new Error('there are no rules');
      await runtime.rules.evaluate([{ ...check, ...check.config, keptSince }], now);
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
async function opening(runtime: EvaluationRuntime, db: Database): Promise<Record<string, string>> {
  await db.sql.run(
    `update alert_rules set config = (config::jsonb || '{"threshold": -1}')::json
     where id in (select id from alert_rules order by id limit $1)`,
    [OPENED],
  );
  const [took = 0] = await timed(() => evaluateRules(runtime), { times: 1 });
  const found = await db.sql.row<{ opened: number }>('select count(*) as opened from incidents');
  const opened = Math.max(1, found?.opened ?? 0);
  return {
    what: `a cycle of all that opens ${count(opened)} incidents`,
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
