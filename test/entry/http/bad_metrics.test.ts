import { afterAll, beforeEach, describe, expect, test, vi } from 'vitest';

import { queryMetrics } from '#modules/metrics/operations/query_metric.ts';
import { searchRules } from '#modules/rules/operations/search_rules.ts';
import { getIngestStatus } from '#modules/services/operations/get_ingest_status.ts';
import { givenMetrics } from '#test/kit/metrics/given_metrics.ts';
import { memberCaller, runOperation } from '#test/kit/run_operation.ts';
import { fileWorld, type World } from '#test/kit/world.ts';
import { acceptedPoints } from '#test/ingest/accepted_data.ts';
import { whenWritten } from '#test/kit/when.ts';

/** Interval at which counts are written. */
const WRITTEN_EVERY_MS = 10_000;

let service: Awaited<ReturnType<World['given']['service']>>;
vi.useFakeTimers({ toFake: ['setInterval', 'clearInterval'] });
const w = await fileWorld({ settings: { ingestSeriesPerDay: 3 } });
afterAll(() => vi.useRealTimers());
beforeEach(async () => {
  service = await w.given.service();
});

async function send(path: string, body: object, contentType = 'application/json') {
  const headers = { authorization: `Bearer ${service.ingestionKey}`, 'content-type': contentType };
  return await w.app.inject({ method: 'POST', url: `/api/ingest/${path}`, headers, payload: JSON.stringify(body) });
}

const viewer = () => memberCaller(w.orgId, w.owner.userId, 'viewer');

async function expectShown(refused: object): Promise<void> {
  await whenWritten(WRITTEN_EVERY_MS);
  const status = await runOperation(w, getIngestStatus, viewer(), { serviceId: service.serviceId });
  expect(status.refused).toContainEqual(expect.objectContaining(refused));
}

/** The page, which is kept for a second. */
async function metricsPage(): Promise<string> {
  w.clock.advance({ seconds: 1 });
  const headers = { authorization: `Bearer a token that opens the metrics` };
  return (await w.app.inject({ url: '/metrics', headers })).body;
}

