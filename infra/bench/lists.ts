import { randomUUID } from 'node:crypto';

import type { FastifyInstance } from 'fastify';

import type { AppContext } from '#entry/compose.ts';
import { buildApp } from '#entry/http/app.ts';
import { type Id, newId, uuidOf } from '#kernel/ids.ts';
import { silentLog } from '#kernel/log.ts';
import { SEARCH_KINDS, type SearchKind, wordsOf } from '#modules/search/decide/search_kinds.ts';
import { storesOf } from '#modules/stores.ts';

import { count, duration, spreadCells, spreadOf } from './figures.ts';
import { type Bench, printInputs, printTable, timed, withStores } from './harness.ts';
import { seeded } from './seeded.ts';

const SERVICES = 10;
const GROUPS = 5_000;
const EVENTS = 200_000;
const USERS = 20_000;
/** This share of the events is of one group. */
const HOT_SHARE = 0.25;
const DAYS = 20;
const INCIDENTS = 10_000;
const SEARCHED_SERVICES = 10_000;
const TIMES = 60;
const WARM_UP = 10;

export const lists: Bench = {
  name: 'lists',
  about: `lists over REST with ${count(GROUPS)} exception groups and ${count(INCIDENTS)} incidents (goal: p50 50 ms)`,
  run: () =>
    withStores(async ({ context, firstRun }) => {
      printInputs({
        services: SERVICES,
        groups: count(GROUPS),
        events: `${count(EVENTS)} over ${DAYS} days, ${HOT_SHARE * 100} % of one group, of ${count(USERS)} users`,
        incidents: `${count(INCIDENTS)}, every tenth open`,
        turns: `${TIMES} after ${WARM_UP} to warm up, one at a time`,
      });
      const quiet = { ...context, log: silentLog };
      const app = await buildApp(quiet);
      try {
        await fill(quiet, firstRun.organizationId);
        const rows: Record<string, string>[] = [];
        for (const action of ['list_exception_groups', 'list_incidents', 'list_services']) {
          rows.push(await measure(app, firstRun.apiKey, action));
        }
        printTable(rows);
        printTable(await measureSearch(quiet, firstRun.organizationId as Id<'org'>));
      } finally {
        await app.close();
      }
    }),
};

async function measure(app: FastifyInstance, key: string, action: string): Promise<Record<string, string>> {
  let bytes = 0;
  const call = async (): Promise<void> => {
    const response = await app.inject({
      method: 'POST',
      url: `/api/rest/actions/${action}`,
      headers: { authorization: `Bearer ${key}`, 'content-type': 'application/json' },
      payload: '{}',
    });
    if (response.statusCode !== 200) throw new Error(`${action} answered ${response.body}`);
    bytes = response.rawPayload.length;
  };
  const [first = 0] = await timed(call, { times: 1 });
  await timed(call, { times: WARM_UP });
  const samples = await timed(call, { times: TIMES });
  return { action, first: duration(first), ...spreadCells(spreadOf(samples)), bytes: count(bytes) };
}

/** Texts of the search of everything: of most things, of some, of one, of none; two words; other letters. */
const SEARCHES = ['s', 'service 7', 'latency', '9876', 'checkout 42', 'no such thing', 'überweisung'];

/** Measures the search of everything (Ctrl K) with many services, each with a rule; the goal is 50 ms. */
async function measureSearch(context: AppContext, orgId: Id<'org'>): Promise<Record<string, string>[]> {
  const serviceIds = Array.from({ length: SEARCHED_SERVICES }, () => newId('service'));
  await context.db.sql.run(
    `with made as (
       insert into services (id, org_id, name, environment, created_at, updated_at)
       select id, $1, 'checkout service of team ' || n, 'production', now(), now()
       from unnest($2::text[]) with ordinality _(id, n) returning id, name)
     insert into alert_rules (id, org_id, service_id, name, kind, config, enabled, created_at, updated_at)
     select 'rule_' || substr(id, 9), $1, id, 'p95 latency of ' || name || ' is above 800 ms', 'metric_threshold',
       '{"metricName":"latency","comparator":">","threshold":800,"windowMinutes":5,"aggregation":"avg"}', true, now(), now()
     from made`,
    [orgId, serviceIds],
  );
  await context.db.sql.run('analyze');
  const kinds = Object.keys(SEARCH_KINDS) as SearchKind[];
  const rows: Record<string, string>[] = [];
  for (const text of SEARCHES) {
    let matches = 0;
    const search = async (): Promise<void> => {
      const reader = storesOf(context.db.session()).search;
      matches = (await reader.find(orgId, kinds, wordsOf(text), context.clock.now())).length;
    };
    await timed(search, { times: WARM_UP });
    rows.push({ search: text, found: count(matches), ...spreadCells(spreadOf(await timed(search, { times: TIMES }))) });
  }
  return rows;
}

