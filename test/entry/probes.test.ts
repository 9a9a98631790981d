import { expect, onTestFinished, test } from 'vitest';

import { findFreePort } from '#infra/embedded/free_port.ts';
import { compose } from '#entry/compose.ts';
import { ensureFirstRun, warnOfNoOrganization } from '#entry/first_run.ts';
import { buildApp } from '#entry/http/app.ts';
import { silentLog } from '#kernel/log.ts';
import { storesOf } from '#modules/stores.ts';
import { type World, world } from '#test/kit/world.ts';
import { openProbes } from '#workers/probes.ts';

const get = async (port: number, path: string) => {
  const response = await fetch(`http://127.0.0.1:${port}${path}`);
  return { status: response.status, body: await response.text() };
};

async function apiWithout(w: World, settings: object) {
  const context = await compose({ ...w.context.config, ...settings }, { log: silentLog, clock: w.clock });
  const app = await buildApp(context);
  await app.ready();
  onTestFinished(async () => {
    await app.close();
    await context.close();
  });
  return { app, context };
}

test('without ClickHouse an API is ready, says what does not work, and incidents can be answered', async () => {
  const w = await world({ jobs: 'real queue' });
  const { app } = await apiWithout(w, { clickhouseUrl: 'http://127.0.0.1:1/none' });
  const ready = await app.inject('/readyz');
  expect(ready.statusCode).toBe(200);
  expect(ready.json()).toEqual({
    ready: true,
    degraded: true,
    because: [expect.stringMatching(/^ClickHouse does not work \(.*\): .*incidents can be answered$/)],
  });
  expect((await app.inject('/livez')).json()).toEqual({ live: true });
  expect((await app.inject('/healthz')).statusCode).toBe(503);
  const answer = await app.inject({
    method: 'POST',
    url: '/api/rest/actions/acknowledge_incident',
    headers: { authorization: `Bearer ${w.orgKey}` },
    payload: { incidentId: 'incident_01k9z8ke5f6g7h8j9kamnpqrst' },
  });
  expect(answer.statusCode).toBe(404);
});

test('METRICS_PORT serves probes and metrics of an API process', async () => {
  const w = await world({ jobs: 'real queue' });
  const metricsPort = await findFreePort(0);
  const { app } = await apiWithout(w, { metricsPort });
  expect(await get(metricsPort, '/livez')).toEqual({ status: 200, body: '{"live":true}' });
  expect(await get(metricsPort, '/readyz')).toEqual({ status: 200, body: '{"ready":true}' });
  const { body } = await get(metricsPort, '/metrics');
  expect(body).toContain('tocsin_queue_jobs');
  // What workers are scaled on.
  expect(body).toContain('tocsin_ingest_waiting_jobs 0');
  expect((await get(metricsPort, '/api/rest/actions')).status).toBe(404);
  await app.close();
  await expect(get(metricsPort, '/livez')).rejects.toThrow('fetch failed');
});

test('a background process answers the same, is not ready without its stores, and not while it stops', async () => {
  const w = await world({ jobs: 'real queue' });
  const metricsPort = await findFreePort(0);
  const config = { ...w.context.config, metricsPort };
  const probes = await openProbes({ ...w.context, config });
  w.context.reachedLimits.record('newGroupsPerMinute', 'service_1');
  onTestFinished(() => probes.close());
  expect(await get(metricsPort, '/livez')).toEqual({ status: 200, body: '{"live":true}' });
  expect(await get(metricsPort, '/readyz')).toEqual({ status: 200, body: '{"ready":true}' });
  const { body } = await get(metricsPort, '/metrics');
  expect(body).toContain('\nprocess_cpu_seconds_total');
  expect(body).toContain('\ntocsin_limits_met_total{limit="NEW_GROUPS_PER_MINUTE"} 1');
  probes.drain();
  expect(await get(metricsPort, '/readyz')).toMatchObject({ status: 503, body: expect.stringContaining('stopping') });
});

test('a worker without ClickHouse is not ready', async () => {
  const w = await world({ jobs: 'real queue' });
  const metricsPort = await findFreePort(0);
  const { context } = await apiWithout(w, { clickhouseUrl: 'http://127.0.0.1:1/none' });
  const probes = await openProbes({ ...context, config: { ...context.config, metricsPort } });
  onTestFinished(() => probes.close());
  const { status, body } = await get(metricsPort, '/readyz');
  expect(status).toBe(503);
  expect(JSON.parse(body)).toMatchObject({ ready: false, because: [expect.stringMatching(/^ClickHouse: /)] });
});

test('the first owner comes from the settings, once, and no file holds the password', async () => {
  const w = await world({ jobs: 'real queue' });
  await w.context.db.sql.run('truncate organizations, users cascade');
  const warnings: string[] = [];
  const log = { ...silentLog, warn: (_fields: object, text: string) => void warnings.push(text) };
  await warnOfNoOrganization({ db: w.context.db, log });
  expect(warnings).toEqual([expect.stringMatching(/^nobody can sign in yet: set FIRST_OWNER_EMAIL/)]);
  const config = {
    ...w.context.config,
    firstOrganization: 'Harbour',
    firstOwnerEmail: 'anna@example.com',
    firstOwnerPassword: 'quiet harbour 7 lantern',
  };
  const context = { ...w.context, config };
  expect(await Promise.all([ensureFirstRun(context), ensureFirstRun(context)])).toEqual([null, null]);
  const organizations = await storesOf(w.context.db.session()).people.listOrganizations();
  expect(organizations.map(({ name }) => name)).toEqual(['Harbour']);
  const signIn = { email: 'anna@example.com', password: 'quiet harbour 7 lantern' };
  const answer = await w.app.inject({
    method: 'POST',
    url: '/api/console/session',
    headers: { origin: 'http://tocsin.test', 'content-type': 'application/json' },
    payload: signIn,
  });
  expect(answer.statusCode).toBe(200);
});
