import type { FastifyInstance } from 'fastify';

import { runAction } from '#actions/run_action.ts';
import { browseExceptionGroups } from '#modules/exceptions/operations/browse_exception_groups.ts';
import { getExceptionGroup } from '#modules/exceptions/operations/get_exception_group.ts';
import { getExceptionOverview } from '#modules/exceptions/operations/get_exception_overview.ts';
import { listExceptionEvents } from '#modules/exceptions/operations/list_exception_events.ts';
import type { AnyOperation } from '#actions/action_context.ts';
import { type ExceptionEvent, serializeEvent } from '#modules/exceptions/decide/event.ts';
import type { AppContext } from '#entry/compose.ts';
import { buildApp } from '#entry/http/app.ts';
import type { Caller } from '#modules/accounts/decide/caller.ts';
import { asId, type Id, newId, uuidOf } from '#kernel/ids.ts';
import { silentLog } from '#kernel/log.ts';
import { PERMISSIONS } from '#kernel/permissions.ts';
import { Temporal } from '#kernel/time.ts';
import { SEARCH_KINDS, type SearchKind, wordsOf } from '#modules/search/decide/search_kinds.ts';
import { storesOf } from '#modules/stores.ts';
import { ExceptionCounting } from '#modules/exceptions/count_exceptions.ts';

import { count, duration, spreadCells, spreadOf } from './figures.ts';
import { type Bench, printInputs, printTable, timed, withStores } from './harness.ts';

const GROUPS = 5_000;
const EVENTS = 1_000_000;
const USERS = 50_000;
/** This share of the events is of one group. */
const HOT_SHARE = 0.25;
const DAYS = 60;
const INCIDENTS = 10_000;
const SEARCHED_SERVICES = 10_000;
const TIMES = 60;
const WARM_UP = 10;

export const lists: Bench = {
  name: 'lists',
  about: `lists over REST and the console's exceptions with ${count(GROUPS)} groups, ${count(EVENTS)} events and ${count(INCIDENTS)} incidents of a service (goal: a page 50 ms, a hot group 100 ms), and the search of everything (50 ms)`,
  run: () =>
    withStores(async ({ context, firstRun }) => {
      printInputs({
        groups: count(GROUPS),
        events: `${count(EVENTS)} over ${DAYS} days, ${HOT_SHARE * 100} % of one group, of ${count(USERS)} users`,
        incidents: `${count(INCIDENTS)}, every tenth open`,
        turns: `${TIMES} after ${WARM_UP} to warm up, one at a time; results as JSON text`,
      });
      const orgId = asId('org', firstRun.organizationId);
      const { serviceId, hotId } = await fill(context, orgId);
      const counted = await timed(() => countAll(context), { times: 1 });
      console.log(`  counting all groups for the first time: ${duration(counted[0] ?? 0)}`);
      await storesOf(context.db.session()).exceptionCounts.markDue([hotId], context.clock.now().add({ minutes: 15 }));
      const again = await timed(() => context.actions.exceptions.counter.count([scope(serviceId, hotId)]), {
        times: 5,
      });
      console.log(`  counting the hot group again: ${duration(Math.min(...again))}\n`);
      const rows: Record<string, string>[] = [];
      for (const [label, action, input] of calls(serviceId, hotId)) {
        rows.push(await measure(context, orgId, { label, action, input }));
      }
      printTable(rows);
      await insertIncidents(context, orgId, serviceId);
      printTable(await measureOverRest(context, firstRun.apiKey));
      printTable(await measureSearch(context, orgId));
    }),
};

type Call = readonly [label: string, action: AnyOperation, input: object];

function calls(serviceId: Id<'service'>, groupId: Id<'group'>): readonly Call[] {
  const page = (label: string, input: object): Call => [label, browseExceptionGroups, { serviceId, ...input }];
  return [
    page('page by last seen', {}),
    page('page by first seen', { sort: 'first' }),
    page('page by events', { sort: 'events' }),
    page('page by users', { sort: 'users' }),
    page('page of a search', { text: 'cart 49', sort: 'events' }),
    page('page of an environment', { environment: 'staging' }),
    page('page of a release', { release: '1.4.7', sort: 'users' }),
    page('page 20 by events', { sort: 'events', cursor: `events.150.${groupId}` }),
    ['overview of the hot group', getExceptionOverview, { groupId }],
    ['newest event of the hot group', listExceptionEvents, { groupId }],
    ['event of a day of the hot group', listExceptionEvents, { groupId, day: daysAgo(20) }],
    ['get_exception_group, hot (contract)', getExceptionGroup, { groupId }],
  ];
}

