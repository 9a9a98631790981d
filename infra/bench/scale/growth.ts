import { setTimeout as delay } from 'node:timers/promises';

import { createClient } from '@clickhouse/client';

import { connect } from '#infra/demo/client.ts';
import { type Database, openDatabase } from '#storage/postgres/database.ts';

import { count, duration, megabytes, percent, ratio, spreadOf } from '#infra/bench/figures.ts';
import { printInputs, printTable, timed } from '#infra/bench/harness.ts';
import { countProcessorBelow, residentTogether, useBelow } from '#infra/bench/paging/processes.ts';
import type { Fleet } from './fleet.ts';

const SERIES = Number(process.env['BENCH_SERIES'] ?? 1_000_000);
const OPEN_INCIDENTS = Number(process.env['BENCH_INCIDENTS'] ?? 100_000);
/** Length of the longest list: from here on costs grow with stored rows, not with the answer. */
const OF_FULL_LISTS = 5_000;
const BATCH = 20_000;
const SERIES_OF_SERVICE = 200_000;
const IDLE_MS = 15_000;
const TIMES = 20;
const GIVEN_UP_AFTER_MS = 600_000;
/** Memory is told after each of these parts of the series. */
const PARTS = 10;

interface Sample {
  readonly resident: ReadonlyMap<string, number>;
  readonly idle: number;
  readonly questions: ReadonlyMap<string, number>;
  readonly disk: ReadonlyMap<string, number>;
}

interface Setting {
  readonly fleet: Fleet;
  readonly db: Database;
  readonly client: ReturnType<typeof connect>;
  readonly serviceId: string;
  readonly ruleId: string;
}

/** Measures how costs grow with series and with open incidents, with one process of each role. */
export async function measureGrowth(fleet: Fleet): Promise<void> {
  for (const role of ['api', 'worker', 'pager'] as const) {
    // Processes that have done nothing yet, so that what they hold is what is measured.
    await fleet.scaleTo(role, 0);
    await fleet.scaleTo(role, 1);
  }
  printInputs({
    series: `${count(SERIES)} new ones of one minute, by the API (BENCH_SERIES=10000000 for ten million)`,
    rules: `${count(OPEN_INCIDENTS)}, over 5,000 metrics without points`,
    'open incidents': `${count(OPEN_INCIDENTS)}, one of each of these rules (BENCH_INCIDENTS=0 leaves rules and incidents out)`,
    questions: `${TIMES} times each, the median`,
    idle: `processor time of all processes while nothing is sent, over ${IDLE_MS / 1_000} s`,
  });
  const db = await openDatabase({ url: fleet.stores.databaseUrl, poolMax: 2 });
  const setting = await prepare(fleet, db);
  try {
    const before = await sample(setting);
    const memory = watchMemory();
    const tookMs = await sendSeries(setting, memory.mark);
    const peak = memory.stop();
    printTable([{ what: `${count(SERIES)} series taken and stored`, figure: `${count(SERIES / (tookMs / 1_000))}/s` }]);
    printTable([
      {
        'the most memory while series were taken, looked at each second': 'API and worker together, at one time',
        figure: megabytes(peak.together),
      },
      {
        'the most memory while series were taken, looked at each second': 'the same, with what both map counted once',
        figure: megabytes(peak.shared),
      },
      ...[...peak.each].map(([name, bytes]) => ({
        'the most memory while series were taken, looked at each second': name,
        figure: megabytes(bytes),
      })),
    ]);
    const withSeries = await sample(setting);
    if (OPEN_INCIDENTS === 0) {
      print([
        ['before', before],
        [`${count(SERIES)} series`, withSeries],
      ]);
      return;
    }
    await createRules(setting, 1, OF_FULL_LISTS);
    await openIncidents(setting, 1, OF_FULL_LISTS);
    const withFullLists = await sample(setting);
    await createRules(setting, OF_FULL_LISTS + 1, OPEN_INCIDENTS);
    const withRules = await sample(setting);
    await openIncidents(setting, OF_FULL_LISTS + 1, OPEN_INCIDENTS);
    const withIncidents = await sample(setting);
    print([
      ['before', before],
      [`${count(SERIES)} series`, withSeries],
      [`and ${count(OF_FULL_LISTS)} rules and incidents`, withFullLists],
      [`${count(OPEN_INCIDENTS)} rules`, withRules],
      [`${count(OPEN_INCIDENTS)} open incidents`, withIncidents],
    ]);
  } finally {
    await db.close();
  }
}

