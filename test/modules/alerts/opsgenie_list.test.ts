import { expect, onTestFinished, test, vi } from 'vitest';

import { readQuery } from '#ingest/protocols/alerts/opsgenie_query.ts';
import { alertedService } from '#test/kit/alert_senders.ts';
import { happenings } from '#test/kit/when.ts';

async function withAlerts() {
  const alerted = await alertedService();
  const { w, key, send } = alerted;
  const by = { authorization: `GenieKey ${key}` };
  w.clock.set('2027-06-01T12:00:00Z');
  const create = async (body: Readonly<Record<string, unknown>>) => {
    expect((await send('/opsgenie/v2/alerts', body, by)).status).toBe(202);
    w.clock.advance({ minutes: 1 });
  };
  await create({
    message: 'Disk 100% full',
    alias: 'disk:1',
    priority: 'P1',
    tags: ['ovp', 'Critical'],
    entity: 'db-1',
  });
  await create({ message: 'CPU is high', alias: 'cpu/ü', priority: 'P3', tags: ['client_7'], source: 'Nagios' });
  const queue = { message: 'Queue waits', alias: 'queue', priority: 'P5', description: 'orders "late"' };
  await create(queue);
  await create(queue);
  await send('/opsgenie/v2/alerts/cpu%2F%C3%BC/acknowledge?identifierType=alias', {}, by);
  await send('/opsgenie/v2/alerts/disk%3A1/close?identifierType=alias', {}, by);
  const get = async (path: string) => await send(path, undefined, { method: 'GET', ...by });
  const find = async (query: string) => {
    const { status, body } = await get(`/opsgenie/v2/alerts?query=${encodeURIComponent(query)}`);
    expect(status, query).toBe(200);
    return (body.data as { alias: string }[]).map(({ alias }) => alias);
  };
  return { ...alerted, by, get, find };
}

test('queries of clients find what they name', async () => {
  const { find } = await withAlerts();
  const [disk, cpu, queue] = ['disk:1', 'cpu/ü', 'queue'];
  const cases: Readonly<Record<string, readonly string[]>> = {
    '': [queue, cpu, disk],
    'status: open': [queue, cpu],
    'status=closed': [disk],
    'status:(open OR closed)': [queue, cpu, disk],
    'acknowledged:false AND status:open': [queue],
    'status: closed AND tag: (ovp AND Critical)': [disk],
    'status: open AND tag: (ovp AND Critical)': [],
    'NOT tags:client_*': [queue, disk],
    'alias:disk:1 AND status:closed': [disk],
    'alias: "cpu/ü"': [cpu],
    'alias: disk': [],
    'priority=P1': [disk],
    'priority: (P4 OR P5)': [queue],
    'message: "100% full"': [disk],
    'message: 100_': [],
    'source: nagios': [cpu],
    'entity: db-1': [disk],
    'description: "orders \\"late\\""': [queue],
    'count > 1': [queue],
    'createdAt > 2027-06-01T12:01:30Z': [queue],
    'createdAt>01-06-2027 AND createdAt < 1811851260000': [disk],
    queue: [queue],
    'queue waits': [queue],
    '(cpu OR disk) AND NOT isSeen: true': [],
  };
  for (const [query, aliases] of Object.entries(cases)) expect(await find(query), query).toEqual(aliases);
});

test('tags and details are added to those there are and taken away by name, as many as fit', async () => {
  const { send, by, get, find } = await withAlerts();
  const at = '/opsgenie/v2/alerts/web';
  const change = async (method: 'POST' | 'DELETE', path: string, body?: object) => {
    const [name, search = ''] = path.split('?');
    const address = `${at}/${name}?identifierType=alias&${search}`;
    expect((await send(address, body, { ...by, method })).status).toBe(202);
  };
  const read = async () => {
    const { tags, details } = (await get(`${at}?identifierType=alias`)).body.data;
    return { tags, details };
  };
  const details = { team: 'shop', region: 'eu' };
  await send('/opsgenie/v2/alerts', { message: 'Web', alias: 'web', tags: ['prod', 'critical'], details }, by);
  await change('POST', 'tags', { tags: ['seen', 'prod', ''] });
  await change('POST', 'details', { details: { ticket: '7', region: 'us' }, note: 'moved' });
  expect(await read()).toEqual({
    tags: ['prod', 'critical', 'seen'],
    details: { team: 'shop', region: 'us', ticket: '7' },
  });
  expect(await find('tag:prod')).toEqual(['web']);
  await change('DELETE', 'tags?tags=prod,%20seen,none');
  await change('DELETE', 'details?keys=team,region,none');
  expect(await read()).toEqual({ tags: ['critical'], details: { ticket: '7' } });
  expect(await find('tag:prod')).toEqual([]);
  await change('POST', 'tags', { tags: 'no list' });
  await change('DELETE', 'tags');
  await change('POST', 'tags', { tags: Array.from({ length: 150 }, (_, number) => `tag ${number}`) });
  const many = await read();
  expect(many.tags).toHaveLength(100);
  expect(many.tags.slice(0, 2)).toEqual(['critical', 'tag 0']);
  // What does not fit beside the others is not added.
  await change('POST', 'details', { details: { large: 'x'.repeat(64 * 1024) } });
  expect(await read()).toEqual(many);
  await change('DELETE', `tags?tags=${many.tags.map(encodeURIComponent).join(',')}`);
  expect((await read()).tags).toEqual([]);
});

