import { createHash } from 'node:crypto';
import zlib from 'node:zlib';

import { expect, onTestFinished, test } from 'vitest';

import { readSourceMap, type StoredMap } from '#modules/releases/decide/source_maps/source_map.ts';
import { asId, newId } from '#kernel/ids.ts';
import { silentLog } from '#kernel/log.ts';
import type { MapThreadLimits } from '#modules/releases/source_maps/map_thread.ts';
import { SourceMaps } from '#modules/releases/source_maps/source_maps.ts';
import { storesOf } from '#modules/stores.ts';
import { eventOfClient } from '#infra/bench/grouping/labelled_event.ts';
import { fileWorld } from '#test/kit/world.ts';

const w = await fileWorld();
const { serviceId } = await w.given.service({ name: 'Web shop' });

const SMALL: StoredMap = {
  mappings: 'AAAA;AACA',
  names: [],
  sources: ['pay.ts'],
  contents: ['pay();\nrefund();'],
  ignored: [],
  functions: [[0, 0, 9, 0, 'pay']],
};
/** Map with as many places as a map may have. */
const LARGE: StoredMap = { ...SMALL, mappings: `AAAA${',CAAA'.repeat(999_998)}` };

function mapsWithin(thread: Partial<MapThreadLimits> = {}, readingMsPerMinute = 60_000): SourceMaps {
  const { db, clock } = w.context;
  const memoryBytesMax = 96 * 1024 * 1024;
  const maps = new SourceMaps({ db, clock, log: silentLog, memoryBytesMax, readingMsPerMinute, thread });
  onTestFinished(() => maps.close());
  return maps;
}

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

test('once reading the maps of an organization has taken its time of the minute, the worker leaves events as they were sent, and people read them mapped', async () => {
  await store('first', SMALL);
  await store('second', { ...SMALL, contents: ['pay();\nother();'] });
  const limited: string[] = [];
  const { db, clock } = w.context;
  const options = { db, clock, log: silentLog, memoryBytesMax: 1e8, readingMsPerMinute: 1e-6 };
  const maps = new SourceMaps({ ...options, onLimit: (orgId) => limited.push(orgId) });
  onTestFinished(() => maps.close());
  const [[first], [second]] = [
    await maps.mapEvents([eventIn('first')], 'worker'),
    await maps.mapEvents([eventIn('second')], 'worker'),
  ];
  // The question whether the thread has the map was the last one that was allowed.
  expect([first, second].map((event) => event?.event.exceptions[0]?.frames[0]?.filename)).toEqual([
    'pay.ts',
    'https://shop.example/app.js',
  ]);
  expect(limited).toEqual([w.orgId]);
  expect(await firstFrame(maps, 'second')).toMatchObject({ filename: 'pay.ts', contextLine: 'other();' });
});

test('a name in a map that PostgreSQL cannot store does not keep events from being stored', () => {
  const map = {
    version: 3,
    sources: ['pay\0.ts'],
    names: ['re\0fund'],
    sourcesContent: ['pay(\0);'],
    mappings: 'AAAAA',
  };
  const read = readSourceMap(JSON.stringify(map));
  expect([read.sources, read.names, read.contents]).toEqual([['pay.ts'], ['refund'], ['pay();']]);
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