interface Memory {
  /** Prints the most since the last mark. */
  readonly mark: (series: number) => void;
  stop(): { readonly together: number; readonly shared: number; readonly each: ReadonlyMap<string, number> };
}

const OWN = ['API', 'Worker'];

/** All that is resident, files and what processes share included; looked at each second. */
function watchMemory(): Memory {
  const each = new Map<string, number>();
  let together = 0;
  let shared = 0;
  let lately = new Map<string, number>();
  const began = performance.now();
  const timer = setInterval(() => {
    const uses = useBelow(process.pid);
    let own = 0;
    for (const { name, residentBytes } of uses) {
      each.set(name, Math.max(each.get(name) ?? 0, residentBytes));
      lately.set(name, Math.max(lately.get(name) ?? 0, residentBytes));
      if (OWN.includes(name)) own += residentBytes;
    }
    shared = Math.max(shared, residentTogether(process.pid, OWN));
    together = Math.max(together, own);
    lately.set('both', Math.max(lately.get('both') ?? 0, own));
  }, 1_000);
  return {
    mark(series) {
      const most = ['API', 'Worker', 'both', 'PostgreSQL', 'ClickHouse'].map(
        (name) => `${name} ${megabytes(lately.get(name) ?? 0)}`,
      );
      const after = duration(performance.now() - began);
      console.log(`  ${count(series)} series after ${after}, resident at most: ${most.join(', ')}`);
      lately = new Map();
    },
    stop() {
      clearInterval(timer);
      return { together, shared, each };
    },
  };
}

async function prepare(fleet: Fleet, db: Database): Promise<Setting> {
  const baseUrl = fleet.of('api')[0]?.url ?? '';
  const client = connect({ ...fleet.firstRun(), baseUrl, phoneUrl: fleet.phone.url, stop: async () => {} });
  const { serviceId, ingestionKey } = await newService(client, 'asked');
  const config = { metricName: 'asked', comparator: '>', threshold: 1_000, windowMinutes: 5 };
  const rule = { serviceId, name: 'asked', kind: 'metric_threshold', config };
  const { ruleId } = await client.action<{ ruleId: string }>('create_alert_rule', rule);
  for (let index = 0; index < 20; index += 1) await client.sendMetric(ingestionKey, 'asked', index);
  return { fleet, db, client, serviceId, ruleId };
}

async function newService(client: Setting['client'], name: string) {
  const service = await client.action<{ serviceId: string; ingestionKey: string }>('create_service', { name });
  for (const capability of ['metrics', 'exceptions', 'oncall']) {
    await client.action('enable_capability', { serviceId: service.serviceId, capability });
  }
  return service;
}

/** Each series has one point, of a metric of a thousand hosts. */
async function sendSeries({ fleet, client, db }: Setting, mark: Memory['mark']): Promise<number> {
  const url = `${fleet.of('api')[0]?.url}/api/ingest/metrics`;
  let ingestionKey = '';
  const began = performance.now();
  for (let sent = 0; sent < SERIES; sent += BATCH) {
    if (sent % SERIES_OF_SERVICE === 0) ({ ingestionKey } = await newService(client, `series from ${sent}`));
    const points = Array.from({ length: Math.min(BATCH, SERIES - sent) }, (_, index) => {
      const series = sent + index;
      const labels = { host: `host-${series % 1_000}`, number: String(series) };
      return JSON.stringify({ name: `metric_${Math.floor(series / 1_000) % 200}`, value: series, labels });
    });
    const headers = { authorization: `Bearer ${ingestionKey}`, 'content-type': 'application/x-ndjson' };
    const body = points.join('\n');
    for (;;) {
      const answer = await fetch(url, { method: 'POST', headers, body });
      await answer.text();
      if (answer.ok) break;
      if (answer.status !== 429 && answer.status !== 503)
        throw new Error(`a request was answered with ${answer.status}`);
      await delay(200);
    }
    const taken = Math.min(SERIES, sent + BATCH);
    if (Math.floor((taken * PARTS) / SERIES) > Math.floor((sent * PARTS) / SERIES)) mark(taken);
  }
  const deadline = performance.now() + GIVEN_UP_AFTER_MS;
  while ((await db.sql.row('select 1 from durable_jobs limit 1')) !== null) {
    if (performance.now() > deadline) throw new Error('the series were not stored in time');
    await delay(100);
  }
  return performance.now() - began;
}

