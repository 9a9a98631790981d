import { createHash } from 'node:crypto';
import zlib from 'node:zlib';

import type { BenchInstallation } from '#infra/bench/harness.ts';

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

export const debugIdOf = (index: number): string => createHash('md5').update(`map ${index}`).digest('hex');

/** An upload of many names for one map. */
export function sharedMapUpload(entries: number, mapBytes: number, mark: string): Buffer {
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
export function largeMapsUpload(maps: number, mapBytes: number): Buffer {
  const files = new Map<string, ArchiveFile>();
  const listed: Record<string, object> = {};
  for (let index = 0; index < maps; index += 1) {
    listed[`m${index}.map`] = { type: 'source_map', headers: { 'debug-id': debugIdOf(index) } };
    files.set(`m${index}.map`, { content: mapText(mapBytes, String(index)) });
  }
  return archiveOf(new Map([[MANIFEST, { content: Buffer.from(JSON.stringify({ files: listed })) }], ...files]));
}

/** Uploads bundles of source maps for an organization, as `sentry-cli` does. */
export class Uploader {
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
