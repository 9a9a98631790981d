import { connect } from '#infra/demo/client.ts';

import type { BenchInstallation } from '#infra/bench/harness.ts';
import {
  pointsOf,
  type Raised,
  raisedIn,
  SCENES,
  sendEvent,
  sendPoints,
  SIGNALS,
} from '#infra/bench/night_shift/scenes.ts';
import { seeded } from '#infra/bench/seeded.ts';

/** Subject of the jobs, and the right answers. */
export interface JobWorld {
  readonly incidentId: string;
  readonly serviceId: string;
  readonly badRelease: string;
  readonly releases: { readonly before: string; readonly after: string };
  /** Events by the type of the exception, in both releases. */
  readonly counts: ReadonlyMap<string, readonly [before: number, after: number]>;
  readonly sunday: { readonly at: string; readonly name: string };
  readonly swap: { readonly startAt: string; readonly endAt: string; readonly name: string };
  readonly noisyRule: string;
  readonly teamName: string;
  readonly scheduleName: string;
}

const SEED = 24;
const PEOPLE = ['Anna', 'Bram', 'Cleo'] as const;
const PASSWORD = 'amber kettle 41 orbit';
/** More than the newest events of a group are told of. */
const HARMLESS_EVENTS = 45;
const NOISE = ['CacheMiss', 'SlowQuery', 'RetryError', 'QuotaError', 'DnsError'];
const HOUR = 3_600_000;
const WAIT_MS = 180_000;

/** People, a team with a rotation and an override, and a service that broke after a deploy. */
export async function plantJobs(installation: BenchInstallation): Promise<JobWorld> {
  const client = connect({ ...installation, stop: async () => {} });
  const { action } = client;
  const userIds = await addPeople(installation);
  const [anna = '', bram = '', cleo = ''] = userIds;
  const { teamId } = await action<{ teamId: string }>('create_team', { name: 'Payments' });
  for (const [index, userId] of userIds.entries()) {
    await action('add_team_member', { teamId, userId, phone: `+3160000000${index}` });
  }
  const { scheduleId } = await action<{ scheduleId: string }>('create_schedule', {
    teamId,
    name: 'Primary',
    timezone: 'Europe/Amsterdam',
    rotationType: 'weekly',
    rotationConfig: { userIds: [anna, bram] },
  });
  const at = nextSunday();
  const override = { startAt: new Date(at - 3 * HOUR).toISOString(), endAt: new Date(at + 9 * HOUR).toISOString() };
  await action('create_schedule_override', { scheduleId, userId: cleo, ...override });

  const { serviceId } = await action<{ serviceId: string }>('create_service', {
    name: 'checkout',
    environment: 'production',
  });
  for (const capability of ['metrics', 'exceptions', 'oncall']) {
    await action('enable_capability', { serviceId, capability });
  }
  const keys = await action<{ ingestionKey: string; dsn: string }>('get_service', { serviceId });
  const rule = { serviceId, kind: 'metric_threshold' };
  const config = { metricName: 'http_errors_percent', comparator: '>', threshold: 5, windowMinutes: 10 };
  await action('create_alert_rule', { ...rule, name: 'Errors', config: { ...config, aggregation: 'avg' } });
  await action('create_alert_rule', {
    serviceId,
    name: 'New exceptions',
    kind: 'exception',
    config: { minSeverity: 'error' },
  });

  const [scene] = SCENES;
  if (scene?.cause !== 'deploy') throw new Error('the first scene is a deploy');
  const planted = raisedIn(scene);
  const releases = { before: planted.at(0)?.release ?? '', after: planted.at(-1)?.release ?? '' };
  const raised = [...planted, ...more(planted), ...noise(releases.after)];
  for (const event of raised) await sendEvent(installation.baseUrl, keys.dsn, event);
  const random = seeded(SEED);
  for (const signal of SIGNALS) {
    await sendPoints(installation.baseUrl, keys.ingestionKey, signal, pointsOf(scene, signal, random));
  }
  const { incidentId } = await client.waitForIncident(serviceId, 'metric_threshold', WAIT_MS);
  await waitUntil(async () => {
    const { total } = await action<{ total: number }>('list_incidents', { serviceId });
    return total > NOISE.length;
  });
  const now = Date.now();
  return {
    incidentId,
    serviceId,
    badRelease: releases.after,
    releases,
    counts: countsOf(raised, releases),
    sunday: { at: new Date(at).toISOString(), name: 'Cleo' },
    swap: {
      startAt: new Date(now + 30 * HOUR).toISOString(),
      endAt: new Date(now + 38 * HOUR).toISOString(),
      name: 'Bram',
    },
    noisyRule: 'New exceptions',
    teamName: 'Payments',
    scheduleName: 'Primary',
  };
}

