import { expect, onTestFinished, test } from 'vitest';

import { createCipher } from '#auth/cipher.ts';
import { AppError } from '#kernel/errors.ts';
import { ExceptionReader } from '#modules/exceptions/store/exception_reader.ts';
import { ExceptionWriter } from '#modules/exceptions/store/exception_writer.ts';
import { MetricWriter } from '#modules/metrics/store/metric_writer.ts';
import { startJobWorkers } from '#storage/queue/job_workers.ts';
import { runDurableJobs } from '#storage/queue/durable_job_runner.ts';
import { bytes, double, label, message, number, otlpRequest, sample, writeRequest } from '#test/ingest/metric_bytes.ts';
import { type World, world } from '#test/kit/world.ts';
import { onGroupExceptions } from '#workers/worker_role.ts';
import { onStorePoints } from '#workers/store_points.ts';

const POINTS = 5_000;
const REQUESTS_MAX = 200;

test('while ClickHouse is away the queue fills to its bound and no further, and nothing accepted is lost', async () => {
  const w = await world({ jobs: 'real queue', settings: { ingestQueueMegabytes: 1 } });
  const service = await w.given.service();
  const clickhouse = workersWithout(w);

  let points = 0;
  let answer = await sendPoints(w, service, 0);
  for (let sent = 1; answer.statusCode === 202 && sent < REQUESTS_MAX; sent += 1) {
    points += POINTS;
    answer = await sendPoints(w, service, sent);
  }
  expect(answer).toMatchObject({ statusCode: 503, headers: { 'retry-after': '10' } });
  expect(answer.json()).toMatchObject({ code: 'unavailable', status: 503 });
  expect(await storedInQueue(w)).toBeLessThan(2 * 1024 * 1024);

  const at = w.clock.now().epochMilliseconds;
  // Clients of OpenTelemetry drop at once what they are to send after their deadline.
  for (const [url, payload, seconds] of [
    ['/api/ingest/prometheus/write', writeRequest(message(1, label('__name__', 'cpu'), sample(1, at))), '10'],
    ['/api/ingest/otlp/v1/metrics', otlpRequest([], gauge(at)), '5'],
  ] as const) {
    const refused = await post(w, url, service.ingestionKey, 'application/x-protobuf', payload);
    expect(refused).toMatchObject({ statusCode: 503, headers: { 'retry-after': seconds } });
  }
  for (const text of ['out of beans', 'out of milk']) {
    expect(await sendEvent(w, service.dsn, text)).toMatchObject({ statusCode: 200 });
  }

  clickhouse.comeBack();
  await expect.poll(() => countPoints(w), { interval: 250 }).toBe(points);
  await expect.poll(() => countEvents(w)).toBe(2);
  await expect.poll(async () => (await sendPoints(w, service, REQUESTS_MAX + 1)).statusCode).toBe(202);
}, 90_000);

type Service = Awaited<ReturnType<World['given']['service']>>;

/** Workers that find ClickHouse away until it comes back. */
function workersWithout(w: World): { comeBack(): void } {
  let isAway = true;
  const unlessAway = <Writer extends MetricWriter | ExceptionWriter>(writer: Writer) => ({
    insert: async (...inserted: Parameters<Writer['insert']>): Promise<void> => {
      if (isAway) throw new AppError('unavailable', 'away');
      await (writer.insert as (...rows: Parameters<Writer['insert']>) => Promise<void>)(...inserted);
    },
    deleteService: async () => {},
  });
  const metricWriter = new MetricWriter(w.context.clickhouse);
  const exceptionWriter = new ExceptionWriter(w.context.clickhouse);
  const { db, clock } = w.context;
  const handlers = [
    onStorePoints({ db, clock: w.clock, metricWriter: unlessAway(bound(metricWriter)) }),
    onGroupExceptions({
      db,
      clock,
      log: w.context.log,
      onOutbox: () => {},
      sourceMaps: w.context.actions.sourceMaps,
      eventCipher: createCipher(w.context.config.appSecret, 'waiting-events'),
      exceptionWriter: unlessAway(bound(exceptionWriter)),
      exceptions: new ExceptionReader(w.context.clickhouse),
      newGroupsPerMinute: Infinity,
      onNewOrRegressed: async () => {},
    }),
  ];
  const workers = startJobWorkers(
    w.context.connectWorkers,
    handlers.map(runDurableJobs(db, w.context.queue.wake)),
    w.context.log,
  );
  onTestFinished(() => workers.close());
  return { comeBack: () => void (isAway = false) };
}

function bound<Writer extends MetricWriter | ExceptionWriter>(writer: Writer): Writer {
  writer.insert = writer.insert.bind(writer);
  return writer;
}

async function post(w: World, url: string, key: string, type: string, payload: Buffer) {
  const headers = { authorization: `Bearer ${key}`, 'content-type': type };
  return await w.app.inject({ method: 'POST', url, headers, payload });
}

/** Values that do not compress, each at a time of its own. */
function sendPoints(w: World, { ingestionKey }: Service, request: number) {
  const now = w.clock.now().epochMilliseconds;
  const points = Array.from({ length: POINTS }, (_, index) => ({
    name: 'noise',
    value: Math.random(),
    at: now - request * POINTS - index,
  }));
  const body = Buffer.from(JSON.stringify({ points }));
  return post(w, '/api/ingest/metrics', ingestionKey, 'application/json', body);
}

function gauge(at: number): Buffer {
  const nanoseconds = BigInt(at) * 1_000_000n;
  return message(2, bytes(1, 'cpu'), message(5, message(1, double(4, 1), number(3, nanoseconds))));
}

async function sendEvent(w: World, dsn: string, text: string) {
  const { username, pathname } = new URL(dsn);
  const url = `/api${pathname}/store/?sentry_key=${username}`;
  return await w.app.inject({ method: 'POST', url, payload: { message: text } });
}

async function storedInQueue(w: World): Promise<number> {
  const sql = 'select coalesce(sum(pg_column_size(payload)), 0)::float8 as bytes from durable_jobs';
  return (await w.context.db.sql.row<{ bytes: number }>(sql))?.bytes ?? 0;
}

const countPoints = (w: World) => countRows(w, "metric_points FINAL WHERE metric = 'noise'");
const countEvents = (w: World) => countRows(w, 'exception_events FINAL');

async function countRows(w: World, table: string): Promise<number> {
  const query = `SELECT toUInt32(count()) AS rows FROM ${table}`;
  const result = await w.context.clickhouse.query({ query, format: 'JSONEachRow' });
  return (await result.json<{ rows: number }>())[0]?.rows ?? 0;
}
