import { expect, test } from 'vitest';

import { listAlertBodies, listAlertSources, setAlertSource } from '#modules/alerts/operations/alert_sources.ts';
import { setAlertRoutes } from '#modules/alerts/operations/set_alert_routes.ts';
import { alertedService } from '#test/kit/alert_senders.ts';
import { memberCaller, runOperation } from '#test/kit/run_operation.ts';
import type { World } from '#test/kit/world.ts';
import { watchTransactions } from '#test/kit/when.ts';

const owner = (w: World) => memberCaller(w.orgId, w.owner.userId, 'owner');

const heartbeat = (status: number) => ({
  heartbeat: { monitorID: 7, status, msg: 'connect ECONNREFUSED' },
  monitor: { id: 7, name: 'Shop / front', url: 'https://shop.example/health' },
  msg: `[Shop / front] ${status === 0 ? 'Down' : 'Up'}`,
});

test('a template reads the bodies of a tool, as JSON and as a field of a form', async () => {
  const { key, send, incidents } = await alertedService();
  const path = `/webhook/${key}/uptime-kuma`;
  expect(await send(path, heartbeat(0), { authorization: null })).toMatchObject({
    status: 202,
    body: { status: 'success', dedup_key: '7' },
  });
  expect((await incidents())[0]).toMatchObject({
    title: '[Shop / front] Down',
    status: 'triggered',
    details: { links: [{ href: 'https://shop.example/health' }] },
  });
  const boundary = '--------------------------204094046386328692585180';
  const form = `--${boundary}\r\nContent-Disposition: form-data; name="data"\r\n\r\n${JSON.stringify(heartbeat(1))}\r\n--${boundary}--\r\n`;
  const headers = { 'content-type': `multipart/form-data; boundary=${boundary}` };
  expect((await send(path, form, { authorization: null, headers })).status).toBe(202);
  expect((await incidents())[0].status).toBe('resolved');
});

test('the template of GitHub reads how runs, checks and deployments end, and alerts of security by what is done to them', async () => {
  const { key, send, incidents } = await alertedService();
  const post = async (body: object, repository = 'acme/shop') => {
    const sent = { ...body, repository: { full_name: repository }, sender: { login: 'anna' } };
    const { status, body: answer } = await send(`/webhook/${key}/github`, sent, { authorization: null });
    expect(status).toBe(202);
    return answer.status as string;
  };
  const statuses = async () => (await incidents()).map(({ title, status }) => `${title} ${status}`).toSorted();
  const check = (conclusion: string | null, action = 'completed') => ({
    action,
    check_run: { name: 'build', status: conclusion === null ? 'queued' : 'completed', conclusion },
  });
  const ignored = [
    check(null, 'created'),
    { action: 'created', issue: { number: 7, title: 'A question' }, comment: { id: 1, body: 'Seen' } },
    { zen: 'Design for failure.', hook_id: 1, hook: { type: 'Repository' } },
    { ref: 'refs/heads/main', commits: [] },
  ];
  for (const body of ignored) expect(await post(body), JSON.stringify(body)).toBe('ignored');
  expect(await incidents()).toEqual([]);
  const deployment = (environment: string, state: string) => ({
    action: 'created',
    deployment_status: { state, environment, description: `${environment} ${state}` },
    deployment: { environment },
    workflow_run: { conclusion: null, workflow_id: 9, display_title: `Deploy ${environment}` },
  });
  await post(deployment('staging', 'failure'));
  await post(deployment('production', 'failure'));
  await post(deployment('production', 'success'));
  expect(await statuses()).toEqual(['Deploy production resolved', 'Deploy staging triggered']);
  await post(check('failure'));
  await post(check('success'), 'acme/other');
  expect(await statuses()).toContain('build triggered');
  await post(check('success'));
  expect(await statuses()).toContain('build resolved');
  const security = (action: string) => ({
    action,
    alert: { number: 3, html_url: 'https://github.com/acme/shop/alerts/3', security_advisory: { summary: 'XSS' } },
  });
  await post(security('created'));
  expect(await statuses()).toContain('XSS triggered');
  await post(security('auto_dismissed'));
  expect(await statuses()).toContain('XSS resolved');
});

