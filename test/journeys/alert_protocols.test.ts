import { afterAll, beforeAll, describe, expect, test } from 'vitest';

import { listMonitors } from '#modules/monitors/operations/monitors.ts';
import { alertedServiceIn } from '#test/kit/alert_senders.ts';
import { memberCaller, runOperation } from '#test/kit/run_operation.ts';
import { type StaffedWorld, staffedWorld } from '#test/kit/staffed_world.ts';

let w: StaffedWorld;
beforeAll(async () => {
  w = await staffedWorld({ keepOpen: true });
});
afterAll(() => w.close());

const limitedWorld = () => staffedWorld({ settings: { ingestAlertsPerSecond: 1 } });

test('who is too fast is told to wait', async () => {
  const { w, send } = await alertedServiceIn(await limitedWorld());
  const events = Array.from({ length: 12 }, (_, n) => ({ dedupKey: `${n}`, title: 'x' }));
  expect((await send('/events', events)).status).toBe(202);
  const refused = await send('/events', { title: 'one more' });
  expect(refused).toMatchObject({ status: 429, headers: { 'retry-after': expect.any(String) } });
  w.clock.advance({ seconds: 60 });
  expect((await send('/events', { title: 'later' })).status).toBe(202);
});

describe('PagerDuty', () => {
  const trigger = (key: string) => ({
    routing_key: key,
    dedup_key: '4711',
    event_action: 'trigger',
    client: 'Zabbix',
    client_url: 'http://zabbix.example',
    payload: {
      summary: 'Problem: CPU is high',
      source: 'web-1',
      severity: 'error',
      custom_details: { n: 1, list: [1], text: 'x' },
    },
    links: [{ href: 'http://zabbix.example/event', text: 'Event link' }],
  });

  test('events of version 2 trigger, acknowledge and resolve', async () => {
    const { key, anna, send, incidents } = await alertedServiceIn(w);
    const post = (body: unknown) => send('/pagerduty/v2/enqueue', body, { authorization: null });
    const taken = await post(trigger(key));
    expect(taken.status).toBe(202);
    expect(taken.body).toEqual({ status: 'success', message: 'Event processed', dedup_key: '4711' });
    await w.runUntilIdle();
    expect(w.phone.messages.filter(({ to }) => to === anna.phone)).toHaveLength(1);
    const [incident] = await incidents();
    expect(incident).toMatchObject({
      title: 'Problem: CPU is high',
      details: {
        source: { tool: 'Zabbix' },
        said: { source: 'web-1', custom_details: { n: 1 } },
        links: [{ text: 'Event link' }, { href: 'http://zabbix.example/' }],
      },
    });
    await post({ routing_key: key, dedup_key: '4711', event_action: 'acknowledge' });
    expect((await incidents())[0]).toMatchObject({ status: 'acknowledged', acknowledgedBy: { tool: 'Zabbix' } });
    expect((await post({ routing_key: key, dedup_key: '4711', event_action: 'resolve' })).status).toBe(202);
    expect((await incidents())[0]).toMatchObject({ status: 'resolved', resolvedBy: { tool: 'Zabbix' } });
    const unnamed = await post({ ...trigger(key), dedup_key: undefined });
    expect(unnamed.body.dedup_key).toMatch(/^[0-9a-f-]{36}$/);
  });

  test('what is wrong is an invalid event, also an unknown key; who is too fast is told so in the words of its version', async () => {
    const limited = await limitedWorld();
    const { key, send } = await alertedServiceIn(limited);
    const post = (body: unknown, path = '/pagerduty/v2/enqueue') => send(path, body, { authorization: null });
    expect(await post({ ...trigger(key), routing_key: 'k'.repeat(32) })).toMatchObject({
      status: 400,
      body: { status: 'invalid event', errors: ['Invalid routing key', expect.any(String)] },
    });
    expect(await post({ routing_key: key, event_action: 'explode', payload: {} })).toMatchObject({
      status: 400,
      body: { errors: ['event_action is one of trigger, acknowledge, resolve', 'payload.summary is required'] },
    });
    expect(await post('no json')).toMatchObject({ status: 400, body: { status: 'invalid event' } });
    const first = '/pagerduty/generic/2010-04-15/create_event.json';
    const old = { service_key: key, event_type: 'trigger', description: 'Old', incident_key: 'o' };
    expect(await post(old, first)).toMatchObject({
      status: 200,
      body: { status: 'success', message: 'Event processed', incident_key: 'o' },
    });
    for (let sent = 0; sent < 10; sent += 1) await post({ ...trigger(key), dedup_key: `${sent}` });
    expect(await post(trigger(key))).toMatchObject({ status: 429, body: { status: 'throttle exceeded' } });
    expect((await post(old, first)).status).toBe(403);
    // Alertmanager and Grafana try again at once only after a 503.
    const other = await alertedServiceIn(limited);
    const alerts = Array.from({ length: 12 }, (_, number) => ({
      status: 'firing',
      labels: { alertname: `${number}` },
    }));
    expect((await other.send('/alertmanager', { alerts })).status).toBe(200);
    const overload = { status: 503, body: { status: 'error' } };
    expect(await other.send('/alertmanager', { alerts: alerts.slice(0, 1) })).toMatchObject(overload);
    expect(await other.send('/grafana', { no: 'alerts' })).toMatchObject({ status: 503 });
  });

  test('bodies of megabytes are taken', async () => {
    const { key, send, incidents } = await alertedServiceIn(w);
    const large = { ...trigger(key), payload: { ...trigger(key).payload, custom_details: 'x'.repeat(3_400_000) } };
    expect((await send('/pagerduty/v2/enqueue', large, { authorization: null })).status).toBe(202);
    expect(JSON.stringify((await incidents())[0].details).length).toBeLessThan(16_000);
  });

  test('a change event is a deploy', async () => {
    const { key, send, serviceId } = await alertedServiceIn(w);
    const change = { routing_key: key, payload: { summary: 'Build 7' }, links: [{ href: 'https://ci.example/7' }] };
    const taken = await send('/pagerduty/v2/change/enqueue', change, { authorization: null });
    expect(taken).toMatchObject({ status: 202, body: { status: 'success' } });
    const deploys = await w.context.db.sql.rows('select url from deploys where service_id = $1', [serviceId]);
    expect(deploys).toEqual([{ url: 'https://ci.example/7' }]);
  });
});

