import { afterAll, beforeAll, describe, expect, test, vi } from 'vitest';

import { type Aggregation, AGGREGATIONS } from '#modules/metrics/decide/aggregation.ts';
import { AppError } from '#kernel/errors.ts';
import { uuidOf } from '#kernel/ids.ts';
import { Temporal } from '#kernel/time.ts';
import { type LiveWorld, liveWorld, overQuota } from '#test/live/live_world.ts';
import { isInstalled } from '#test/live/program.ts';
import { canRunWith } from '#test/kit/programs/debian_packages.ts';
import {
  type Prometheus,
  type Running,
  type Samples,
  seriesText,
  startNodeExporter,
  startPrometheus,
} from '#test/live/prometheus.ts';
import { type Relay, send, startRelay } from '#test/live/relay.ts';
import { type ShopExporter, startShopExporter } from '#test/live/shop_exporter.ts';
import { aggregate } from '#test/kit/metrics/aggregate_model.ts';

const ADDRESS = '/api/ingest/prometheus/write';
/** `vi.waitFor` where a hook waits too: there nothing polls for an expectation. */
const PATIENTLY = { timeout: 90_000, interval: 100 };

type Service = Awaited<ReturnType<LiveWorld['given']['service']>>;

const canRun =
  canRunWith('prometheus', isInstalled('prometheus', '--version')) &&
  canRunWith('prometheus-node-exporter', isInstalled('prometheus-node-exporter', '--version'));