async function createRules({ db, serviceId }: Setting, from: number, to: number): Promise<void> {
  await db.sql.run(
    `insert into alert_rules (id, org_id, service_id, name, kind, config, enabled, created_at, updated_at)
     select 'rule_' || lpad(n::text, 26, '0'), org_id, service_id, 'many ' || n, kind,
       jsonb_set(config::jsonb, '{metricName}', to_jsonb('many_' || n % 5000))::json, true, now(), now()
     from alert_rules, generate_series(${from}, ${to}) n where service_id = $1 and name = 'asked'`,
    [serviceId],
  );
  await db.sql.run('vacuum analyze alert_rules');
}

/** Opens incidents as an outage of everything does: each rule and step has fired, and nobody has answered. */
async function openIncidents({ db, serviceId, fleet }: Setting, from: number, to: number): Promise<void> {
  await db.sql.run(
    `insert into incidents (id, org_id, service_id, rule_id, kind, dedup_key, title, severity, details, steps, status,
       triggered_at, counted_at, created_at, updated_at)
     select 'incident_' || lpad(n::text, 26, '0'), $1, $2, 'rule_' || lpad(n::text, 26, '0'), 'metric_threshold',
       'rule_' || lpad(n::text, 26, '0'), 'many ' || n || ' is above 1000', 'error',
       '{"metricName":"many","comparator":">","threshold":1000,"value":1001,"windowMinutes":5,"aggregation":"avg"}', '[]',
       'triggered', at, at, at, at
     from generate_series(${from}, ${to}) n, lateral (select now() - make_interval(secs => n % 3600)) t(at)`,
    [fleet.firstRun().organizationId, serviceId],
  );
  await db.sql.run('vacuum analyze incidents');
}

async function sample({ fleet, db, client, serviceId, ruleId }: Setting): Promise<Sample> {
  await delay(5_000);
  const spent = countProcessorBelow(process.pid);
  await delay(IDLE_MS);
  const idle = [...spent()].filter(([name]) => !name.startsWith('Supervisor')).reduce((sum, [, ms]) => sum + ms, 0);
  const ask = async (name: string, input: object): Promise<number> =>
    spreadOf(await timed(() => client.action(name, input), { times: TIMES, secondsMax: 20 })).p50;
  const questions = new Map([
    ['query_metric, of one series', await ask('query_metric', { serviceId, metricName: 'asked' })],
    ['list_metric_names, of one service', await ask('list_metric_names', { serviceId })],
    ['list_services', await ask('list_services', {})],
    ['list_incidents, the first page', await ask('list_incidents', { serviceId })],
    ['update_alert_rule', await ask('update_alert_rule', { ruleId, enabled: true })],
  ]);
  const resident = new Map(
    useBelow(process.pid)
      .filter(({ name }) => !name.startsWith('Supervisor'))
      .map(({ name, ownBytes }) => [name, ownBytes]),
  );
  return { resident, idle, questions, disk: await diskOf(fleet, db) };
}

async function diskOf({ stores }: Fleet, { sql }: Database): Promise<ReadonlyMap<string, number>> {
  const row = await sql.row<{ bytes: number }>('select pg_database_size(current_database())::float8 as bytes');
  const clickhouse = createClient({ url: stores.clickhouseUrl });
  try {
    const query = `SELECT toFloat64(sum(bytes_on_disk)) FROM system.parts WHERE active AND database = currentDatabase()`;
    const [[bytes] = [0]] = await (await clickhouse.query({ query, format: 'JSONCompactEachRow' })).json<[number]>();
    return new Map([
      ['PostgreSQL', row?.bytes ?? 0],
      ['ClickHouse', bytes],
    ]);
  } finally {
    await clickhouse.close();
  }
}

function print(samples: readonly (readonly [name: string, sample: Sample])[]): void {
  const [[, first] = ['', null]] = samples;
  if (first === null) return;
  const row = (what: string, of: (one: Sample) => number, write: (value: number) => string) => ({
    what,
    ...Object.fromEntries(samples.map(([name, one]) => [name, write(of(one))])),
    'grows since lists are full': ratio(of(samples.at(-1)?.[1] ?? first), of(samples.at(2)?.[1] ?? first)),
  });
  printTable([
    ...[...first.resident.keys()].map((name) =>
      row(`memory, ${name}`, ({ resident }) => resident.get(name) ?? 0, megabytes),
    ),
    ...[...first.disk.keys()].map((name) => row(`disk, ${name}`, ({ disk }) => disk.get(name) ?? 0, megabytes)),
    row('idle, of a processor', ({ idle }) => idle / IDLE_MS, percent),
    ...[...first.questions.keys()].map((name) => row(name, ({ questions }) => questions.get(name) ?? 0, duration)),
  ]);
}
