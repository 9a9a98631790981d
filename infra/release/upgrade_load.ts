import { setTimeout as delay } from 'node:timers/promises';

import {
  alertOnExceptions,
  alertOnMetric,
  createPagedService,
  createTeam,
  type PagedService,
} from '#infra/bench/paging/fixture.ts';
import { countPages, isAllDone, type PageFigures, takenAmong } from '#infra/bench/paging/pages.ts';
import { newEventId, sendException, type Sending, sendPoint } from '#infra/bench/paging/sender.ts';
import { listStoredAt } from '#infra/bench/paging/stored.ts';
import { at, type Fleet } from '#infra/bench/scale/fleet.ts';
import { connect } from '#infra/demo/client.ts';
import type { Database } from '#storage/postgres/database.ts';

/** Each pages a person of its own, who gets so few messages that none becomes a digest. */
const SERVICES = 40;
const SEND_EVERY_MS = 40;
const EVENTS_OF_A_KIND = 20;
const ACKNOWLEDGE_EVERY_MS = 1_500;
/** Later than an incident that has just opened is acknowledged here. */
const SECOND_STEP_MINUTES = 1;
const DONE_WITHIN_MS = 180_000;

export interface Setting {
  readonly fleet: Fleet;
  readonly db: Database;
  readonly services: readonly PagedService[];
  readonly apiKey: string;
}

/** Data and actions that the service confirmed to senders and people. */
interface Accepted {
  readonly eventIds: ReadonlySet<string>;
  readonly values: ReadonlySet<number>;
  /** The titles of the incidents that exceptions and points are to open, once each. */
  readonly titles: ReadonlySet<string>;
  readonly acknowledged: ReadonlySet<string>;
}

export interface Outcome {
  readonly queue: string;
  /** Time that the slowest process of the release before took to stop. */
  readonly drainedMs: number;
  readonly events: { readonly accepted: number; readonly lost: number };
  readonly points: { readonly accepted: number; readonly lost: number };
  readonly pages: Pick<PageFigures, 'pages' | 'lost' | 'duplicates'> & {
    /** Not sent, because the incident had been answered by then. */
    readonly withdrawn: number;
    readonly wanted: number;
    readonly missing: number;
    readonly twice: number;
  };
  readonly acknowledgements: { readonly accepted: number; readonly undone: number; readonly pagedAfter: number };
}

/** Services whose every exception pages somebody at once, and somebody else a minute later unless it is acknowledged. */
export async function prepare(fleet: Fleet, db: Database): Promise<Setting> {
  const firstRun = fleet.firstRun();
  const baseUrl = fleet.of('api')[0]?.url ?? '';
  const client = connect({ ...firstRun, baseUrl, phoneUrl: fleet.phone.url, stop: async () => {} });
  const { teamId, userIds } = await createTeam(db, client, firstRun.organizationId, 2 * SERVICES);
  const services: PagedService[] = [];
  for (let index = 0; index < SERVICES; index += 1) {
    const step = (afterMinutes: number, user: number) => {
      return { afterMinutes, channels: ['sms'], targetUserIds: [userIds[user] ?? ''] };
    };
    const steps = [step(0, 2 * index), step(SECOND_STEP_MINUTES, 2 * index + 1)];
    const service = await createPagedService(client, teamId, `service-${index}`, steps);
    await alertOnExceptions(client, service);
    await alertOnMetric(client, service, `breach_${index}`);
    services.push(service);
  }
  return { fleet, db, services, apiKey: firstRun.apiKey };
}

/** Sends to every API process that runs, and acknowledges through them; what is refused is not sent again. */
export function startLoad(setting: Setting): { stop(): Promise<Accepted> } {
  const { fleet, services } = setting;
  const [eventIds, values, titles] = [new Set<string>(), new Set<number>(), new Set<string>()];
  const acknowledged = new Set<string>();
  const under = new Set<Promise<unknown>>();
  let sent = 0;
  const send = async (number: number): Promise<void> => {
    const apis = fleet.of('api');
    // What comes again is counted: a new exception, and now and then a breach, opens an incident.
    const kind = Math.floor(number / EVENTS_OF_A_KIND);
    const isBreach = number % EVENTS_OF_A_KIND === 0 && kind < SERVICES;
    const [api, service] = [apis[number % apis.length], services[kind % SERVICES]];
    if (api === undefined || service === undefined) return;
    const [eventId, type] = [newEventId(), `Upgrade${kind}x`];
    const name = isBreach ? `breach_${kind % SERVICES}` : 'load';
    const [event, point] = await Promise.all([
      sendException(at(service.dsn, api), type, eventId),
      sendPoint(api.url, service.ingestionKey, { name, value: 1_000 + number, labels: { number: String(number) } }),
    ]);
    if (isOk(event)) eventIds.add(eventId);
    if (isOk(event)) titles.add(type);
    if (isOk(point)) values.add(1_000 + number);
    if (isOk(point) && isBreach) titles.add(name);
  };
  const track = (work: Promise<unknown>): void => {
    const tracked = work.finally(() => under.delete(tracked));
    under.add(tracked);
  };
  const sending = setInterval(() => track(send((sent += 1))), SEND_EVERY_MS);
  const answering = setInterval(() => track(acknowledgeOne(setting, acknowledged)), ACKNOWLEDGE_EVERY_MS);
  return {
    async stop() {
      clearInterval(sending);
      clearInterval(answering);
      await Promise.all(under);
      return { eventIds, values, titles, acknowledged };
    },
  };
}