async function measure(
  context: AppContext,
  orgId: Id<'org'>,
  { label, action, input }: { label: string; action: AnyOperation; input: object },
): Promise<Record<string, string>> {
  const permissions = new Set(PERMISSIONS);
  const caller: Caller = { orgId, actor: { kind: 'system' }, via: 'cli', mustStepUp: false, permissions };
  let bytes = 0;
  const call = async (): Promise<void> => {
    const result = await runAction(context.actions, action, caller, input, { requestId: newId('req'), address: null });
    bytes = Buffer.byteLength(JSON.stringify(result));
  };
  const [first = 0] = await timed(call, { times: 1 });
  await timed(call, { times: WARM_UP });
  const samples = await timed(call, { times: TIMES, secondsMax: 30 });
  return { call: label, first: duration(first), ...spreadCells(spreadOf(samples)), bytes: count(bytes) };
}

/** Measures public actions with everything that a request passes through. */
async function measureOverRest(context: AppContext, key: string): Promise<Record<string, string>[]> {
  const app = await buildApp({ ...context, log: silentLog });
  const rows: Record<string, string>[] = [];
  for (const action of ['list_exception_groups', 'list_incidents', 'list_services']) {
    rows.push(await measureAction(app, key, action));
  }
  await app.close();
  return rows;
}