describe.skipIf(!canRun)('Prometheus, that scrapes a machine and a shop and writes to us', () => {
  let w: LiveWorld;
  let shop: ShopExporter;
  let node: Running;
  let prometheus: Prometheus;
  let relay: Relay;
  /** Services to which it writes directly, and by a relay that loses answers. */
  let direct: Service;
  let relayed: Service;
  /** Samples that it had scraped once all its targets were dead. */
  let scraped: Samples;

  beforeAll(async () => {
    w = await liveWorld({ keepOpen: true });
    [direct, relayed] = [await w.given.service(), await w.given.service()];
    [shop, node, relay] = await Promise.all([startShopExporter(), startNodeExporter(), startRelay(w.url, 5)]);
    prometheus = await startPrometheus(
      [
        { job: 'shop', address: shop.address },
        { job: 'node', address: node.address },
      ],
      [
        { url: `${w.url.origin}${ADDRESS}`, ingestionKey: direct.ingestionKey },
        { url: `${relay.url}${ADDRESS}`, ingestionKey: relayed.ingestionKey },
      ],
    );
    await scrapesMore(3);
    await w.stop();
    await scrapesMore(2);
    await w.start();
    await whileQueueAnswers(new AppError('unavailable', 'the queue is away', { retryAfterSeconds: 1 }), 503);
    await whileQueueAnswers(overQuota(1), 429);
    shop.restart();
    await scrapesMore(3);
    await Promise.all([shop.stop(), node.kill()]);
    await deathIsNoticed();
    scraped = onlyTargets(await prometheus.samples());
  }, 120_000);

  afterAll(async () => {
    await prometheus?.kill();
    await node?.kill();
    await shop?.stop();
    await relay?.close();
    await w?.close();
  });

  async function scrapesMore(times: number): Promise<void> {
    const enough = shop.scrapes + times;
    await vi.waitFor(() => expect(shop.scrapes).toBeGreaterThanOrEqual(enough), PATIENTLY);
  }

  async function whileQueueAnswers(fault: AppError, status: number): Promise<void> {
    w.breakQueue(fault);
    await vi.waitFor(() => expect(w.arrivals.at(-1)?.status).toBe(status), PATIENTLY);
    await scrapesMore(1);
    w.breakQueue(null);
    const before = w.arrivals.length;
    const taken = () => w.arrivals.slice(before).filter((arrival) => arrival.status === 204);
    await vi.waitFor(() => expect(taken()).not.toEqual([]), PATIENTLY);
  }

  async function deathIsNoticed(): Promise<void> {
    await vi.waitFor(async () => expect(await isUp()).toEqual([0, 0]), PATIENTLY);
  }

  /** The newest `up` of both targets. */
  async function isUp(): Promise<(number | undefined)[]> {
    const samples = await prometheus.samples();
    return ['shop', 'node'].map((job) => {
      const series = [...samples.keys()].find((name) => name.startsWith('up{') && name.includes(`job="${job}"`));
      return samples.get(series ?? '')?.at(-1)?.[1];
    });
  }

  /** Returns the samples of a service in the store, each as often as it is there. */
  async function stored({ serviceId }: Service, kinds: 'values' | 'stale'): Promise<Samples> {
    await w.settle();
    const answer = await w.context.clickhouse.query({
      query: `SELECT metric, tags, toUnixTimestamp64Milli(ts) AS at, value
        FROM metric_points FINAL INNER JOIN metric_series FINAL USING (service_id, metric, series)
        WHERE service_id = {service:UUID} AND kind ${kinds === 'stale' ? '=' : '!='} 'stale' ORDER BY at`,
      query_params: { service: uuidOf(serviceId) },
      format: 'JSONEachRow',
    });
    const rows = await answer.json<{ metric: string; tags: Record<string, string>; at: string; value: number }>();
    const samples = new Map<string, [number, number][]>();
    for (const { metric, tags, at, value } of rows) {
      const name = seriesText({ __name__: metric, ...tags });
      samples.set(name, [...(samples.get(name) ?? []), [Number(at), value]]);
    }
    return onlyTargets(samples);
  }

  test('nothing is lost and nothing doubled, though the API was away, the queue was down and quotas were met', async () => {
    const statuses = new Set(w.arrivals.map((arrival) => arrival.status));
    expect(statuses).toEqual(new Set([204, 429, 503]));
    const finite = onlyFinite(scraped);
    await expect.poll(async () => countOf(await stored(direct, 'values')), PATIENTLY).toBe(countOf(finite));
    expect(sorted(await stored(direct, 'values'))).toEqual(sorted(finite));
  });

  test('a request that is sent again because its answer was lost counts once', async () => {
    expect(relay.lostAnswers).toBeGreaterThan(2);
    const finite = onlyFinite(scraped);
    await expect.poll(async () => countOf(await stored(relayed, 'values')), PATIENTLY).toBe(countOf(finite));
    expect(sorted(await stored(relayed, 'values'))).toEqual(sorted(finite));
  });

  test('requests that arrive in reverse order give the same result', async () => {
    const service = await w.given.service();
    const authorization = `Bearer ${service.ingestionKey}`;
    for (const { headers, body } of relay.requests.toReversed()) {
      expect(await send(new URL(ADDRESS, w.url), { headers: { ...headers, authorization }, body })).toBe(204);
    }
    expect(sorted(await stored(service, 'values'))).toEqual(sorted(onlyFinite(scraped)));
  });

  test('each series of what has died has ended, once, and what ended is no value of now', async () => {
    await expect.poll(async () => (await stored(direct, 'stale')).size, PATIENTLY).toBe(scraped.size);
    const ends = await stored(direct, 'stale');
    expect(new Set(ends.keys())).toEqual(new Set(scraped.keys()));
    for (const [series, [end, ...others]] of ends) {
      expect(others, series).toEqual([]);
      expect(end![0], series).toBeGreaterThan(scraped.get(series)!.at(-1)![0]);
    }
    const [end] = [...ends.entries()].find(([series]) => series.startsWith('shop_queue'))![1];
    const last = await answerTo('shop_queue', 'last');
    expect(last.map(({ at }) => at)).not.toContain(Math.floor(end![0] / 1_000) * 1_000);
  });

  test.each([
    ['shop_orders_total', () => true],
    ['shop_orders_total{status=~"5.."}', (series: string) => series.includes('status="500"')],
    ['shop_orders_total{route!="/b",job="shop"}', (series: string) => series.includes('route="/a"')],
    ['shop_latency_seconds_bucket{le="1"}', (series: string) => series.includes('le="1"')],
    ['shop_latency_seconds_count', () => true],
    ['shop_queue', () => true],
    ['shop_size_bytes{quantile="0.5"}', () => true],
    ['node_cpu_seconds_total{mode!~"idle|iowait"}', (series: string) => !/mode="(?:idle|iowait)"/.test(series)],
    ['node_memory_MemFree_bytes', () => true],
  ])('query_metric says of %s what its samples say', async (selector, isSelected) => {
    const name = selector.replace(/\{.*/, '');
    const chosen = [...scraped].filter(([series]) => series.startsWith(`${name}{`) && isSelected(series));
    expect(chosen.length).toBeGreaterThan(0);
    const kind = /_(?:total|count|sum|bucket)$/.test(name) ? 'counter' : 'gauge';
    const ends = await stored(direct, 'stale');
    const series = chosen.map(([key, samples]) => [
      ...samples.map(([at, value]) => ({ at, value, kind }) as const),
      ...(ends.get(key) ?? []).map(([at]) => ({ at, value: 0, kind: 'stale' }) as const),
    ]);
    const oldest = Math.min(...series.flat().map(({ at }) => at));
    const newest = Math.max(...series.flat().map(({ at }) => at));
    const buckets = { fromMs: oldest - (oldest % 1_000), toMs: newest + 1_000, stepMs: 1_000 };
    for (const aggregation of AGGREGATIONS) {
      const expected = aggregate(series, aggregation, buckets);
      const answered = await answerTo(selector, aggregation);
      expect(
        answered.map(({ at }) => at),
        aggregation,
      ).toEqual(expected.map(({ at }) => at));
      for (const [i, { value }] of answered.entries()) expect(value, aggregation).toBeCloseTo(expected[i]!.value, 6);
    }
  });

  test('a counter that began again at nothing has grown by what it counted', async () => {
    const grown = (await answerTo('shop_orders_total{route="/b"}', 'sum')).reduce((sum, { value }) => sum + value, 0);
    // Every scrape counts one order; the first is where counting begins.
    expect(grown).toBe(scraped.entries().find(([series]) => series.includes('route="/b"'))![1].length - 1);
  });

  test('NaN and infinity are no values, and the names are those that have some', async () => {
    const { metricNames } = await w.expectOk('list_metric_names', { serviceId: direct.serviceId });
    expect(metricNames).toContain('shop_orders_total');
    expect(metricNames).toContain('node_load1');
    for (const name of ['shop_unmeasured', 'shop_boundless']) expect(await answerTo(name, 'count')).toEqual([]);
  });

  test('a key that was rotated is refused for good: what it brought is dropped, not tried again', async () => {
    const before = w.arrivals.length;
    const retriedBefore = await prometheus.count('prometheus_remote_storage_samples_retried_total');
    await w.expectOk('rotate_ingest_key', { serviceId: direct.serviceId });
    w.clock.advance({ seconds: 2 });
    const refused = () => w.arrivals.slice(before).filter((arrival) => arrival.status === 401);
    await expect.poll(() => refused().length, PATIENTLY).toBeGreaterThan(2);
    await expect
      .poll(() => prometheus.count('prometheus_remote_storage_samples_failed_total'), PATIENTLY)
      .toBeGreaterThan(0);
    expect(await prometheus.count('prometheus_remote_storage_samples_retried_total')).toBe(retriedBefore);
  });

  /** Returns the answer in buckets of a second; `at` in epoch milliseconds. */
  async function answerTo(metricName: string, aggregation: Aggregation): Promise<{ at: number; value: number }[]> {
    const { serviceId } = direct;
    const answer = await w.expectOk('query_metric', { serviceId, metricName, aggregation, windowMinutes: 4 });
    expect(answer.stepSeconds).toBe(1);
    return answer.points.map(({ at, value }: { at: string; value: number }) => {
      return { at: Temporal.Instant.from(at).epochMilliseconds, value };
    });
  }
});

/** Leaves out the samples that Prometheus goes on measuring itself when a target is dead. */
function onlyTargets(samples: Samples): Samples {
  return new Map([...samples].filter(([series]) => !/^(?:up|scrape_\w+)\{/.test(series)));
}

function onlyFinite(samples: Samples): Samples {
  const finite = [...samples].map(
    ([series, all]) => [series, all.filter(([, value]) => Number.isFinite(value))] as const,
  );
  return new Map(finite.filter(([, all]) => all.length > 0));
}

function countOf(samples: Samples): number {
  return [...samples.values()].reduce((sum, { length }) => sum + length, 0);
}

function sorted(samples: Samples): readonly unknown[] {
  return [...samples].toSorted(([a], [b]) => (a < b ? -1 : 1));
}