describe('Alertmanager', () => {
  const alert = (name: string, status = 'firing') => ({
    status,
    labels: { alertname: 'HighLatency', instance: name, severity: 'critical' },
    annotations: { summary: 'p99 is high', runbook_url: 'https://runbooks.example/p99' },
    startsAt: '2027-06-01T11:59:00.754Z',
    endsAt: status === 'resolved' ? '2027-06-01T12:00:30Z' : '0001-01-01T00:00:00Z',
    generatorURL: 'http://prometheus.example/graph',
    fingerprint: `f-${name}`,
  });
  const webhook = (alerts: object[], more: object = {}) => ({
    receiver: 'hook',
    status: alerts.some((one) => 'status' in one && one.status === 'firing') ? 'firing' : 'resolved',
    alerts,
    groupLabels: { alertname: 'HighLatency' },
    externalURL: 'http://alertmanager.example:9093',
    version: '4',
    groupKey: '{}/{}:{alertname="HighLatency"}',
    truncatedAlerts: 0,
    ...more,
  });

  test('a group pages once, and ends with the last of its alerts', async () => {
    const { key, anna, send, incidents } = await alertedServiceIn(w);
    w.clock.set('2027-06-01T12:00:00Z');
    expect(await send('/alertmanager', webhook([alert('a')]))).toMatchObject({ status: 200 });
    await w.runUntilIdle();
    await send(`/alertmanager/${key}/?x=1`, webhook([alert('a'), alert('b')]), { authorization: null });
    await w.runUntilIdle();
    expect(w.phone.messages.filter(({ to }) => to === anna.phone)).toHaveLength(1);
    const open = await incidents();
    expect(open).toMatchObject([{ title: 'HighLatency: p99 is high', severity: 'fatal', status: 'triggered' }]);
    await send('/alertmanager', webhook([alert('a', 'resolved'), alert('b')]));
    expect((await incidents())[0].status).toBe('triggered');
    await send('/alertmanager', webhook([alert('b', 'resolved')], { truncatedAlerts: 3 }));
    expect((await incidents())[0].status).toBe('triggered');
    await send('/alertmanager', webhook([alert('b', 'resolved')], { externalURL: 'http://other.example' }));
    expect((await incidents())[0].status).toBe('triggered');
    await send('/alertmanager', webhook([alert('b', 'resolved')], { version: '1' }));
    expect(await incidents()).toMatchObject([{ status: 'resolved', resolvedBy: { tool: 'Alertmanager' } }]);
    // Delayed since.
    await send('/alertmanager', webhook([alert('b')]));
    expect(await incidents()).toHaveLength(1);
    await w.runUntilIdle();
  });

  test('Prometheus itself repeats alerts until they end, and two of its processes are one', async () => {
    const { key, send, incidents } = await alertedServiceIn(w);
    w.clock.set('2027-06-01T12:00:00Z');
    const firing = (endsAt: string, labels: object = { alertname: 'Down', job: 'api' }) => [
      { labels, annotations: {}, startsAt: '2027-06-01T11:59:00Z', endsAt, generatorURL: 'http://p.example/g' },
    ];
    const basic = { authorization: `Basic ${btoa(`any:${key}`)}` };
    const path = '/prometheus/api/v2/alerts';
    expect(await send(path, firing('2027-06-01T12:04:00Z'), basic)).toMatchObject({ status: 200 });
    await send(path, firing('2027-06-01T12:04:00Z', { job: 'api', alertname: 'Down' }), basic);
    expect(await incidents()).toMatchObject([{ title: 'Down', status: 'triggered', occurrences: 2 }]);
    w.clock.set('2027-06-01T12:03:00Z');
    await send(`/prometheus/${key}/api/v2/alerts`, firing('2027-06-01T12:02:30Z'), { authorization: null });
    expect((await incidents())[0].status).toBe('resolved');
    expect((await send(path, { not: 'a list' }, basic)).status).toBe(400);
  });
});

