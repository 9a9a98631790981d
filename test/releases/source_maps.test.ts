import { createHash } from 'node:crypto';
import zlib from 'node:zlib';

import { afterAll, beforeAll, expect, onTestFinished, test } from 'vitest';

import type { StoredMap } from '#core/source_maps/source_map.ts';
import { asId, newId } from '#kernel/ids.ts';
import { silentLog } from '#kernel/log.ts';
import type { MapThreadLimits } from '#releases/source_maps/map_thread.ts';
import { openMap } from '#releases/source_maps/open_map.ts';
import { SourceMaps } from '#releases/source_maps/source_maps.ts';
import { storesOf } from '#storage/postgres/stores.ts';
import { eventOfClient } from '#infra/bench/grouping/labelled_event.ts';
import { type World, world } from '#test/kit/world.ts';

let w: World;
let serviceId: string;
beforeAll(async () => {
  w = await world({ keepOpen: true });
  ({ serviceId } = await w.given.service({ name: 'Web shop' }));
});
afterAll(() => w.close());

const SMALL: StoredMap = {
  mappings: 'AAAA;AACA',
  names: [],
  sources: ['pay.ts'],
  contents: ['pay();\nrefund();'],
  ignored: [],
  functions: [[0, 0, 9, 0, 'pay']],
};
/** Of as many places as a map may have. */
const LARGE: StoredMap = { ...SMALL, mappings: `AAAA${',CAAA'.repeat(999_998)}` };

function mapsWithin(thread: Partial<MapThreadLimits> = {}): SourceMaps {
  const { db, clock } = w.context;
  const maps = new SourceMaps({ db, clock, log: silentLog, memoryBytesMax: 96 * 1024 * 1024, thread });
  onTestFinished(() => maps.close());
  return maps;
}

/** Stores the map as an upload does. */
async function store(release: string, map: StoredMap): Promise<void> {
  const bytes = Buffer.from(JSON.stringify(map));
  const hash = createHash('sha256').update(release).update(bytes).digest('hex');
  const content = zlib.zstdCompressSync(bytes);
  const [orgId, id, now] = [asId('org', w.orgId), newId('bundle'), w.clock.now()];
  const services = [asId('service', serviceId)];
  await w.context.db.transaction(async (session) => {
    const { artifacts, sourceMaps } = storesOf(session);
    const stored = { state: 'stored' as const, maps: 1, bytes: bytes.length, chunks: [], detail: null };
    const of = { serviceIds: services, release, dist: null, createdAt: now, usedAt: now };
    await artifacts.insertBundle({ id, orgId, key: hash, checksum: hash, ...of, ...stored });
    await sourceMaps.insert({ orgId, hash, size: bytes.length, storedBytes: content.length, content, createdAt: now });
    const place = { orgId, bundleId: id, serviceId: services[0]!, debugId: null, release, dist: null, hash };
    await sourceMaps.addPlaces([{ ...place, url: '~/app.js' }]);
  });
}

/** Places of a frame that is mapped, in a release. */
function eventIn(release: string, places: readonly (readonly [lineno: number, colno: number])[] = [[2, 1]]) {
  const url = 'https://shop.example/app.js';
  const frames = places.map(([lineno, colno]) => ({ function: 'a', filename: url, abs_path: url, lineno, colno }));
  const exception = { values: [{ type: 'TypeError', value: 'x is undefined', stacktrace: { frames } }] };
  const event = eventOfClient({ platform: 'javascript', release, exception });
  return { orgId: asId('org', w.orgId), serviceId: asId('service', serviceId), event };
}

async function firstFrame(maps: SourceMaps, release: string) {
  const [mapped] = await maps.mapEvents([eventIn(release)], 'reader');
  return mapped?.event.exceptions[0]?.frames[0];
}

test('a person reads the same of an event as the worker makes of it', async () => {
  await store('one', SMALL);
  const many = Array.from({ length: 450 }, (_, place) => [1 + (place % 3), 1 + place] as const);
  const events = [eventIn('one', many), eventIn('none'), eventIn('one')];
  const maps = mapsWithin();
  const read = await maps.mapEvents(events, 'reader');
  expect(read).toEqual(await mapsWithin().mapEvents(events, 'worker'));
  expect(read[2]?.event.exceptions[0]?.frames[0]).toMatchObject({ filename: 'pay.ts', contextLine: 'refund();' });
  expect(await maps.mapEvents(events, 'reader')).toEqual(read);
});

test('while a large map is read for a person, the thread that answers everybody has hardly any of the work', async () => {
  await store('large', LARGE);
  const text = JSON.stringify(LARGE);
  const shares: number[] = [];
  // Whatever else this thread does meanwhile counts, so the best of a few is told.
  while (shares.length < 5 && !shares.some((share) => share < 0.5)) {
    let began = process.threadCpuUsage();
    openMap(text).code.find(1, 2);
    const work = process.threadCpuUsage(began).user;
    const maps = mapsWithin();
    expect(await firstFrame(maps, 'none')).toMatchObject({ function: 'a' });
    began = process.threadCpuUsage();
    await maps.mapEvents([eventIn('large', [[1, 2]])], 'reader');
    shares.push(process.threadCpuUsage(began).user / work);
  }
  expect(Math.min(...shares)).toBeLessThan(0.5);
});

test.each([
  ['time', { milliseconds: 1 }],
  ['memory', { memoryMb: 24 }],
])(
  'an event whose map takes more %s than it may is read as it was sent, and the next one is mapped',
  async (name, limits) => {
    await store(`large ${name}`, LARGE);
    await store(`small ${name}`, SMALL);
    const maps = mapsWithin(limits);
    expect(await firstFrame(maps, `large ${name}`)).toMatchObject({ function: 'a', lineno: 2 });
    expect(await firstFrame(name === 'time' ? mapsWithin() : maps, `small ${name}`)).toMatchObject({
      filename: 'pay.ts',
    });
  },
);
