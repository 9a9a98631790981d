import { createHash } from 'node:crypto';
import { setTimeout as delay } from 'node:timers/promises';
import zlib, { gzipSync } from 'node:zlib';

import type { BenchInstallation } from '#infra/bench/harness.ts';
import { newEventId } from '#infra/bench/paging/sender.ts';
import { type Client, connect } from '#infra/demo/client.ts';

/** Does the work again and again, whether or not it fails, until it is told to stop. */
export async function repeat(signal: AbortSignal, everyMs: number, work: () => Promise<unknown>): Promise<void> {
  while (!signal.aborted) {
    await work().catch(() => {});
    await delay(everyMs);
  }
}

const PATTERNS_A_SELECTOR = 7;
/** Expensive to compile for its length. */
const CLASSES = 60;

/** A selector of seven patterns that nobody has sent before. */
function newSelector(metric: string, index: number): string {
  const matchers = Array.from({ length: PATTERNS_A_SELECTOR }, (_, place) => {
    return `l${place}=~"(?i)${'\\\\pL'.repeat(CLASSES)}${index}x${place}"`;
  });
  return `${metric}{${matchers.join(',')}}`;
}

export const SHARED_ENTRIES = 5_000;
export const SHARED_MAP_BYTES = 4 * 1024 * 1024;
export const LARGE_MAPS = 20;
export const LARGE_MAP_BYTES = 24 * 1024 * 1024;
export const RULES = 150;
export const MEGABYTES_OF_BOMB = 110;
export const MEGABYTES_OF_EVENT = 0.9;

/** Stands for the id of an event. */
const EVENT_ID = 'f'.repeat(32);

interface Attacker {
  attack(signal: AbortSignal): Promise<void>;
  /** Returns how the requests of the attack itself ended, a row for each kind. */
  outcome(): Promise<Record<string, string>[]>;
}

/** Makes the services of the attacker, and stores its large maps. */
export async function prepareAttacker({
  baseUrl,
  key,
}: {
  readonly baseUrl: string;
  readonly key: string;
}): Promise<Attacker> {
  const client = connect({ baseUrl, apiKey: key, userId: '', phoneUrl: '', stop: async () => {} });
  const service = await createService(client, 'intruder');
  // It has a service of its own, because bodies that are refused count against their service.
  const bombed = await createService(client, 'bombed');
  const uploader = new Uploader({ baseUrl }, key, 'intruder', 'intruder');
  const large = largeMapsUpload(LARGE_MAPS, LARGE_MAP_BYTES);
  await uploader.upload(large);
  const prepared = performance.now();
  while ((await uploader.stateOf(large)) === 'created' && performance.now() - prepared < 120_000) await delay(500);
  const shared = ['one', 'two'].map((mark) => sharedMapUpload(SHARED_ENTRIES, SHARED_MAP_BYTES, mark));
  const outcomes = new Map<string, Map<string, number>>();
  const note = (what: string, how: string): void => {
    const of = outcomes.get(what) ?? new Map<string, number>();
    outcomes.set(what, of.set(how, (of.get(how) ?? 0) + 1));
  };
  const noted = async (what: string, work: () => Promise<unknown>): Promise<void> => {
    const how = await work().then(
      (result) => (typeof result === 'number' ? String(result) : 'done'),
      (error: unknown) => reasonOf(error),
    );
    note(what, how);
  };
  let index = 0;
  const next = (): number => (index += 1);
  const bomb = gzipSync(Buffer.alloc(MEGABYTES_OF_BOMB * 1_000_000, ' '));
  return {
    async attack(signal) {
      for (const bytes of shared) void noted('uploads begun', () => uploader.upload(bytes));
      const several = (times: number, everyMs: number, work: () => Promise<unknown>): Promise<void>[] =>
        Array.from({ length: times }, () => repeat(signal, everyMs, work));
      await Promise.all([
        ...several(1, 200, () => noted('events', () => sendMapped(service.dsn))),
        ...several(1, 200, () => noted('large events', () => sendLarge(service.dsn, next()))),
        ...several(4, 0, () =>
          noted('queries', () =>
            client.action('query_metric', {
              serviceId: service.serviceId,
              metricName: newSelector('cpu', next()),
              windowMinutes: 60,
            }),
          ),
        ),
        ...several(10, 0, () => noted('bodies', () => sendBomb(bombed.dsn, bomb))),
        ...several(2, 0, async () => {
          if ((outcomes.get('rules')?.get('done') ?? 0) >= RULES) return await delay(1_000);
          const config = { metricName: newSelector('cpu', next()), comparator: '>', threshold: 1, windowMinutes: 5 };
          const rule = { serviceId: service.serviceId, name: 'r', kind: 'metric_threshold', config };
          await noted('rules', () => client.action('create_alert_rule', rule));
        }),
      ]);
    },
    async outcome() {
      for (const bytes of shared) note('uploads', (await uploader.stateOf(bytes)).slice(0, 90));
      return [...outcomes].map(([what, hows]) => ({
        attacker: what,
        outcome: [...hows].map(([how, times]) => `${times} × ${how}`).join(', '),
      }));
    },
  };
}

