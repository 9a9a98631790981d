import { createHash } from 'node:crypto';
import { mkdir, readdir, readFile, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { promisify } from 'node:util';
import zlib from 'node:zlib';

import { build } from 'vite';

import type { ExceptionEvent } from '#modules/exceptions/decide/event.ts';
import { withFunctions } from '#modules/releases/decide/source_maps/original_code.ts';
import { readSourceMap } from '#modules/releases/decide/source_maps/source_map.ts';
import { asId, type Id, newId } from '#kernel/ids.ts';
import { silentLog } from '#kernel/log.ts';
import { systemClock } from '#kernel/time.ts';
import { SourceMaps } from '#modules/releases/source_maps/source_maps.ts';
import type { Database } from '#storage/postgres/database.ts';
import { storesOf } from '#modules/stores.ts';

import { eventOfClient } from '#infra/bench/grouping/labelled_event.ts';
import { seeded } from '#infra/bench/seeded.ts';

const FRAMES = 20;
const STACKS = 500;
const BATCH = 100;
const WARM_UP = 10;
const BATCHES = 100;
const RELEASE = 'shop@1.0.0';
const ADDRESS = 'https://shop.example/assets/app.js';

/** Cost of mapping the frames of an event whose map is in memory. */
export interface MappingFigures {
  readonly codeBytes: number;
  readonly mapBytes: number;
  readonly frames: number;
  /** Share of the frames that were mapped. */
  readonly mappedShare: number;
  /** The processor's time for one event. */
  readonly eventMs: number;
  /** Time of the first event, which loads the map. */
  readonly coldMs: number;
}

/** Builds a real application, stores its map as an upload does, and maps events whose frames are places in its code. */
export async function measureMapping(
  db: Database,
  { organizationId, serviceId, folder }: { organizationId: string; serviceId: string; folder: string },
): Promise<MappingFigures> {
  const { code, map } = await buildApplication(folder);
  const owner = { orgId: asId('org', organizationId), serviceId: asId('service', serviceId) };
  await storeMap(db, owner, withFunctions({ ...readSourceMap(map), functions: [] }, code));
  const maps = new SourceMaps({
    db,
    clock: systemClock,
    log: silentLog,
    memoryBytesMax: 256 * 1024 * 1024,
    readingMsPerMinute: Infinity,
  });
  const stacks = stacksIn(code);
  const batchAt = (index: number) =>
    Array.from({ length: BATCH }, (_, place) => {
      const event = stacks[(index * BATCH + place) % stacks.length];
      if (event === undefined) throw new Error('there are no stacks');
      return { ...owner, event };
    });
  const began = performance.now();
  await maps.mapEvents(batchAt(0).slice(0, 1), 'worker');
  const coldMs = performance.now() - began;
  for (let index = 0; index < WARM_UP; index += 1) await maps.mapEvents(batchAt(index), 'worker');
  const before = process.cpuUsage();
  let mapped = 0;
  for (let index = 0; index < BATCHES; index += 1) {
    for (const { event } of await maps.mapEvents(batchAt(index), 'worker')) {
      mapped += event.exceptions[0]?.frames.filter(({ generated }) => generated !== undefined).length ?? 0;
    }
  }
  const { user, system } = process.cpuUsage(before);
  const events = BATCHES * BATCH;
  return {
    codeBytes: code.length,
    mapBytes: map.length,
    frames: FRAMES,
    mappedShare: mapped / (events * FRAMES),
    eventMs: (user + system) / 1_000 / events,
    coldMs,
  };
}

async function buildApplication(folder: string): Promise<{ code: string; map: string }> {
  const root = path.join(folder, 'application');
  await mkdir(root, { recursive: true });
  const entry = path.join(root, 'entry.js');
  const libraries = ['react', 'react-dom/client', '@tanstack/react-router', '@tanstack/react-query', 'uplot', 'marked'];
  const imports = libraries.map((name, index) => {
    return `import * as m${index} from ${JSON.stringify(path.resolve('node_modules', name))};`;
  });
  await writeFile(
    entry,
    `${imports.join('\n')}\nglobalThis.all = [${libraries.map((_, index) => `m${index}`).join(', ')}];\n`,
  );
  await build({
    root,
    configFile: false,
    logLevel: 'silent',
    define: { 'process.env.NODE_ENV': '"production"' },
    build: { outDir: 'out', sourcemap: true, minify: true, lib: { entry, formats: ['es'], fileName: 'app' } },
  });
  const files = await readdir(path.join(root, 'out'));
  const name = files.find((file) => /\.m?js$/.test(file)) ?? '';
  const read = (file: string): Promise<string> => readFile(path.join(root, 'out', file), 'utf8');
  return { code: await read(name), map: await read(`${name}.map`) };
}

async function storeMap(
  db: Database,
  { orgId, serviceId }: { readonly orgId: Id<'org'>; readonly serviceId: Id<'service'> },
  map: object,
): Promise<void> {
  const bytes = Buffer.from(JSON.stringify(map));
  const hash = createHash('sha256').update(bytes).digest('hex');
  const content = await promisify(zlib.zstdCompress)(bytes);
  const now = systemClock.now();
  const id = newId('bundle');
  await db.transaction(async (session) => {
    const { artifacts, sourceMaps } = storesOf(session);
    const used = { createdAt: now, usedAt: now };
    const what = { serviceIds: [serviceId], release: RELEASE, dist: null, detail: null };
    const stored = { state: 'stored' as const, maps: 1, bytes: bytes.length, chunks: [] };
    await artifacts.insertBundle({ id, orgId, key: hash, checksum: hash, ...what, ...stored, ...used });
    await sourceMaps.insert({ orgId, hash, size: bytes.length, storedBytes: content.length, content, createdAt: now });
    const place = { orgId, bundleId: id, serviceId, debugId: null, release: RELEASE, dist: null, hash };
    await sourceMaps.addPlaces([{ ...place, url: '~/assets/app.js' }]);
  });
}

/** Events whose frames are calls in the code. */
function stacksIn(code: string): readonly ExceptionEvent[] {
  const lines = code.split('\n');
  const calls = lines.flatMap((line, index) =>
    [...line.matchAll(/[\w$]\(/g)].map((match) => ({ lineno: index + 1, colno: match.index + 1 })),
  );
  const random = seeded(7);
  return Array.from({ length: STACKS }, (_, stack) => {
    const frames = Array.from({ length: FRAMES }, () => {
      const call = calls[Math.floor(random() * calls.length)];
      return { function: 'a', filename: ADDRESS, abs_path: ADDRESS, in_app: true, ...call };
    });
    const exception = { values: [{ type: 'TypeError', value: `x${stack} is undefined`, stacktrace: { frames } }] };
    return eventOfClient({ platform: 'javascript', release: RELEASE, exception });
  });
}