async function measureAction(app: FastifyInstance, key: string, action: string): Promise<Record<string, string>> {
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

async function insertIncidents({ db }: AppContext, orgId: Id<'org'>, serviceId: Id<'service'>): Promise<void> {
  await db.sql.run(
    `insert into incidents (id, org_id, service_id, kind, dedup_key, title, severity, details, steps, status,
       triggered_at, resolved_at, resolved_by, counted_at, created_at, updated_at)
     select 'incident_' || lpad(n::text, 26, '0'), $1, $2, 'metric_threshold', n::text,
       'p95 latency of checkout is above 800 ms', 'critical',
       '{"metricName":"latency","comparator":">","threshold":800,"value":912.5,"windowMinutes":5,"aggregation":"avg"}', '[]',
       case when n % 10 = 0 then 'triggered' else 'resolved' end, at, case when n % 10 = 0 then null else at end,
       case when n % 10 = 0 then null else '{"system":true,"via":"rule"}'::json end, at, at, at
     from generate_series(1, ${INCIDENTS}) n, lateral (select now() - make_interval(mins => n)) t(at)`,
    [orgId, serviceId],
  );
  await db.sql.run('analyze');
}

async function countAll(context: AppContext): Promise<void> {
  const { db, clock, log, actions } = context;
  const isDue = async (): Promise<boolean> =>
    (await db.sql.rows(`select 1 from exception_group_counts where due_at <= now() limit 1`)).length > 0;
  const counting = new ExceptionCounting({ db, clock, log, exceptions: actions.exceptions });
  while (await isDue()) await counting.run().then(() => counting.settled());
}

function scope(serviceId: Id<'service'>, groupId: Id<'group'>) {
  return { serviceId, groupId, keptSince: Temporal.Now.instant().subtract({ hours: 24 * 90 }) };
}

function daysAgo(days: number): string {
  return Temporal.Now.plainDateISO('UTC').subtract({ days }).toString();
}

async function fill(context: AppContext, orgId: Id<'org'>): Promise<{ serviceId: Id<'service'>; hotId: Id<'group'> }> {
  const serviceId = newId('service');
  const groupIds = Array.from({ length: GROUPS }, () => newId('group'));
  await context.db.sql.run(
    `insert into services (id, org_id, name, created_at, updated_at) values ($2, $1, 'checkout', now(), now())`,
    [orgId, serviceId],
  );
  await context.db.sql.run(
    `insert into exception_groups (id, org_id, service_id, key, grouping_version, grouping_parts, title, type, culprit,
       pattern, level, status, status_changed_at, first_seen_at, last_seen_at, first_release, last_release, created_at, updated_at)
     select id, $1, $2, id, 2,
       json_build_array(json_build_object('strategy', 'exception', 'because', 'the calls', 'lines',
         json_build_array('type ValueError', 'checkout.cart in add_item ' || n % 40, 'checkout.api in handle'))),
       'ValueError: the cart ' || n || ' of customer <id> holds lines that no longer exist', 'ValueError ' || n % 200,
       'add_item (cart_' || n % 40 || '.py)', 'the cart ' || n || ' of customer <id>', 'error',
       case when n % 10 = 0 then 'resolved' else 'unresolved' end,
       at, at - interval '30 days', at, '1.0.0', '1.4.2', at, at
     from unnest($3::text[]) with ordinality _(id, n), lateral (select now() - make_interval(secs => n * 60)) t(at)`,
    [orgId, serviceId, groupIds],
  );
  await context.db.sql.run(
    `insert into exception_group_counts (group_id, due_at) select id, now() from exception_groups`,
  );
  await insertEvents(context, serviceId, groupIds);
  await context.db.sql.run('analyze');
  const [hotId = newId('group')] = groupIds;
  return { serviceId, hotId };
}

/** ClickHouse makes them itself, from one event; each is 2 kB long. */
async function insertEvents(
  { clickhouse }: AppContext,
  serviceId: Id<'service'>,
  groupIds: readonly Id<'group'>[],
): Promise<void> {
  await clickhouse.command({
    query: `INSERT INTO exception_events (service_id, group_id, event_id, at, received_at, level, environment, release,
        user_key, handled, tags, payload)
      WITH if(rand(1) % 1000 < {hot:UInt32}, 1, 1 + rand(2) % {groups:UInt32}) AS place,
        generateUUIDv4(number) AS id,
        now64(3) - toIntervalSecond(rand(3) % {seconds:UInt32}) AS at
      SELECT {service:UUID}, arrayElement({ids:Array(UUID)}, place), id, at, at, 'error',
        if(rand(4) % 50 = 0, 'staging', 'production'), concat('1.4.', toString(rand(5) % 30)),
        concat('id:', toString(rand(6) % {users:UInt32})), 'unhandled',
        map('browser', concat('chrome ', toString(rand(7) % 6)), 'region', concat('r', toString(rand(8) % 12))),
        replaceAll(replaceAll({payload:String}, '@id@', lower(replaceAll(toString(id), '-', ''))), '@noise@',
          concat(hex(rand64(9)), hex(rand64(10)), hex(rand64(11)), hex(rand64(12)), hex(rand64(13)), hex(rand64(14))))
      FROM numbers({events:UInt32})
      SETTINGS max_partitions_per_insert_block = 0, max_insert_threads = 1`,
    query_params: {
      service: uuidOf(serviceId),
      ids: groupIds.map(uuidOf),
      hot: HOT_SHARE * 1_000,
      groups: GROUPS,
      seconds: DAYS * 86_400,
      users: USERS,
      events: EVENTS,
      payload: serializeEvent(sample()),
    },
    use_multipart_params_auto: true,
  });
}

function sample(): ExceptionEvent {
  const at = Temporal.Now.instant();
  const frame = (line: number) => ({
    function: `add_item_${line}`,
    module: 'checkout.cart',
    filename: 'checkout/cart.py',
    absPath: '/app/checkout/cart.py',
    lineno: line,
    colno: null,
    contextLine: '    raise ValueError(cart)',
    preContext: ['def add_item(cart):'],
    postContext: ['    return cart'],
    inApp: true,
  });
  return {
    eventId: '@id@',
    at,
    receivedAt: at,
    level: 'error',
    platform: 'python',
    environment: 'production',
    release: '1.4.2',
    serverName: 'web-1',
    transaction: '/cart',
    logger: null,
    user: null,
    tags: { region: 'r1' },
    message: null,
    messageTemplate: null,
    exceptions: [
      {
        type: 'ValueError',
        value: 'the cart @noise@ holds lines that no longer exist',
        module: null,
        mechanism: { type: 'generic', handled: false, synthetic: false },
        frames: Array.from({ length: 6 }, (_, line) => frame(line + 1)),
      },
    ],
    thread: null,
    stacktrace: [],
    breadcrumbs: [],
    contexts: null,
    extra: null,
    request: null,
    sdk: { name: 'sentry.python', version: '2.0.0' },
    fingerprint: [],
  };
}