async function fill(context: AppContext, orgId: Id<'org'> | string): Promise<void> {
  const serviceIds = Array.from({ length: SERVICES }, () => newId('service'));
  await context.db.sql.run(
    `insert into services (id, org_id, name, created_at, updated_at)
     select id, $1, 'service ' || n, now(), now() from unnest($2::text[]) with ordinality _(id, n)`,
    [orgId, serviceIds],
  );
  const random = seeded(1);
  const placed = Array.from({ length: GROUPS }, () => ({
    groupId: newId('group'),
    serviceId: serviceIds[Math.floor(random() * SERVICES)] ?? '',
    ageSeconds: Math.floor(random() * DAYS * 86_400),
  }));
  await context.db.sql.run(
    `insert into exception_groups (id, org_id, service_id, key, grouping_version, grouping_parts, title, type, culprit,
       pattern, level, status_changed_at, first_seen_at, last_seen_at, first_release, last_release, created_at, updated_at)
     select g->>'groupId', $1, g->>'serviceId', g->>'groupId', 1,
       '[{"kind":"frame","text":"checkout.cart in add_item"},{"kind":"frame","text":"checkout.api in handle"}]',
       'ValueError: the cart of customer <id> holds ' || n || ' lines that no longer exist', 'ValueError',
       'checkout.cart in add_item', 'the cart of customer <id> holds ' || n || ' lines that no longer exist', 'error',
       at, at - interval '30 days', at, '1.0.0', '1.4.2', at, at
     from json_array_elements($2::json) with ordinality _(g, n),
       lateral (select now() - make_interval(secs => (g->>'ageSeconds')::float8)) t(at)`,
    [orgId, JSON.stringify(placed)],
  );
  await insertEvents(context, placed);
  await context.db.sql.run(
    `insert into incidents (id, org_id, service_id, kind, dedup_key, title, severity, details, steps, status,
       triggered_at, resolved_at, resolved_by, counted_at, created_at, updated_at)
     select 'incident_' || lpad(n::text, 26, '0'), $1, $2, 'metric_threshold', n::text,
       'p95 latency of checkout is above 800 ms', 'critical',
       '{"metricName":"latency","comparator":">","threshold":800,"value":912.5,"windowMinutes":5,"aggregation":"avg"}', '[]',
       case when n % 10 = 0 then 'triggered' else 'resolved' end, at, case when n % 10 = 0 then null else at end,
       case when n % 10 = 0 then null else '{"system":true,"via":"rule"}'::json end, at, at, at
     from generate_series(1, ${INCIDENTS}) n, lateral (select now() - make_interval(mins => n)) t(at)`,
    [orgId, serviceIds[0]],
  );
  await context.db.sql.run('analyze');
}

async function insertEvents(
  { clickhouse }: AppContext,
  placed: readonly { readonly groupId: Id<'group'>; readonly serviceId: string }[],
): Promise<void> {
  const random = seeded(2);
  const nowMs = Date.now();
  const values = Array.from({ length: EVENTS }, () => {
    const index = random() < HOT_SHARE ? 0 : Math.floor(random() * GROUPS);
    const { groupId, serviceId } = placed[index] ?? { groupId: newId('group'), serviceId: newId('service') };
    const at = nowMs - Math.floor(random() * DAYS * 86_400_000);
    return [
      uuidOf(serviceId as Id<'service'>),
      uuidOf(groupId),
      randomUUID(),
      new Date(at).toISOString(),
      new Date(at).toISOString(),
      'error',
      'production',
      '1.4.2',
      `id:${Math.floor(random() * USERS)}`,
      'unhandled',
      {},
      '{}',
    ];
  });
  for (let from = 0; from < EVENTS; from += 10_000) {
    await clickhouse.insert({
      table: 'exception_events',
      values: values.slice(from, from + 10_000),
      format: 'JSONCompactEachRow',
    });
  }
}