async function createService(client: Client, name: string): Promise<{ serviceId: string; dsn: string }> {
  const service = await client.action<{ serviceId: string; dsn: string }>('create_service', { name });
  for (const capability of ['metrics', 'exceptions', 'oncall']) {
    await client.action('enable_capability', { serviceId: service.serviceId, capability });
  }
  return service;
}

function reasonOf(error: unknown): string {
  const text = error instanceof Error ? error.message : String(error);
  return /LIMIT_\w+|CALLS_\w+/.exec(text)?.[0] ?? text.slice(0, 80);
}

/** An event of two kilobytes that names twenty maps. */
async function sendMapped(dsn: string): Promise<number> {
  const { origin, username, pathname } = new URL(dsn);
  const eventId = newEventId();
  const paths = Array.from({ length: LARGE_MAPS }, (_, index) => `https://x.example/m${index}.js`);
  const frames = paths.map((path) => ({ function: 'a', filename: path, abs_path: path, lineno: 1, colno: 1 }));
  const images = paths.map((path, at) => ({ type: 'sourcemap', code_file: path, debug_id: debugIdOf(at) }));
  const event = {
    event_id: eventId,
    platform: 'javascript',
    exception: { values: [{ type: 'Error', value: eventId, stacktrace: { frames } }] },
    debug_meta: { images },
  };
  const lines = [{ event_id: eventId }, { type: 'event' }, event].map((line) => JSON.stringify(line)).join('\n');
  const response = await fetch(`${origin}/api${pathname}/envelope/?sentry_key=${username}`, {
    method: 'POST',
    body: lines,
  });
  await response.text();
  return response.status;
}

/** Alternately one that takes long to read, and one that takes long to group; made once, because that takes long, too. */
const LARGE = [
  { message: EVENT_ID, tags: Array.from({ length: (MEGABYTES_OF_EVENT * 1_000_000) / 9 }, () => ['a', {}]) },
  {
    exception: {
      values: Array.from({ length: 8 }, () => ({
        type: 'E',
        stacktrace: { frames: frames((MEGABYTES_OF_EVENT * 1_000_000) / 8) },
      })),
    },
  },
].map((event) =>
  [{ event_id: EVENT_ID }, { type: 'event' }, { event_id: EVENT_ID, platform: 'javascript', ...event }]
    .map((line) => JSON.stringify(line))
    .join('\n'),
);

async function sendLarge(dsn: string, index: number): Promise<number> {
  const { origin, username, pathname } = new URL(dsn);
  const body = LARGE[index % LARGE.length]?.replaceAll(EVENT_ID, newEventId()) ?? '';
  const response = await fetch(`${origin}/api${pathname}/envelope/?sentry_key=${username}`, { method: 'POST', body });
  await response.text();
  return response.status;
}

function frames(bytes: number): object[] {
  return Array.from({ length: bytes / 900 }, (_, index) => ({
    function: `fn${index}$$Lambda$aaaa lambda$b$1 <a>b__1 `.padEnd(250, 'x'),
    module: `mod${index}.0123456789abcdef0.`.padEnd(250, 'x'),
    filename: `${`/a/b${index}/0123456789abcdef-0123.abcd.`.padEnd(300, 'x')}.js`,
  }));
}

async function sendBomb(dsn: string, body: Buffer): Promise<number> {
  const { origin, username, pathname } = new URL(dsn);
  const response = await fetch(`${origin}/api${pathname}/envelope/?sentry_key=${username}`, {
    method: 'POST',
    headers: { 'content-encoding': 'gzip' },
    body: new Uint8Array(body),
    signal: AbortSignal.timeout(30_000),
  });
  await response.text();
  if (response.status === 429) await delay(200);
  return response.status;
}

const CHUNK_BYTES = 2 * 1024 * 1024;
const MANIFEST = 'manifest.json';

/** A file of an archive: its own content, or that of another file, under a further name. */
type ArchiveFile = { readonly content: Buffer } | { readonly sameAs: string };