describe('bad input is answered, counted and shown, and nothing else of the request is lost:', () => {
  test('a limit of series', async () => {
    const points = Array.from({ length: 5 }, (_, index) => ({
      name: 'load',
      value: 1,
      labels: { host: `web-${index}` },
    }));
    const answer = await send('metrics', {
      points: [...points, { name: 'load', value: 2, labels: { host: 'web-0' } }],
    });
    expect(answer.statusCode).toBe(202);
    const answered = answer.json();
    expect(JSON.stringify(answered)).toContain('a new series beyond the 3 that the service may have a day');
    const stored = (await acceptedPoints(w)).filter(({ serviceId }) => serviceId === service.serviceId);
    expect(stored.map(({ labels }) => labels['host'] ?? '').toSorted((a, b) => a.localeCompare(b))).toEqual([
      'web-0',
      'web-0',
      'web-1',
      'web-2',
    ]);
    expect(await metricsPage()).toMatch(
      new RegExp(
        `reason="too_many_series"[^\\n]*service="${service.serviceId}"|service="${service.serviceId}"[^\\n]*reason="too_many_series"`,
      ),
    );
    await expectShown({ kind: 'points', reason: 'too_many_series', count: 2 });
  });

  test('logs and traces by OTLP, at the address for metrics and at that of the DSN', async () => {
    expect(await send('otlp/v1/logs', {})).toMatchObject({ statusCode: 404 });
    await expectShown({ kind: 'points', reason: 'not_found', count: 1 });
    const { dsn } = await w.expectOk('get_service', { serviceId: service.serviceId });
    const { username, pathname } = new URL(dsn);
    const url = `/api${pathname}/integration/otlp/v1/traces`;
    const headers = { 'x-sentry-auth': `sentry sentry_key=${username}`, 'content-type': 'application/json' };
    const traces = await w.app.inject({ method: 'POST', url, headers, payload: '{}' });
    expect(traces).toMatchObject({ statusCode: 404 });
    expect(traces.json()).toEqual({ code: 5, message: expect.stringContaining('pipeline for traces') });
    await expectShown({ kind: 'events', reason: 'not_found', count: 1 });
  });

  test('a request of nothing but faulty points, under their own reason alone', async () => {
    expect(await send('metrics', { points: [{ name: 'load', value: 'x' }] })).toMatchObject({ statusCode: 400 });
    await expectShown({ kind: 'points', reason: 'no_value', count: 1 });
    const { refused } = await runOperation(w, getIngestStatus, viewer(), { serviceId: service.serviceId });
    expect(refused).toHaveLength(1);
    expect(await send('metrics', { point: [] })).toMatchObject({ statusCode: 400 });
    await expectShown({ kind: 'points', reason: 'invalid_input', count: 1 });
  });

  test('data at an address that takes nothing', async () => {
    const metrics = await send('otlp', {});
    expect(metrics).toMatchObject({ statusCode: 404 });
    expect(metrics.json().message).toContain('by OTLP to /api/ingest/otlp/v1/metrics');
    await expectShown({ kind: 'points', reason: 'not_found', count: 1 });
    const { dsn } = await w.expectOk('get_service', { serviceId: service.serviceId });
    const { username, pathname } = new URL(dsn);
    const url = `/api${pathname}/events/0123/attachments/`;
    const headers = { 'x-sentry-auth': `sentry sentry_key=${username}` };
    const file = await w.app.inject({ method: 'POST', url, headers });
    expect(file).toMatchObject({
      statusCode: 404,
      headers: { 'x-sentry-error': expect.stringContaining('envelopes') },
    });
    await expectShown({ kind: 'events', reason: 'not_found', count: 1 });
    for (const nobody of [url, '/api/ingest/otlp']) {
      const answer = await w.app.inject({ method: 'POST', url: nobody });
      expect(answer.json()).toMatchObject({ status: 404, detail: `nothing is served at POST ${nobody}` });
    }
  });

  test('an unknown version of a protocol', async () => {
    const type = 'application/x-protobuf;proto=io.prometheus.write.v3.Request';
    const answer = await send('prometheus/write', {}, type);
    expect(answer.statusCode).toBe(415);
    expect(answer.body).toContain('prometheus.WriteRequest or io.prometheus.write.v2.Request');
    expect(await metricsPage()).toMatch(/unsupported_media_type/);
    await expectShown({ kind: 'points', reason: 'unsupported_media_type', count: 1 });
  });

  test('a quantile of a gauge, in a chart and in a rule', async () => {
    const { serviceId } = service;
    const bucket = { kind: 'counter', minutes: 10, everySeconds: 60 } as const;
    await givenMetrics(
      w,
      serviceId,
      { name: 'queue_depth', minutes: 10, everySeconds: 60, value: () => 3 },
      { ...bucket, name: 'wait_bucket', labels: { le: '1' }, value: (step) => step },
      { ...bucket, name: 'wait_bucket', labels: { le: '+Inf' }, value: (step) => step },
    );
    const queries = ['queue_depth{quantile="0.95"}', 'queue_depth', 'wait{quantile="0.5"}'];
    const asked = { queries: queries.map((metricName) => ({ serviceId, metricName })) };
    const { results } = await runOperation(w, queryMetrics, viewer(), asked);
    expect(results).toMatchObject([
      { fault: expect.stringContaining('queue_depth is a gauge and has no quantiles') },
      { fault: null, series: [expect.anything()] },
      { fault: null, series: [expect.anything()] },
    ]);
    const ruleOf = async (metricName: string) =>
      await w.expectOk('create_alert_rule', {
        serviceId,
        name: metricName,
        kind: 'metric_threshold',
        config: { metricName, comparator: '>', threshold: 1 },
      });
    expect(await ruleOf('queue_depth{quantile="0.95"}')).toMatchObject({
      missingMetric: {
        metricName: 'queue_depth_bucket',
        nearestNames: expect.arrayContaining(['queue_depth']),
        noQuantiles: { metricName: 'queue_depth', kind: 'gauge' },
      },
    });
    expect(await ruleOf('wait{quantile="0.95"}')).toMatchObject({ missingMetric: null });
    expect(await metricsPage()).toContain('tocsin_quantiles_refused_total{kind="gauge"} 1');
    const { rules } = await runOperation(w, searchRules, viewer(), { serviceId });
    expect(rules.toSorted((a: { name: string }, b: { name: string }) => (a.name < b.name ? -1 : 1))).toMatchObject([
      { missingMetric: { noQuantiles: { metricName: 'queue_depth', kind: 'gauge' } } },
      { missingMetric: null },
    ]);
    const status = await runOperation(w, getIngestStatus, viewer(), { serviceId });
    expect(status.withoutQuantiles).toEqual({
      count: 1,
      rules: [
        { ruleId: expect.any(String), name: 'queue_depth{quantile="0.95"}', metricName: 'queue_depth', kind: 'gauge' },
      ],
    });
  });
});
