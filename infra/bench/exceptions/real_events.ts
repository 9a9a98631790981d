import { randomBytes } from 'node:crypto';
import { readdirSync, readFileSync } from 'node:fs';
import path from 'node:path';
import { gzipSync } from 'node:zlib';

/** A request as a real client makes it, but for its address and key. */
export interface EventRequest {
  readonly kind: 'envelope' | 'store';
  readonly headers: Readonly<Record<string, string>>;
  readonly body: Buffer;
}

interface Recorded {
  readonly kind: 'envelope' | 'store';
  readonly isGzipped: boolean;
  readonly event: Event;
}

interface Event {
  event_id?: string;
  timestamp?: number;
  exception?: { values?: { type?: string }[] };
  readonly [name: string]: unknown;
}

const FOLDER = path.join(import.meta.dirname, '../../../test/ingest/golden/recordings/sentry');

/**
 * Events of real clients (JavaScript, Node, Python and Go), in turn, each with an id of its own and the present time.
 * The exceptions of each recording get `variants` different names, which makes as many groups.
 */
export function realEvents(count: number, variants: number): EventRequest[] {
  const recordings = readRecordings();
  return Array.from({ length: count }, (_, index) => {
    const recording = recordings[index % recordings.length];
    if (recording === undefined) throw new Error('there are no recordings');
    return toRequest(recording, Math.floor(index / recordings.length) % variants);
  });
}

function readRecordings(): Recorded[] {
  const names = readdirSync(FOLDER, { recursive: true, encoding: 'utf8' }).toSorted();
  return names.filter((name) => name.endsWith('.json')).flatMap(readRecording);
}

/** Empty for recordings without an exception: sessions, spans, messages. */
function readRecording(name: string): Recorded[] {
  const { headers, json } = JSON.parse(readFileSync(path.join(FOLDER, name), 'utf8')) as {
    readonly headers: Readonly<Record<string, string>>;
    readonly json?: Event;
  };
  const event = json ?? eventOfEnvelope(path.join(FOLDER, name.replace(/\.json$/, '.envelope')));
  if (!Array.isArray(event.exception?.values)) return [];
  const kind = json === undefined ? 'envelope' : 'store';
  return [{ kind, isGzipped: headers['content-encoding'] === 'gzip', event }];
}

function eventOfEnvelope(file: string): Event {
  const lines = readFileSync(file, 'utf8').split('\n');
  const head = lines.findIndex((line) => line.includes('"type":"event"') || line.includes('"type": "event"'));
  return JSON.parse(head === -1 ? '{}' : (lines[head + 1] ?? '{}')) as Event;
}

function toRequest({ kind, isGzipped, event: recorded }: Recorded, variant: number): EventRequest {
  const eventId = randomBytes(16).toString('hex');
  const values = recorded.exception?.values ?? [];
  const exception = { values: values.map((value) => ({ ...value, type: `${value.type ?? 'Error'}${variant}` })) };
  const event = { ...recorded, event_id: eventId, timestamp: Date.now() / 1_000, exception };
  const lines = kind === 'store' ? [event] : [{ event_id: eventId }, { type: 'event' }, event];
  const body = Buffer.from(lines.map((line) => JSON.stringify(line)).join('\n'));
  return isGzipped
    ? { kind, headers: { 'content-encoding': 'gzip' }, body: gzipSync(body) }
    : { kind, headers: {}, body };
}
