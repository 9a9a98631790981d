import { setTimeout as delay } from 'node:timers/promises';

import { newAlertKey } from '#auth/alert_access.ts';
import { hashSecret } from '#auth/secret_text.ts';
import { asId } from '#kernel/ids.ts';
import { systemClock } from '#kernel/time.ts';
import type { Database } from '#storage/postgres/database.ts';
import { storesOf } from '#modules/stores.ts';

import { count, spreadCells, spreadOf } from '#infra/bench/figures.ts';
import { type Bench, type BenchInstallation, printInputs, printTable, withInstallation } from '#infra/bench/harness.ts';
import { listPaged, prepareServices, sendAll } from '#infra/bench/page_latency.ts';
import { attack, attackerService } from './attacks.ts';
import { openRunningDatabase, type PagedService } from './fixture.ts';
import { PageWatch } from './pages.ts';
import { sendAlert, type Sending } from './sender.ts';

/** Each pages a different person, who gets three messages: a fourth within a minute would go into a digest. */
const SERVICES = 40;
const ALERTS = 120;
const EVERY_MS = 150;

const SENDERS = 20;
const RATE = Number(process.env['BENCH_ALERTS_PER_SECOND'] ?? 1_000);
const RATE_SECONDS = 20;
/** Alerts of each sender, which it repeats. */
const OPEN_ALERTS = 20;

const FLOOD = { times: 10_000, everyMs: 2 } as const;
const UNDER_FLOOD = 40;
const UNDER_FLOOD_EVERY_MS = 400;
const PAGED_WITHIN_MS = 60_000;

export const alerts: Bench = {
  name: 'alerts',
  about:
    'alerts of other tools until the request at the SMS provider (goal: p50 100 ms, p99 500 ms), until they are accepted at ' +
    `${count(RATE)} a second (p99 50 ms), and while another organization floods its key (5 s at most)`,
  run: () =>
    withInstallation(async (installation) => {
      printInputs({
        alerts: `${ALERTS}, each new, one every ${EVERY_MS} ms`,
        rate: `${count(RATE)} requests a second for ${RATE_SECONDS} s to ${SENDERS} services, repeats of ${OPEN_ALERTS} open alerts each`,
        flood: `${count(FLOOD.times)} new alerts, one every ${FLOOD.everyMs} ms, to one key of another organization`,
        'during the flood': `${UNDER_FLOOD} alerts, one every ${UNDER_FLOOD_EVERY_MS} ms`,
        stores: 'embedded, as durable as in production',
      });
      const db = await openRunningDatabase(installation.dataDir);
      try {
        await measurePages('alone', ALERTS, EVERY_MS, installation, db);
        await measureRate(installation, db);
        await measureFlood(installation, db);
      } finally {
        await db.close();
      }
    }),
};

/** Gives the service an alert key, and its policy to the last route. */
async function issueKey(db: Database, orgId: string, { serviceId, policyId }: PagedService): Promise<string> {
  const key = newAlertKey();
  const service = { orgId: asId('org', orgId), id: asId('service', serviceId) };
  const now = systemClock.now();
  await db.transaction(async (session) => {
    const { alertKeys, alertRoutes } = storesOf(session);
    // Nobody asks to see it.
    await alertKeys.insert(service, { keyHash: hashSecret(key), secret: Buffer.alloc(0) }, now);
    const last = { conditions: [], outcome: 'page', policyId: asId('policy', policyId), pagesOnRise: false } as const;
    await alertRoutes.replace(service, [last], now);
  });
  return key;
}

async function keysOf(
  { organizationId }: BenchInstallation,
  db: Database,
  services: readonly PagedService[],
): Promise<string[]> {
  const keys: string[] = [];
  for (const service of services) keys.push(await issueKey(db, organizationId, service));
  return keys;
}

async function measurePages(
  name: string,
  times: number,
  everyMs: number,
  installation: BenchInstallation,
  db: Database,
): Promise<void> {
  const keys = await keysOf(installation, db, await prepareServices(installation, db, SERVICES, name));
  const watch = new PageWatch(installation.phoneUrl);
  const sendings = await sendAll(times, everyMs, (index) =>
    sendAlert(installation.baseUrl, keyAt(keys, index), `${name}${index}`),
  );
  const deadline = performance.now() + PAGED_WITHIN_MS;
  let pages = await listPaged(db, await watch.look(), `${name}%`);
  while (pages.length < times && performance.now() < deadline) {
    await delay(100);
    pages = await listPaged(db, await watch.look(), `${name}%`);
  }
  if (pages.length < times) console.log(`  ${times - pages.length} of ${times} alerts paged nobody\n`);
  const sentAs = new Map(sendings.map((sending, index) => [`${name}${index}`, sending]));
  const row = (from: string, startOf: (sending: Sending) => number) => {
    const late = pages.flatMap(({ type, pagedAtMs }) => {
      const sending = sentAs.get(type);
      return sending === undefined ? [] : [pagedAtMs - startOf(sending)];
    });
    return { from: `${name}: ${from} → provider`, ...spreadCells(spreadOf(late)) };
  };
  printTable([row('sent', ({ startedAtMs }) => startedAtMs), row('accepted', ({ answeredAtMs }) => answeredAtMs)]);
}

async function measureRate(installation: BenchInstallation, db: Database): Promise<void> {
  const keys = await keysOf(installation, db, await prepareServices(installation, db, SENDERS, 'rate'));
  const sendOne = (index: number) => {
    const dedupKey = `rate${Math.floor(index / SENDERS) % OPEN_ALERTS}`;
    return sendAlert(installation.baseUrl, keyAt(keys, index), dedupKey);
  };
  // Their incidents are open before anything is measured.
  for (let index = 0; index < SENDERS * OPEN_ALERTS; index += 1) await sendOne(index);
  const tookMs: number[] = [];
  const statuses = await attack(
    {
      times: RATE * RATE_SECONDS,
      everyMs: 1_000 / RATE,
      async send(_, index) {
        const { startedAtMs, answeredAtMs, status } = await sendOne(index);
        tookMs.push(answeredAtMs - startedAtMs);
        return status;
      },
    },
    '',
  );
  const began = [...statuses].map(([status, times]) => `${status}: ${count(times)}`).join(', ');
  printTable([{ accepted: `answered with ${began}`, ...spreadCells(spreadOf(tookMs)) }]);
}

async function measureFlood(installation: BenchInstallation, db: Database): Promise<void> {
  const attacker = await attackerService(installation, db, 'flooding');
  const key = await issueKey(db, attacker.orgId, attacker);
  const flooding = attack(
    { ...FLOOD, send: async (_, index) => (await sendAlert(installation.baseUrl, key, `flood${index}`)).status },
    '',
  );
  await delay(2_000);
  await measurePages('flooded', UNDER_FLOOD, UNDER_FLOOD_EVERY_MS, installation, db);
  const statuses = [...(await flooding)].map(([status, times]) => `${status}: ${count(times)}`);
  console.log(`  the flood was answered with ${statuses.join(', ')}\n`);
}

function keyAt(keys: readonly string[], index: number): string {
  const key = keys[index % keys.length];
  if (key === undefined) throw new Error('there are no services');
  return key;
}