test('the template of Sentry reads metric alerts, and opens nothing when somebody is assigned', async () => {
  const { key, send, incidents } = await alertedService();
  const post = (body: object) => send(`/webhook/${key}/sentry`, body, { authorization: null });
  const metric = (action: string, title: string) => ({
    action,
    data: {
      metric_alert: { id: '36', alert_rule: { id: '7', name: 'Too many errors' } },
      description_title: title,
      web_url: 'https://acme.sentry.io/alerts/36',
    },
  });
  expect(await post(metric('critical', 'Critical: Too many errors'))).toMatchObject({
    status: 202,
    body: { status: 'success', dedup_key: '36' },
  });
  expect((await incidents())[0]).toMatchObject({
    title: 'Critical: Too many errors',
    severity: 'fatal',
    details: { links: [{ href: 'https://acme.sentry.io/alerts/36' }] },
  });
  await post(metric('resolved', 'Resolved: Too many errors'));
  expect(await incidents()).toMatchObject([{ status: 'resolved', resolvedBy: { system: true } }]);
  const issue = (action: string) => ({ action, data: { issue: { id: '1', title: 'TypeError', level: 'error' } } });
  const ignored = [
    issue('assigned'),
    { action: 'created', data: { comment: 'Seen', comment_id: 1, issue_id: 1 } },
    { action: 'created', data: { installation: { uuid: 'x' } }, installation: { uuid: 'x' } },
  ];
  for (const body of ignored) expect((await post(body)).body).toEqual({ status: 'ignored' });
  expect(await incidents()).toHaveLength(1);
  await post(issue('created'));
  await post(issue('assigned'));
  expect((await incidents())[0]).toMatchObject({ title: 'TypeError', status: 'triggered', occurrences: 1 });
  await post(issue('archived'));
  expect((await incidents())[0].status).toBe('resolved');
  // The older plugin says nothing of what was done.
  expect((await post({ id: '5', message: 'ValueError', level: 'warning' })).body).toMatchObject({ dedup_key: '5' });
});

test('JSON that is called a form is taken, and usual names are found without a template', async () => {
  const { w, key, serviceId, send, incidents } = await alertedService();
  const headers = { 'content-type': 'application/x-www-form-urlencoded' };
  const post = (body: object) => send(`/webhook/${key}`, JSON.stringify(body), { authorization: null, headers });
  expect((await post({ title: 'Queue long', id: 'q', severity: 'critical' })).status).toBe(202);
  expect((await post({ title: 'Queue fine', id: 'q', status: 'OK' })).status).toBe(202);
  expect((await incidents())[0]).toMatchObject({ title: 'Queue long', severity: 'fatal', status: 'resolved' });
  expect(await post({ nothing: 1 })).toMatchObject({ status: 400, body: { status: 'error' } });
  const { sources } = await runOperation(w, listAlertSources, owner(w), { serviceId });
  expect(sources).toMatchObject([{ protocol: 'webhook', name: '', accepted: 2 }]);
  expect(await post([1])).toMatchObject({ status: 400 });
});

test('a form is read by the names of its fields, and a body that is nothing of a template by usual names', async () => {
  const { key, send, incidents } = await alertedService();
  const post = (path: string, body: string, contentType: string) =>
    send(path, body, { authorization: null, headers: { 'content-type': contentType } });
  const boundary = '--------------------------663026054341039674735396';
  const part = (name: string, text: string) =>
    `--${boundary}\r\nContent-Disposition: form-data; name="${name}"\r\n\r\n${text}\r\n`;
  const multipart = `multipart/form-data; boundary=${boundary}`;
  const opening = `${part('summary', 'Shop down')}${part('key', 'shop')}--${boundary}--\r\n`;
  expect((await post(`/webhook/${key}/uptime-kuma`, opening, multipart)).body).toMatchObject({ dedup_key: 'shop' });
  expect((await incidents())[0]).toMatchObject({ title: 'Shop down', status: 'triggered' });
  const form = 'application/x-www-form-urlencoded';
  expect((await post(`/webhook/${key}/uptime-kuma`, 'key=shop&action=close', form)).status).toBe(202);
  expect((await incidents())[0]).toMatchObject({ title: 'Shop down', status: 'resolved' });
  // Zabbix's script for SIGNL4 says that this is JSON.
  const zabbix = { Subject: 'CPU is high', Event_ID: '4711', Severity: 'High', 'X-S4-Status': 'new' };
  const sent = `payload=${JSON.stringify(zabbix)}`;
  expect((await post(`/webhook/${key}/zabbix`, sent, 'application/json')).body).toMatchObject({ dedup_key: '4711' });
  expect((await incidents())[0]).toMatchObject({ title: 'CPU is high', severity: 'error' });
  // Alerta's clients say by the severity that something is over.
  const alerta = { resource: 'shop', text: 'Service is up.', severity: 'cleared' };
  expect((await post(`/webhook/${key}`, JSON.stringify(alerta), 'application/json')).status).toBe(202);
  expect(await incidents()).toHaveLength(2);
  // A body that people have made up themselves, in which nothing has a usual name, is not taken as if it were understood.
  expect(await post(`/webhook/${key}/uptime-kuma`, '{"t":"Down","s":"0"}', form)).toMatchObject({ status: 400 });
  expect((await post(`/webhook/${key}/uptime-kuma`, '{"heartbeat":null,"msg":"Test"}', form)).body).toEqual({
    status: 'ignored',
  });
});

