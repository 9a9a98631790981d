import { setTimeout as delay } from 'node:timers/promises';
import { gzipSync } from 'node:zlib';

import { issueApiKey } from '#auth/api_keys.ts';
import { connect } from '#infra/demo/client.ts';
import { systemClock } from '#kernel/time.ts';
import type { Database } from '#storage/postgres/database.ts';
import { storesOf } from '#modules/stores.ts';

import type { BenchInstallation } from '#infra/bench/harness.ts';
import { alertOnExceptions, createPagedService, type PagedService } from './fixture.ts';
import { newEventId, sendException } from './sender.ts';

/** Requests of somebody who has seen one browser DSN of another organization. */
export interface Attack {
  readonly name: string;
  readonly about: string;
  /** One of these every `everyMs`, whether or not the one before is answered; resolves to the status. */
  readonly send: (dsn: string, index: number) => Promise<number>;
  readonly times: number;
  readonly everyMs: number;
}

const EVENT_BYTES = 1024 * 1024;
const NOT_A_NUMBER = '"":NaN,';

/** An event that is cheap to send and was expensive to read: a megabyte of members that no JSON may have. */
const poisoned = (): Uint8Array<ArrayBuffer> => {
  const id = newEventId();
  const members = NOT_A_NUMBER.repeat(Math.floor((EVENT_BYTES - 200) / NOT_A_NUMBER.length));
  const event = `{"event_id":"${id}",${members}"message":"poison"}`;
  return gzipSync(`${JSON.stringify({ event_id: id })}\n${JSON.stringify({ type: 'event' })}\n${event}`);
};

async function sendPoison(dsn: string): Promise<number> {
  const { origin, username, pathname } = new URL(dsn);
  const response = await fetch(`${origin}/api${pathname}/envelope/?sentry_key=${username}`, {
    method: 'POST',
    headers: { 'content-type': 'application/x-sentry-envelope', 'content-encoding': 'gzip' },
    body: poisoned(),
    signal: AbortSignal.timeout(10_000),
  });
  await response.text();
  return response.status;
}

export const ATTACKS: readonly Attack[] = [
  {
    name: 'poison',
    about: '1,724 events of 1 MiB of "":NaN, within 40 s',
    send: (dsn) => sendPoison(dsn).catch(() => 0),
    times: 1_724,
    everyMs: 23,
  },
  {
    name: 'flood',
    about: '5,000 events of as many groups within 10 s, for each of which a rule wants an incident',
    send: async (dsn, index) => (await sendException(dsn, `Flood${index}`)).status,
    times: 5_000,
    everyMs: 2,
  },
];

/** An organization beside the one of the installation, with a service whose new exceptions page somebody. */
export async function attackerService(
  installation: BenchInstallation,
  db: Database,
  name: string,
): Promise<PagedService & { readonly orgId: string }> {
  const now = systemClock.now();
  const { orgId, apiKey, userId } = await db.transaction(async (session) => {
    const stores = storesOf(session);
    const organization = await stores.people.insertOrganization(name, now);
    const email = `${name}@example.com`;
    const user = await stores.people.insertUser({ email, name, passwordHash: null, isAddressProven: true }, now);
    await stores.people.setMembership(organization.id, user.id, 'owner', now);
    const wanted = { orgId: organization.id, userId: null, name, permissions: null };
    const { key } = await issueApiKey(stores, wanted, now);
    return { orgId: organization.id, apiKey: key, userId: user.id };
  });
  const client = connect({ ...installation, apiKey, stop: async () => {} });
  const { teamId } = await client.action<{ teamId: string }>('create_team', { name });
  await client.action('add_team_member', { teamId, userId, phone: '+31699999999' });
  const steps = [{ afterMinutes: 0, channels: ['sms'], targetUserIds: [userId] }];
  const service = await createPagedService(client, teamId, name, steps);
  await alertOnExceptions(client, service);
  return { ...service, orgId };
}

/** Resolves to how many were answered with which status; 0 for none. */
export async function attack(
  { send, times, everyMs }: Pick<Attack, 'send' | 'times' | 'everyMs'>,
  dsn: string,
): Promise<ReadonlyMap<number, number>> {
  const statuses = new Map<number, number>();
  const underWay = new Set<Promise<void>>();
  const began = performance.now();
  for (let index = 0; index < times; index += 1) {
    const sending: Promise<void> = send(dsn, index).then((status) => {
      statuses.set(status, (statuses.get(status) ?? 0) + 1);
      underWay.delete(sending);
    });
    underWay.add(sending);
    // A sender of the machine has only so many connections.
    if (underWay.size >= CONNECTIONS_MAX) await Promise.race(underWay);
    const aheadMs = began + (index + 1) * everyMs - performance.now();
    if (aheadMs > 0) await delay(aheadMs);
  }
  await Promise.all(underWay);
  return statuses;
}

const CONNECTIONS_MAX = 40;
