import { afterAll, beforeAll, expect, test } from 'vitest';

import { countPages, isAllDone, takenAmong } from '#infra/bench/paging/pages.ts';
import { pace } from '#test/kit/pace.ts';
import { type Certificates, makeCertificates } from '#test/kit/programs/certificates.ts';
import { type AlertWorld, alertWorld } from '#test/live/alerts/alert_world.ts';

const PROGRAMS = ['api', 'pager', 'worker'] as const;
const KILLS = 12;
/** Fewer than a service opens by themselves before they join a storm. */
const ALERTS = 15;
const PATIENTLY = { timeout: 60_000, interval: 200 };

let world: AlertWorld;
let certificates: Certificates;

beforeAll(async () => {
  certificates = makeCertificates();
  world = await alertWorld(certificates, { programs: PROGRAMS });
});

afterAll(async () => {
  await world?.close();
  certificates?.remove();
});

test('processes that are killed at any instant lose no alert that was answered, and none opens or pages twice', async () => {
  const { service } = world;
  const { serviceId, key, url } = await service('killed');
  const answered = new Map<string, number>();
  let failed = 0;
  let isOver = false;
  const post = async (body: object): Promise<boolean> => {
    const request = {
      method: 'POST',
      headers: { authorization: `Bearer ${key}`, 'content-type': 'application/json' },
      body: JSON.stringify(body),
      signal: AbortSignal.timeout(5_000),
    };
    return await fetch(`${url}/api/alerts/events`, request).then(
      ({ ok }) => ok,
      () => false,
    );
  };
  // Each alert is repeated until the end, as by tools that know nothing of the others.
  const sender = async (dedupKey: string): Promise<void> => {
    for await (const round of pace(() => 300 + Math.random() * 900)) {
      if (await post({ dedupKey, title: `killed ${dedupKey}` })) {
        answered.set(dedupKey, (answered.get(dedupKey) ?? 0) + 1);
      } else failed += 1;
      if (isOver && round > 0 && answered.has(dedupKey)) return;
    }
  };
  const senders = Array.from({ length: ALERTS }, (_, index) => sender(`alert ${index}`));
  for await (const kills of pace(() => 200 + Math.random() * 1_500)) {
    if (kills === KILLS) break;
    const program = PROGRAMS[kills % PROGRAMS.length] ?? 'api';
    await world.kill(program);
    await world.start(program);
  }
  isOver = true;
  await Promise.all(senders);
  expect(failed).toBeGreaterThan(0);
  const { db } = world.w.context;
  const { sql } = db;
  const rows = async () =>
    await sql.rows<{ key: string; occurrences: number; incidents: number; pages: number }>(
      `select a.key, a.occurrences,
         (select count(*)::int from incidents i where i.service_id = a.service_id and i.title = a.title) as incidents,
         (select count(*)::int from notifications n join incidents i on i.id = n.incident_id
            where i.service_id = a.service_id and i.title = a.title and n.kind = 'page') as pages
       from alerts a where a.service_id = $1`,
      [serviceId],
    );
  await expect
    .poll(async () => (await rows()).map(({ incidents, pages }) => [incidents, pages]), PATIENTLY)
    .toEqual(Array.from({ length: ALERTS }, () => [1, 1]));
  for (const { key: name, occurrences } of await rows()) {
    // An answer may be lost after its alert was stored, but no alert after its answer.
    expect(occurrences, name).toBeGreaterThanOrEqual(answered.get(name) ?? Infinity);
  }
  await expect.poll(() => isAllDone(db), PATIENTLY).toBe(true);
  const pages = await countPages(db, takenAmong(world.w.phone.requests));
  expect(pages).toMatchObject({ stepsNotFired: 0, stepsFiredTwice: 0, pages: ALERTS, lost: 0 });
}, 240_000);
