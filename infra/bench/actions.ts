import { randomBytes } from 'node:crypto';

import autocannon from 'autocannon';
import { fastify } from 'fastify';

import { authenticateApiKey } from '#auth/api_keys.ts';
import { hashSecret, newSecretText } from '#auth/secret_text.ts';
import { buildApp } from '#entry/http/app.ts';
import type { AppContext } from '#entry/compose.ts';
import { newId } from '#kernel/ids.ts';
import { silentLog } from '#kernel/log.ts';

import { count, duration, ratio, spreadCells, spreadOf } from './figures.ts';
import { type Bench, printInputs, printTable, timed, withInstallation, withStores } from './harness.ts';
import { countProcessorBelow } from './paging/processes.ts';

const SECONDS = 5;
const CONNECTIONS = 10;
const SERVICES = 20;
const KEYS = 100_000;
const KEY_CHECKS = 2_000;
const CALLS = 1_000;
/** The part to measure alone: `bare` or `processor`. */
const PART = process.env['BENCH_ACTIONS'];

/** The SQL of `list_services` and its authentication, for a route that does nothing else. */
const BARE_KEY = `select k.id, k.org_id, k.permissions, m.role from api_keys k
  left join memberships m on m.org_id = k.org_id and m.user_id = k.user_id
  where k.hash = $1 and k.revoked_at is null`;
const BARE_LIST = `select s.*, array(select capability from service_capabilities c
    where c.service_id = s.id and c.is_enabled order by 1) as capabilities
  from services s where s.org_id = $1 and s.deleted_at is null order by s.id limit 1000`;
const BARE_WRITE = `update services set environment = $2, updated_at = now() where id = $1`;

export const actions: Bench = {
  name: 'actions',
  about:
    'actions over REST against a bare Fastify route doing the same SQL (goal: reads within 1.5 ×), API-key checks, ' +
    'and the processor time of a call in each process (goal: tools/call within 1.15 × REST)',
  run: async () => {
    if (PART !== 'processor') await againstBare();
    if (PART !== 'bare') await processorOfCalls();
  },
};

const againstBare = () =>
  withStores(async ({ context, firstRun }) => {
    printInputs({ services: SERVICES, connections: CONNECTIONS, seconds: SECONDS, 'API keys': count(KEYS) });
    const quiet = { ...context, log: silentLog };
    const key = firstRun.apiKey;
    const product = await buildApp(quiet);
    const bare = bareServer(quiet, firstRun.organizationId, key);
    const productUrl = await product.listen({ port: 0, host: '127.0.0.1' });
    const bareUrl = await bare.listen({ port: 0, host: '127.0.0.1' });
    const serviceId = await createServices(productUrl, key);
    const read = await against(`${productUrl}/api/rest/actions/list_services`, `${bareUrl}/read`, key, () => ({}));
    const write = await against(`${productUrl}/api/rest/actions/update_service`, `${bareUrl}/write`, key, () => ({
      serviceId,
      environment: randomBytes(4).toString('hex'),
    }));
    printTable([
      { action: 'list_services', ...read },
      { action: 'update_service (locked, audited)', ...write },
    ]);
    await bare.close();
    await product.close();
    await checkKeys(quiet, firstRun.organizationId);
  });

/** Measures the processor time of a call by process, everything running as in production: twice in turn, the second time counts. */
const processorOfCalls = () =>
  withInstallation(
    async ({ baseUrl, apiKey }) => {
      const serviceId = await createServices(baseUrl, apiKey);
      const rest = (action: string) => `${baseUrl}/api/rest/actions/${action}`;
      const tool = (name: string, input: object) => ({
        jsonrpc: '2.0',
        id: 1,
        method: 'tools/call',
        params: { name, arguments: input },
      });
      const calls = [
        { call: 'list_services', url: rest('list_services'), body: () => ({}) },
        { call: 'get_service', url: rest('get_service'), body: () => ({ serviceId }) },
        { call: 'tools/call list_services', url: `${baseUrl}/api/mcp`, body: () => tool('list_services', {}) },
        { call: 'tools/call get_service', url: `${baseUrl}/api/mcp`, body: () => tool('get_service', { serviceId }) },
        {
          call: 'update_service',
          url: rest('update_service'),
          body: () => ({ serviceId, environment: randomBytes(4).toString('hex') }),
        },
      ];
      for (const { url, body } of calls) await fire(url, apiKey, body, { amount: CALLS });
      const rows: Record<string, string>[] = [];
      for (const { call, url, body } of calls) {
        const spentMs = countProcessorBelow(process.pid);
        await fire(url, apiKey, body, { amount: CALLS });
        const spent = spentMs();
        const [api = 0, postgres = 0] = ['API', 'PostgreSQL'].map((name) => (spent.get(name) ?? 0) / CALLS);
        rows.push({
          call,
          'processor of the API': duration(api),
          'of PostgreSQL': duration(postgres),
          together: duration(api + postgres),
          'of the sender': duration((spent.get('Supervisor (this program)') ?? 0) / CALLS),
        });
      }
      printTable(rows);
    },
    { variables: { CALLS_PER_MINUTE: '0', ANSWER_MEGABYTES_PER_MINUTE: '0' } },
  );