describe('Opsgenie', () => {
  const by = (key: string) => ({ authorization: `GenieKey ${key}` });

  test('an alert by alias is made, looked up, noted, acknowledged, taken back and closed', async () => {
    const { key, send, incidents } = await alertedServiceIn(w);
    const create = {
      message: 'Shop down',
      alias: 'Shop / front',
      priority: 'P1',
      source: 'Uptime Kuma',
      tags: ['a', ''],
    };
    const taken = await send('/opsgenie/v2/alerts/', create, by(key));
    expect(taken).toMatchObject({
      status: 202,
      body: { result: 'Request will be processed', took: expect.any(Number) },
    });
    const request = await send(`/opsgenie/v2/alerts/requests/${taken.body.requestId}`, undefined, {
      method: 'GET',
      ...by(key),
    });
    expect(request).toMatchObject({ status: 200, body: { data: { success: true, alias: 'Shop / front' } } });
    const { alertId } = request.body.data;
    const alias = '/opsgenie/v2/alerts/Shop%20%2F%20front';
    const get = async () =>
      (await send(`${alias}?identifierType=alias`, undefined, { method: 'GET', ...by(key) })).body.data;
    expect(await get()).toMatchObject({
      id: alertId,
      status: 'open',
      acknowledged: false,
      priority: 'P1',
      tags: ['a'],
    });
    await send(`${alias}/notes?identifierType=alias`, { user: 'A B', note: 'Looking' }, by(key));
    await send(`${alias}/message?identifierType=alias`, { message: 'Shop down [2]' }, { method: 'PUT', ...by(key) });
    await send(`/opsgenie/v2/alerts/${alertId}/acknowledge`, {}, by(key));
    expect((await incidents())[0]).toMatchObject({ status: 'acknowledged', severity: 'fatal' });
    expect(await get()).toMatchObject({ acknowledged: true, message: 'Shop down [2]' });
    await send(`${alias}/unacknowledge?identifierType=alias`, {}, by(key));
    expect((await incidents())[0].status).toBe('triggered');
    await send(`${alias}/snooze/?identifierType=alias`, { endTime: '2027-06-02T00:00:00Z' }, by(key));
    expect((await incidents())[0].status).toBe('acknowledged');
    expect((await send('/opsgenie/v2/alerts/count', undefined, { method: 'GET', ...by(key) })).body.data.count).toBe(1);
    await send(`${alias}/close?identifierType=alias`, { source: 'Uptime Kuma' }, by(key));
    expect((await incidents())[0]).toMatchObject({ status: 'resolved', resolvedBy: { tool: 'Uptime Kuma' } });
    const { timeline } = await w.expectOk('get_incident', { incidentId: (await incidents())[0].incidentId });
    expect(timeline.map(({ text }: { text: string }) => text)).toContain('Note in Uptime Kuma: A B: Looking');
    await w.runUntilIdle();
  });

  test('an alias stands in an address as opsgenie-sdk writes it, with its slashes', async () => {
    const { key, send, incidents } = await alertedServiceIn(w);
    for (const alias of ['Shop / front', 'https://shop.example//health?a=1', 'a/close']) {
      await send('/opsgenie/v2/alerts/', { message: alias, alias }, by(key));
      const address = `/opsgenie/v2/alerts/${encodeURI(alias).replaceAll('?', '%3F')}`;
      for (const [word, status] of [
        ['acknowledge', 'acknowledged'],
        ['unacknowledge', 'triggered'],
        ['close', 'resolved'],
      ]) {
        expect((await send(`${address}/${word}/?identifierType=alias`, { note: 'n' }, by(key))).status).toBe(202);
        expect(await incidents(), word).toContainEqual(expect.objectContaining({ title: alias, status }));
      }
      const get = await send(`${address}?identifierType=alias`, undefined, { method: 'GET', ...by(key) });
      expect(get.body.data).toMatchObject({ alias, status: 'closed' });
    }
  });

  test('what is wrong is 401 or 422; what is not there is 404', async () => {
    const { key, send } = await alertedServiceIn(w);
    expect((await send('/opsgenie/v2/alerts', { message: 'x' }, by('k'.repeat(32)))).status).toBe(401);
    expect(await send('/opsgenie/v2/alerts', { alias: 'x' }, by(key))).toMatchObject({
      status: 422,
      body: { errors: { message: 'cannot be empty' } },
    });
    const get = { method: 'GET', ...by(key) } as const;
    expect((await send('/opsgenie/v2/alerts/none', undefined, get)).status).toBe(404);
    const unknown = '/opsgenie/v2/alerts/requests/6f1f2c9e-3b1a-4a3e-9d52-1c1f0d9e8a77';
    expect((await send(unknown, undefined, get)).status).toBe(404);
    expect((await send('/opsgenie/v2/alerts/none/close?identifierType=alias', undefined, by(key))).status).toBe(202);
  });

  test('a heartbeat is a check-in of the cron monitor of that name', async () => {
    const { key, serviceId, send } = await alertedServiceIn(w);
    const ping = await send('/opsgenie/v2/heartbeats/nightly/ping', undefined, { method: 'GET', ...by(key) });
    expect(ping).toMatchObject({ status: 202, body: { result: 'PONG - Heartbeat received' } });
    const waiting = await w.context.db.sql.rows('select slug from check_ins where service_id = $1', [serviceId]);
    expect(waiting).toEqual([{ slug: 'nightly' }]);
    expect(
      await runOperation(w, listMonitors, memberCaller(w.orgId, w.owner.userId, 'owner'), { serviceId }),
    ).toBeDefined();
  });
});

test('VictorOps: CRITICAL opens, INFO acknowledges, RECOVERY resolves', async () => {
  const { key, send, incidents } = await alertedServiceIn(w);
  const post = (message_type: string) =>
    send(
      `/victorops/${key}/team1`,
      { message_type, entity_id: 'Uptime Kuma/7', entity_display_name: 'Shop', monitoring_tool: 'Zabbix' },
      { authorization: null },
    );
  const taken = await post('CRITICAL');
  expect(taken).toMatchObject({ status: 200, body: { result: 'success', entity_id: 'Uptime Kuma/7' } });
  expect((await incidents())[0]).toMatchObject({ severity: 'fatal', status: 'triggered' });
  await post('INFO');
  expect((await incidents())[0].status).toBe('acknowledged');
  await post('RECOVERY');
  expect((await incidents())[0]).toMatchObject({ status: 'resolved', resolvedBy: { tool: 'Zabbix' } });
  expect(await post('SHOUT')).toMatchObject({ status: 400, body: { result: 'failure' } });
  expect((await send('/victorops/wrong/x', {}, { authorization: null })).status).toBe(401);
});