test('a mapping of its own says where the parts stand', async () => {
  const { w, key, serviceId, send, incidents } = await alertedService();
  await send(`/webhook/${key}/house`, { title: 'first' }, { authorization: null });
  const { sources } = await runOperation(w, listAlertSources, owner(w), { serviceId });
  const { sourceId, settings } = sources[0];
  const mapping = {
    title: ['what.went.wrong'],
    key: ['what.id'],
    status: { path: 'what.state', resolved: ['gut'] },
    severity: [],
    link: [],
    at: [],
  };
  await runOperation(w, setAlertSource, owner(w), { sourceId, ...settings, mapping });
  const post = (state: string) =>
    send(`/webhook/${key}/house`, { what: { went: { wrong: 'Fuse' }, id: 3, state } }, { authorization: null });
  await post('schlecht');
  expect((await incidents())[0]).toMatchObject({ title: 'Fuse', status: 'triggered' });
  await post('gut');
  expect((await incidents())[0].status).toBe('resolved');
});

test('routes drop, open without paging, or page by another policy; a severity that rises pages anew where they say so', async () => {
  const { w, serviceId, policyId, send, incidents } = await alertedService();
  const routes = [
    {
      conditions: [{ kind: 'detail', path: 'env', equals: 'test' }],
      outcome: 'drop',
      policyId: null,
      pagesOnRise: false,
    },
    {
      conditions: [{ kind: 'detail', path: 'env', matches: 'st*' }],
      outcome: 'open',
      policyId: null,
      pagesOnRise: false,
    },
    { conditions: [], outcome: 'page', policyId, pagesOnRise: true },
  ];
  await runOperation(w, setAlertRoutes, owner(w), { serviceId, routes });
  const event = (dedupKey: string, env: string, severity = 'warning') => ({
    dedupKey,
    title: dedupKey,
    severity,
    details: { env },
  });
  expect((await send('/events', event('a', 'test'))).body).toMatchObject({ incidentId: null });
  await send('/events', event('b', 'staging'));
  await w.runUntilIdle();
  expect(w.phone.messages).toHaveLength(0);
  expect(await incidents()).toMatchObject([{ title: 'b', escalation: { state: 'none' } }]);
  await send('/events', event('c', 'production'));
  await w.runUntilIdle();
  expect(w.phone.messages).toHaveLength(1);
  await send('/events', event('c', 'production', 'critical'));
  await w.runUntilIdle();
  expect((await incidents())[0]).toMatchObject({ title: 'c', severity: 'fatal', status: 'triggered' });
  expect(w.phone.messages).toHaveLength(2);
  await expect(
    runOperation(w, setAlertRoutes, owner(w), { serviceId, routes: routes.slice(0, 1) }),
  ).rejects.toMatchObject({ code: 'invalid_input' });
});

test('the last bodies of a source are kept encrypted, and shown', async () => {
  const { w, key, serviceId, send } = await alertedService();
  const whenKept = watchTransactions(w.context);
  await send(`/webhook/${key}`, { title: 'one', secret: 'hunter2' }, { authorization: null });
  await whenKept();
  const sealed = async () =>
    await w.context.db.sql.rows<{ sealed: Buffer }>('select sealed from alert_bodies where service_id = $1', [
      serviceId,
    ]);
  expect(await sealed()).toHaveLength(1);
  expect((await sealed())[0]!.sealed.includes('hunter2')).toBe(false);
  const { sources } = await runOperation(w, listAlertSources, owner(w), { serviceId });
  const { bodies } = await runOperation(w, listAlertBodies, owner(w), { sourceId: sources[0].sourceId });
  expect(bodies).toMatchObject([{ refusal: null, body: '{"title":"one","secret":"hunter2"}' }]);
});

test('secrets of an alert are left out of its title, details and links; names of objects stay', async () => {
  const { key, send, incidents } = await alertedService();
  const body = {
    title: 'Login failed: password=hunter2-a',
    id: 'login:token=hunter2-f',
    link: 'https://ci.test/job?token=hunter2-b&build=7',
    request: {
      headers: { Authorization: 'Bearer hunter2-c', 'X-Build': '7' },
      params: [{ name: 'pin_code', value: 'hunter2-d' }],
    },
    dsn: 'app:hunter2-e@tcp(db:3306)/shop',
    labels: { secret: 'web-tls', sid: 'ORCL', namespace: 'shop' },
    deep: { a: { b: { c: { d: { e: { f: { g: { h: 'kept' } } } } } } } },
  };
  expect((await send(`/webhook/${key}`, body, { authorization: null })).status).toBe(202);
  const [incident] = await incidents();
  expect(JSON.stringify(incident)).not.toContain('hunter2');
  expect(incident).toMatchObject({ title: 'Login failed: password=[filtered]' });
  expect(JSON.stringify(incident)).toContain('web-tls');
  expect(JSON.stringify(incident)).toContain('ORCL');
  expect(JSON.stringify(incident)).toContain('"h":"kept"');
});