const isOk = ({ status }: Sending): boolean => status >= 200 && status < 300;

async function acknowledgeOne({ db, fleet, apiKey }: Setting, acknowledged: Set<string>): Promise<void> {
  const apis = fleet.of('api');
  const api = apis[acknowledged.size % apis.length];
  const open = await db.sql.row<{ id: string }>(
    `select id from incidents where status = 'triggered' and id <> all($1) order by id desc limit 1`,
    [[...acknowledged]],
  );
  if (api === undefined || open === null) return;
  const answer = await fetch(`${api.url}/api/rest/actions/acknowledge_incident`, {
    method: 'POST',
    headers: { 'content-type': 'application/json', authorization: `Bearer ${apiKey}` },
    body: JSON.stringify({ incidentId: open.id }),
  }).catch(() => null);
  await answer?.text();
  if (answer?.ok === true) acknowledged.add(open.id);
}

/** Once everything has come to rest. */
export async function outcomeOf(
  { db, fleet }: Setting,
  accepted: Accepted,
): Promise<Omit<Outcome, 'queue' | 'drainedMs'>> {
  const { eventIds, values, titles, acknowledged } = accepted;
  await untilDone(db, titles.size);
  const stored = await listStoredAt(fleet.stores.clickhouseUrl, 'value >= 1000');
  const incidents = await db.sql.rows<{ title: string; count: number }>(
    `select case when kind = 'exception' then split_part(title, ':', 1)
       else details->>'metricName' end as title, count(*)::int as count from incidents group by 1`,
  );
  const opened = new Map(incidents.map(({ title, count }) => [title, count]));
  const taken = takenAmong(fleet.phone.requests);
  const figures = await countPages(db, taken);
  const cancelled = await db.sql.rows<{ id: string }>(
    `select id from notifications where kind = 'page' and status = 'cancelled' and reason in ('acknowledged', 'resolved')`,
  );
  const withdrawn = cancelled.filter(({ id }) => !taken.has(id)).length;
  const ids = [...acknowledged];
  const undone = await db.sql.row<{ n: number }>(
    `select count(*)::int as n from incidents where id = any($1) and status = 'triggered'`,
    [ids],
  );
  const pagedAfter = await db.sql.row<{ n: number }>(
    `select count(*)::int as n from incident_steps where incident_id = any($1) and step_index = 1 and state = 'fired'`,
    [ids],
  );
  return {
    events: { accepted: eventIds.size, lost: eventIds.difference(stored.eventIds).size },
    points: { accepted: values.size, lost: values.difference(stored.values).size },
    pages: {
      wanted: titles.size,
      missing: [...titles].filter((title) => !opened.has(title)).length,
      twice: [...opened.values()].filter((count) => count > 1).length,
      pages: figures.pages,
      withdrawn,
      lost: figures.lost - withdrawn,
      duplicates: figures.duplicates + figures.stepsFiredTwice,
    },
    acknowledgements: { accepted: ids.length, undone: undone?.n ?? 0, pagedAfter: pagedAfter?.n ?? 0 },
  };
}

async function untilDone(db: Database, incidents: number): Promise<void> {
  const deadline = performance.now() + DONE_WITHIN_MS;
  const isDone = async (): Promise<boolean> => {
    const row = await db.sql.row<{ opened: number; waiting: number }>(
      `select (select count(*)::int from incidents) as opened, (select count(*)::int from durable_jobs) as waiting`,
    );
    return row !== null && row.opened >= incidents && row.waiting === 0 && (await isAllDone(db));
  };
  while (!(await isDone()) && performance.now() < deadline) await delay(250);
}
