import { expect, test } from 'vitest';

import { COUNTER_REACH_MS } from '#modules/metrics/decide/aggregation.ts';
import type { PointKind } from '#modules/metrics/decide/point.ts';
import { readSelector } from '#modules/metrics/decide/read_selector.ts';
import { PointBatch } from '#ingest/admission/point_batch.ts';
import { newId } from '#kernel/ids.ts';
import { silentLog } from '#kernel/log.ts';
import { fromEpochMilliseconds } from '#kernel/time.ts';
import { MetricReader } from '#modules/metrics/store/metric_reader.ts';
import { MetricWriter } from '#modules/metrics/store/metric_writer.ts';
import { findSharedSeries } from '#modules/metrics/store/series_day_store.ts';
import { RecentPoints } from '#modules/metrics/store/recent_points.ts';
import { RuleReader } from '#modules/rules/store/rule_reader.ts';
import { columnsOf, seriesKey } from '#test/kit/metrics/points.ts';
import { fileWorld } from '#test/kit/world.ts';

const MINUTE = 60_000;
const NOW = Date.parse('2027-03-10T12:20:00Z');
const serviceId = newId('service');

const w = await fileWorld();

type Point = readonly [minutesAgo: number, value: number, kind?: PointKind];

let inserts = 0;
async function insert(name: string, points: readonly Point[]): Promise<void> {
  const batch = new PointBatch();
  const series = batch.addSeries({ name, labels: [], key: seriesKey(name, []) });
  for (const [minutesAgo, value, kind = 'counter'] of points) batch.add(series, NOW - minutesAgo * MINUTE, value, kind);
  inserts += 1;
  await new MetricWriter(w.context.clickhouse).insert([{ serviceId, points: columnsOf(batch) }], `pauses-${inserts}`);
}

const recentPoints = () => new RecentPoints(w.context.clickhouse, () => Promise.resolve(new Set()), silentLog);

async function ruleValues(name: string, now = NOW, recent = recentPoints(), keptSince = 0) {
  const question = {
    ruleId: newId('rule'),
    serviceId,
    metricName: name,
    windowMinutes: 5,
    aggregation: 'sum',
    keptSince: fromEpochMilliseconds(keptSince),
  } as const;
  const readers = [new RuleReader(w.context.clickhouse), new RuleReader(w.context.clickhouse, recent)];
  const found = await Promise.all(readers.map((reader) => reader.evaluate([question], fromEpochMilliseconds(now))));
  return found.map(({ values }) => values.get(question.ruleId));
}

/** The increase over the last five minutes: by rules that read the store or memory, by a chart and by a replay. */
async function increases(name: string, keptSince = 0): Promise<unknown[]> {
  const reader = new MetricReader(w.context.clickhouse);
  const query = {
    serviceId,
    selector: readSelector(name),
    aggregation: 'sum',
    keptSince: fromEpochMilliseconds(keptSince),
  } as const;
  const buckets = { fromMs: NOW - 5 * MINUTE, toMs: NOW + MINUTE, stepMs: MINUTE };
  const shown = await reader.query({ ...query, buckets });
  const { values } = await reader.readHistory({ ...query, windowMinutes: 5, firstMs: NOW, lastMs: NOW });
  const chart = shown.reduce((total, { value }) => total + value, 0);
  return [...(await ruleValues(name, NOW, recentPoints(), keptSince)), chart, values[0]];
}

test.each<[string, string, number, readonly Point[]]>([
  [
    'a counter that is sent only when it changes',
    'changes',
    3,
    [
      [40, 0],
      [1, 3],
    ],
  ],
  [
    'a job that runs once a day',
    'daily',
    12,
    [
      [24 * 60 + 30, 100],
      [2, 112],
    ],
  ],
  [
    'a reset during the pause',
    'reset',
    3,
    [
      [40, 50],
      [1, 3],
    ],
  ],
  [
    'a marker of the end during the pause',
    'ended',
    3,
    [
      [40, 4],
      [39, 0, 'stale'],
      [1, 7],
    ],
  ],
  [
    'a process that began long before it was first heard of',
    'begun',
    0,
    [
      [40, 0, 'start'],
      [1, 3],
    ],
  ],
  [
    'a sum of negative observations',
    'negative',
    -5,
    [
      [40, -100],
      [3, -110],
      [2, -106],
      [1, -105],
    ],
  ],
  ['a new series', 'new', 0, [[1, 3]]],
])('%s grew by as much for charts, rules and replays', async (_, name, grown, points) => {
  await insert(name, points);
  expect(await increases(name)).toEqual([grown, grown, grown, grown]);
});

test('a sample out of reach, or older than what is kept, is as if it were not there', async () => {
  await insert('long_ago', [
    [COUNTER_REACH_MS / MINUTE + 6, 1],
    [1, 4],
  ]);
  expect(await increases('long_ago')).toEqual([0, 0, 0, 0]);
  await insert('not_kept', [
    [40, 1],
    [1, 4],
  ]);
  expect(await increases('not_kept', NOW - 20 * MINUTE)).toEqual([0, 0, 0, 0]);
});

test('rules in memory know what a counter had counted when it pauses under their eyes', async () => {
  const recent = recentPoints();
  await insert('watched', [[1, 5]]);
  expect(await ruleValues('watched', NOW, recent)).toEqual([0, 0]);
  for (const later of [8, 16, 24])
    expect(await ruleValues('watched', NOW + later * MINUTE, recent)).toEqual([null, null]);
  await insert('watched', [[-25, 9]]);
  expect(await ruleValues('watched', NOW + 25 * MINUTE, recent)).toEqual([4, 4]);
});

test('series that several processes write in turn are found by what stands before their samples', async () => {
  const turns = Array.from({ length: 4 }, (_, turn): Point[] => [
    [10 - turn + 0.001, 100 + turn, 'start'],
    [10 - turn, 101 + turn],
  ]).flat();
  await insert('jobs_in_turn', turns);
  await insert('jobs_restarted', [
    [9, 0, 'start'],
    [8, 5],
    [7, 0, 'start'],
    [6, 4],
    [5, 0, 'start'],
    [4, 3],
  ]);
  const keys = await findSharedSeries(w.context.clickhouse, serviceId, fromEpochMilliseconds(NOW));
  expect(keys).toEqual([seriesKey('jobs_in_turn', [])]);
});