/** Members by the console's own operations; their ids. */
async function addPeople({ baseUrl, organizationId, email, password }: BenchInstallation): Promise<string[]> {
  const login = await post(`${baseUrl}/api/console/session`, { email, password });
  const cookie = login.headers
    .getSetCookie()
    .map((text) => text.split(';')[0])
    .join('; ');
  const ids: string[] = [];
  for (const name of PEOPLE) {
    const invited = await post(
      `${baseUrl}/api/console/organizations/${organizationId}/actions/create_invitation`,
      { email: `${name.toLowerCase()}@example.com`, role: 'responder' },
      { cookie },
    );
    const { link } = ((await invited.json()) as { result: { link: string } }).result;
    const token = new URL(link).pathname.split('/').at(-1);
    const joined = await post(`${baseUrl}/api/console/invitations/${token}`, { name, password: PASSWORD });
    const { user } = ((await joined.json()) as { result: { user: { userId: string } } }).result;
    ids.push(user.userId);
  }
  return ids;
}

async function post(url: string, body: object, headers: Readonly<Record<string, string>> = {}): Promise<Response> {
  const { origin } = new URL(url);
  const response = await fetch(url, {
    method: 'POST',
    headers: { 'content-type': 'application/json', origin, ...headers },
    body: JSON.stringify(body),
  });
  if (!response.ok) throw new Error(`${new URL(url).pathname} answered ${response.status}: ${await response.text()}`);
  return response;
}

/** Sunday, 03:00 UTC, at least a day ahead. */
function nextSunday(): number {
  const day = new Date(Date.now() + 24 * HOUR);
  day.setUTCHours(3, 0, 0, 0);
  while (day.getUTCDay() !== 0 || day.getTime() < Date.now() + 24 * HOUR) day.setUTCDate(day.getUTCDate() + 1);
  return day.getTime();
}

/** The harmless group again and again, in the release of its time. */
function more(planted: readonly Raised[]): Raised[] {
  const harmless = planted.filter(({ type }) => type === 'ClientGone');
  return Array.from({ length: HARMLESS_EVENTS }, (_, index) => harmless[index % harmless.length]).flatMap(
    (entry) => entry ?? [],
  );
}

/** Exceptions that are new and of no weight: each opens an incident. */
function noise(release: string): Raised[] {
  return NOISE.map((type, index) => ({
    minutesAgo: 10 - index,
    type,
    value: `${type} was raised`,
    where: `do${type}`,
    release,
    tags: {},
  }));
}

function countsOf(raised: readonly Raised[], { before, after }: JobWorld['releases']): JobWorld['counts'] {
  const groups = Map.groupBy(raised, ({ type }) => type);
  const count = (events: readonly Raised[], wanted: string) =>
    events.filter(({ release }) => release === wanted).length;
  return new Map([...groups].map(([type, events]) => [type, [count(events, before), count(events, after)]]));
}

async function waitUntil(isDone: () => Promise<boolean>): Promise<void> {
  const deadline = Date.now() + WAIT_MS;
  while (!(await isDone())) {
    if (Date.now() > deadline) throw new Error('the incidents did not open in time');
    await new Promise((resolve) => setTimeout(resolve, 500));
  }
}