test('a list has pages, an order and a count, as its links say', async () => {
  const { get, w, serviceId } = await withAlerts();
  const first = await get('/opsgenie/v2/alerts/?limit=2&sort=message&order=asc');
  expect(first.body).toMatchObject({
    data: [
      { message: 'CPU is high', status: 'open', acknowledged: true, priority: 'P3', tags: ['client_7'] },
      { message: 'Disk 100% full', status: 'closed' },
    ],
    took: expect.any(Number),
  });
  const base = 'http://tocsin.test/api/alerts/opsgenie/v2/alerts/?limit=2&sort=message&order=asc&offset=';
  expect(first.body.paging).toEqual({ first: `${base}0`, next: `${base}2`, last: `${base}2` });
  const next = await get(first.body.paging.next.replace('http://tocsin.test/api/alerts', ''));
  expect(next.body.data).toMatchObject([{ message: 'Queue waits', count: 2 }]);
  expect(Object.keys(next.body.paging)).toEqual(['prev', 'first', 'last']);
  expect((await get('/opsgenie/v2/alerts/count?query=status%3Aclosed')).body.data).toEqual({ count: 1 });
  expect((await get('/opsgenie/v2/alerts/count')).body.data).toEqual({ count: 2 });
  // Alerts of other protocols and of other services are not among them.
  const others = await w.context.db.sql.rows('select from alerts where service_id = $1', [serviceId]);
  expect(others).toHaveLength(3);
});

test('what no client may ask is 422, and says what is known', async () => {
  const { get } = await withAlerts();
  const errors = async (search: string) => {
    const { status, body } = await get(`/opsgenie/v2/alerts?${search}`);
    expect(status, search).toBe(422);
    return body.errors;
  };
  expect(await errors('limit=101')).toEqual({ limit: 'is a number from 1 to 100' });
  expect(await errors('offset=-1')).toEqual({ offset: 'is a number from 0 to 20000' });
  expect(await errors('sort=colour&order=up')).toEqual({
    sort: expect.stringContaining('createdAt, updatedAt'),
    order: 'is asc or desc',
  });
  expect(await errors('query=teams%3A%22mine%22')).toEqual({
    query: expect.stringContaining('names the field teams, which is not known here; known are status,'),
  });
  expect(await errors('searchIdentifier=x')).toHaveProperty('searchIdentifier');
  for (const query of [
    'status:',
    '(a',
    'a)',
    'status: maybe',
    'status > open',
    'createdAt: x',
    'AND',
    ')',
    '"',
    'a:(b',
  ]) {
    expect(await errors(`query=${encodeURIComponent(query)}`), query).toHaveProperty('query');
  }
  expect(() => readQuery('('.repeat(900))).toThrow('more than 50 conditions');
  expect(() => readQuery('x'.repeat(2_000))).toThrow('longer than 1000 characters');
});

test('integration events of Jira Service Management are those of Opsgenie at their address', async () => {
  const { send, by, get, incidents } = await withAlerts();
  const at = '/jsm/ops/integration/v2/alerts';
  const alert = { message: 'CPU usage exceeded 80%', alias: 'Db / 1', responders: [{ id: 'x', type: 'team' }] };
  expect(await send(at, alert, by)).toMatchObject({ status: 202, body: { result: 'Request will be processed' } });
  const named = `${at}/Db%20%2F%201`;
  expect((await get(`${named}?identifierType=alias`)).body.data).toMatchObject({ alias: 'Db / 1', status: 'open' });
  expect((await send(`${named}/notes?identifierType=alias`, { note: 'Seen' }, by)).status).toBe(202);
  expect((await send(`${named}/acknowledge?identifierType=alias`, {}, by)).status).toBe(202);
  expect((await send(`${named}/close?identifierType=alias`, {}, by)).status).toBe(202);
  const [incident] = await incidents();
  expect(incident).toMatchObject({ title: alert.message, status: 'resolved' });
  expect((await send(at, alert, { authorization: `GenieKey ${'k'.repeat(32)}` })).status).toBe(401);
});

test('searches that take long wait for each other, and leave alerts their places', async () => {
  const { w, get, send, by, incidents } = await withAlerts();
  const before = (await incidents()).length;
  const searches: Promise<number>[] = [];
  const { all: answered, happen: answer, reach } = happenings<number>();
  await w.context.db.transaction(async ({ sql }) => {
    await sql.run('lock table alert_sources in access exclusive mode');
    for (let nth = 0; nth < 30; nth += 1) {
      searches.push(
        get('/opsgenie/v2/alerts?query=message:x').then(({ status }) => {
          answer(status);
          return status;
        }),
      );
    }
    await reach(22);
    expect(new Set(answered)).toEqual(new Set([429]));
  });
  expect((await Promise.all(searches)).filter((status) => status === 200)).toHaveLength(8);
  expect((await send('/opsgenie/v2/alerts', { message: 'Another', alias: 'another' }, by)).status).toBe(202);
  expect(await incidents()).toHaveLength(before + 1);
});

test('a search that takes too long is given up in words', async () => {
  const { w, get } = await withAlerts();
  onTestFinished(w.clock.beImpatient(1));
  const { transaction } = w.context.db;
  const slow = vi.spyOn(w.context.db, 'transaction').mockImplementation(async (work) => {
    return await transaction(async (session) => {
      const result = await work(session);
      const shown = await session.sql.row<{ limit: string }>("select current_setting('statement_timeout') as limit");
      expect(shown).toEqual({ limit: '3s' });
      await session.sql.run("select set_config('statement_timeout', '1', true)");
      await session.sql.run('select pg_sleep(10)');
      return result;
    });
  });
  onTestFinished(() => slow.mockRestore());
  const { status, body } = await get('/opsgenie/v2/alerts/count?query=message:x');
  expect(status).toBe(422);
  expect(JSON.stringify(body)).toContain('takes too long');
});
