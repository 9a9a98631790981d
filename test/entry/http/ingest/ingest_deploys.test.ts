import { expect, test } from 'vitest';

import { browseExceptionGroups } from '#modules/exceptions/operations/browse_exception_groups.ts';
import { getExceptionOverview } from '#modules/exceptions/operations/get_exception_overview.ts';
import { listReleases } from '#modules/releases/operations/releases.ts';
import { eventAt, groupAndStore } from '#test/modules/exceptions/given_events.ts';
import { memberCaller, runOperation } from '#test/kit/run_operation.ts';
import { fileWorld } from '#test/kit/world.ts';

const w = await fileWorld();
const service = await w.given.service({ capabilities: ['exceptions'] });

async function tell(body: unknown, { key = service.ingestionKey, method = 'POST' as const, path = '' } = {}) {
  const headers = { authorization: `Bearer ${key}`, 'content-type': 'application/json' };
  const payload = typeof body === 'string' ? body : JSON.stringify(body);
  const answer = await w.app.inject({ method, url: `/api/ingest/deploys${path}`, headers, payload });
  return { status: answer.statusCode, body: answer.json() };
}

const deploys = () =>
  w.context.db.sql.rows('select id, release, environment from deploys where service_id = $1 order by finished_at', [
    service.serviceId,
  ]);

test('a pipeline tells of a deploy with the ingestion key, and it marks the bars of exceptions', async () => {
  const [group] = await groupAndStore(w, service.serviceId, [eventAt(w)]);
  const finishedAt = w.clock.now().subtract({ hours: 24 });
  const deploy = { release: 'shop@1.4.0', environment: 'staging', name: 'blue', url: 'https://ci.example/1' };
  const first = await tell({ ...deploy, finishedAt: finishedAt.toString() });
  expect(first).toMatchObject({
    status: 201,
    body: { serviceId: service.serviceId, release: 'shop@1.4.0', environment: 'staging' },
  });
  // The same once more, as a pipeline does that saw no answer.
  expect(await tell({ ...deploy, finishedAt: finishedAt.toString() }, { path: '/' })).toEqual(first);
  expect(await tell({ release: 'shop@1.4.1' })).toMatchObject({ status: 201, body: { environment: 'production' } });
  expect(await deploys()).toMatchObject([{ release: 'shop@1.4.0' }, { release: 'shop@1.4.1' }]);
  const rows = await w.context.db.sql.rows<{ actor: unknown }>(
    `select actor, via from audit_log where target = $1 and action = 'record_deploy'`,
    [first.body.deployId],
  );
  expect(rows).toMatchObject([{ actor: { kind: 'system' }, via: 'rest' }]);

  const viewer = memberCaller(w.orgId, w.owner.userId, 'viewer');
  const { serviceId } = service;
  const [yesterday, today] = [finishedAt, w.clock.now()].map((at) => at.toString().slice(0, 10));
  const marks = [
    { date: yesterday, count: 1, release: 'shop@1.4.0' },
    { date: today, count: 1, release: 'shop@1.4.1' },
  ];
  const overview = await runOperation(w, getExceptionOverview, viewer, { groupId: group!.groupId });
  expect(overview.deploys).toEqual(marks);
  const list = await runOperation(w, browseExceptionGroups, viewer, { serviceId });
  expect(list.deploys).toEqual(marks.map((mark) => ({ serviceId, ...mark })));
  const { releases } = await runOperation(w, listReleases, viewer, { serviceId, search: '1.4.1' });
  expect(releases).toMatchObject([{ release: 'shop@1.4.1', deploy: { environment: 'production' } }]);
});

test.each([
  ['no release', {}, 400, 'release: '],
  ['no object', [], 400, ''],
  ['no JSON', '{', 400, 'not valid JSON'],
  ['a field that nobody knows', { release: '1', stage: 'x' }, 400, 'stage: '],
  ['two lines', { release: 'a\nb' }, 400, 'release: '],
  ['a long environment', { release: '1', environment: 'x'.repeat(65) }, 400, 'environment: '],
  ['no address', { release: '1', url: 'javascript:alert(1)' }, 400, 'url: '],
  ['no time', { release: '1', finishedAt: 'yesterday' }, 400, 'finishedAt: '],
  ['a time long ago', { release: '1', finishedAt: '2001-01-01T00:00:00Z' }, 400, 'finishedAt: '],
  ['a start behind its end', { release: '1', startedAt: '2999-01-01T00:00:00Z' }, 400, 'startedAt: '],
  ['a body that is too large', { release: '1', name: 'x'.repeat(17_000) }, 413, ''],
])('a deploy with %s is refused, and what is wrong is said', async (_what, body, status, detail) => {
  const before = await deploys();
  const answer = await tell(body);
  expect(answer).toMatchObject({ status, body: { detail: expect.stringContaining(detail) } });
  expect(await deploys()).toEqual(before);
});

test('only the ingestion key of the service opens it, with POST', async () => {
  expect(await tell({ release: '1' }, { key: w.orgKey })).toMatchObject({ status: 401 });
  const answer = await w.app.inject({ method: 'GET', url: '/api/ingest/deploys' });
  expect([answer.statusCode, answer.headers['allow']]).toEqual([405, 'POST']);
});

test('beyond 1,000 a day deploys are refused, whatever time they are of', async () => {
  const { serviceId, ingestionKey: key } = await w.given.service();
  await w.context.db.sql.run(
    `insert into deploys (id, org_id, service_id, release, environment, finished_at, created_at)
     select 'deploy_' || lpad(n::text, 26, '0'), $1, $2, '1', 'production', $3::timestamptz - interval '30 days', $3
     from generate_series(1, 1000) n`,
    [w.orgId, serviceId, w.clock.now().toString()],
  );
  const refused = await tell({ release: '2' }, { key });
  expect(refused).toMatchObject({ status: 429, body: { detail: expect.stringContaining('1000 deploys a day') } });
});