/** A zip archive whose entries may share one member, as no build makes it. */
function archiveOf(files: ReadonlyMap<string, ArchiveFile>): Buffer {
  const parts: Buffer[] = [];
  const directory: Buffer[] = [];
  const members = new Map<string, { at: number; packed: number; plain: number }>();
  let at = 0;
  for (const [name, file] of files) {
    const text = Buffer.from(name);
    if ('content' in file) {
      const packed = zlib.deflateRawSync(file.content);
      const local = Buffer.alloc(30);
      local.writeUInt32LE(0x04034b50, 0);
      local.writeUInt16LE(text.length, 26);
      parts.push(local, text, packed);
      members.set(name, { at, packed: packed.length, plain: file.content.length });
      at += 30 + text.length + packed.length;
    }
    const member = members.get('sameAs' in file ? file.sameAs : name);
    if (member === undefined) throw new Error(`no member ${name}`);
    const entry = Buffer.alloc(46);
    entry.writeUInt32LE(0x02014b50, 0);
    entry.writeUInt16LE(8, 10);
    entry.writeUInt32LE(member.packed, 20);
    entry.writeUInt32LE(member.plain, 24);
    entry.writeUInt16LE(text.length, 28);
    entry.writeUInt32LE(member.at, 42);
    directory.push(entry, text);
  }
  const end = Buffer.alloc(22);
  end.writeUInt32LE(0x06054b50, 0);
  end.writeUInt16LE(files.size, 10);
  end.writeUInt32LE(Buffer.concat(directory).length, 12);
  end.writeUInt32LE(at, 16);
  return Buffer.concat([...parts, ...directory, end]);
}

/** The text of a source map of about so many bytes, which packs well; `mark` makes it one of its own. */
function mapText(bytes: number, mark: string): Buffer {
  const half = Math.floor(bytes / 2);
  const mappings = `AAAA${',CAAA'.repeat(Math.min(900_000, Math.floor(half / 5)))}`;
  const content = `// ${mark}\n${'pay(order);\n'.repeat(Math.floor(half / 12))}`;
  return Buffer.from(
    JSON.stringify({ version: 3, sources: ['pay.ts'], sourcesContent: [content], names: [], mappings }),
  );
}

const debugIdOf = (index: number): string => createHash('md5').update(`map ${index}`).digest('hex');

/** An upload of many names for one map. */
function sharedMapUpload(entries: number, mapBytes: number, mark: string): Buffer {
  const files = new Map<string, ArchiveFile>();
  const listed: Record<string, object> = {};
  for (let index = 0; index < entries; index += 1) {
    const name = `m${index}.map`;
    listed[name] = {
      type: 'source_map',
      headers: { 'debug-id': createHash('md5').update(`${mark}${index}`).digest('hex') },
    };
    files.set(name, index === 0 ? { content: mapText(mapBytes, mark) } : { sameAs: 'm0.map' });
  }
  return archiveOf(new Map([[MANIFEST, { content: Buffer.from(JSON.stringify({ files: listed })) }], ...files]));
}

/** An upload of large maps, each of which an event can name by its debug id. */
function largeMapsUpload(maps: number, mapBytes: number): Buffer {
  const files = new Map<string, ArchiveFile>();
  const listed: Record<string, object> = {};
  for (let index = 0; index < maps; index += 1) {
    listed[`m${index}.map`] = { type: 'source_map', headers: { 'debug-id': debugIdOf(index) } };
    files.set(`m${index}.map`, { content: mapText(mapBytes, String(index)) });
  }
  return archiveOf(new Map([[MANIFEST, { content: Buffer.from(JSON.stringify({ files: listed })) }], ...files]));
}

/** Uploads bundles of source maps for an organization, as `sentry-cli` does. */
class Uploader {
  readonly #url: string;
  readonly #key: string;
  readonly #project: string;

  constructor({ baseUrl }: Pick<BenchInstallation, 'baseUrl'>, key: string, organization: string, project: string) {
    this.#url = `${baseUrl}/api/0/organizations/${organization}`;
    this.#key = key;
    this.#project = project;
  }

  /** Resolves to what the server says of the upload. */
  async upload(bytes: Buffer): Promise<string> {
    const chunks: string[] = [];
    for (let at = 0; at < bytes.length; at += CHUNK_BYTES) {
      const chunk = bytes.subarray(at, at + CHUNK_BYTES);
      const sha1 = createHash('sha1').update(chunk).digest('hex');
      const form = new FormData();
      form.append('file', new Blob([new Uint8Array(chunk)]), sha1);
      await this.#post('chunk-upload/', form);
      chunks.push(sha1);
    }
    return await this.#assemble(createHash('sha1').update(bytes).digest('hex'), chunks);
  }

  /** Asks again for an upload of the same bytes. */
  async stateOf(bytes: Buffer): Promise<string> {
    return await this.#assemble(createHash('sha1').update(bytes).digest('hex'), []);
  }

  async #assemble(checksum: string, chunks: readonly string[]): Promise<string> {
    const body = JSON.stringify({ checksum, chunks, projects: [this.#project] });
    const { state, detail } = (await this.#post('artifactbundle/assemble/', body)) as Record<string, string | null>;
    return detail === null || detail === undefined ? String(state) : `${state}: ${detail}`;
  }

  async #post(path: string, body: FormData | string): Promise<unknown> {
    const headers = {
      authorization: `Bearer ${this.#key}`,
      ...(typeof body === 'string' && { 'content-type': 'application/json' }),
    };
    const response = await fetch(`${this.#url}/${path}`, { method: 'POST', headers, body });
    const text = await response.text();
    if (!response.ok) throw new Error(`${path} was answered ${response.status}: ${text.slice(0, 300)}`);
    return JSON.parse(text);
  }
}