function bareServer(context: AppContext, orgId: string, key: string) {
  const app = fastify({ logger: false });
  const hash = hashSecret(key);
  app.post('/read', async () => {
    await context.db.sql.rows(BARE_KEY, [hash]);
    return { result: { services: await context.db.sql.rows(BARE_LIST, [orgId]) } };
  });
  const write = async ({ serviceId, environment }: { serviceId: string; environment: string }) => {
    await context.db.sql.rows(BARE_KEY, [hash]);
    await context.db.transaction(({ sql }) => sql.run(BARE_WRITE, [serviceId, environment]));
    return { result: {} };
  };
  app.post<{ Body: { serviceId: string; environment: string } }>('/write', ({ body }) => write(body));
  return app;
}

async function createServices(url: string, key: string): Promise<string> {
  let serviceId = '';
  for (let index = 0; index < SERVICES; index += 1) {
    const response = await fetch(`${url}/api/rest/actions/create_service`, {
      method: 'POST',
      headers: { authorization: `Bearer ${key}`, 'content-type': 'application/json' },
      body: JSON.stringify({ name: `service ${index}` }),
    });
    serviceId = ((await response.json()) as { result: { serviceId: string } }).result.serviceId;
  }
  return serviceId;
}

/** Runs both in turn, twice, so that neither profits from a warmer machine. */
async function against(product: string, bare: string, key: string, body: () => object) {
  const rounds = [
    await fire(bare, key, body),
    await fire(product, key, body),
    await fire(bare, key, body),
    await fire(product, key, body),
  ];
  const [, , bareRound, productRound] = rounds;
  if (bareRound === undefined || productRound === undefined) throw new Error('a round is missing');
  return {
    'product/s': count(productRound.requests.average),
    p50: duration(productRound.latency.p50),
    p99: duration(productRound.latency.p99),
    'bare/s': count(bareRound.requests.average),
    'bare ÷ product': ratio(bareRound.requests.average, productRound.requests.average),
  };
}

async function fire(
  url: string,
  key: string,
  body: () => object,
  until: { readonly duration: number } | { readonly amount: number } = { duration: SECONDS },
): Promise<autocannon.Result> {
  const result = await autocannon({
    url,
    connections: CONNECTIONS,
    ...until,
    method: 'POST',
    headers: {
      authorization: `Bearer ${key}`,
      'content-type': 'application/json',
      accept: 'application/json, text/event-stream',
    },
    requests: [{ setupRequest: (request) => ({ ...request, body: JSON.stringify(body()) }) }],
  });
  if (result.non2xx > 0) throw new Error(`${url} answered ${result.non2xx} requests with an error`);
  return result;
}

const credentialOf = (key: string | undefined) => ({ authorization: `Bearer ${key}`, address: '192.0.2.1' });
async function checkKeys(context: AppContext, orgId: string): Promise<void> {
  const texts = Array.from({ length: KEYS }, () => newSecretText('tocsin_key'));
  await context.db.sql.run(
    `insert into api_keys (id, org_id, name, hash, hint, created_at, last_used_at)
     select id, $1, 'bench', decode(hash, 'hex'), '', now(), now() from unnest($2::text[], $3::text[]) t(id, hash)`,
    [orgId, texts.map(() => newId('apikey')), texts.map((text) => hashSecret(text).toString('hex'))],
  );
  await context.db.sql.run('analyze api_keys');
  const samples = await timed(
    async () => {
      const text = texts[Math.floor(Math.random() * texts.length)];
      await authenticateApiKey(context.actions, credentialOf(text), 'rest', context.clock.now());
    },
    { times: KEY_CHECKS, secondsMax: 20 },
  );
  const began = performance.now();
  const parallel = 16;
  await Promise.all(
    Array.from({ length: parallel }, async () => {
      for (let index = 0; index < KEY_CHECKS / parallel; index += 1) {
        const text = texts[Math.floor(Math.random() * texts.length)];
        await authenticateApiKey(context.actions, credentialOf(text), 'rest', context.clock.now());
      }
    }),
  );
  const perSecond = KEY_CHECKS / ((performance.now() - began) / 1_000);
  printTable([
    {
      'key checks': `one at a time, of ${count(KEYS)} keys`,
      ...spreadCells(spreadOf(samples)),
      'at 16 at once': `${count(perSecond)}/s`,
    },
  ]);
}
