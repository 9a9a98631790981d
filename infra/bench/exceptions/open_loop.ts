import { once } from 'node:events';
import { connect, type Socket } from 'node:net';
import { setTimeout as delay } from 'node:timers/promises';

interface Address {
  readonly host: string;
  readonly port: number;
}

interface OpenLoopOptions extends Address {
  /** Kept open; requests wait when all of them are in use. */
  readonly connections: number;
  readonly perSecond: number;
}

/** The result of one request; times in milliseconds. */
export interface Taken {
  /** 0 when the connection broke. */
  readonly status: number;
  /** Time from writing the request to the end of its answer. */
  readonly answeredInMs: number;
  /** Time since the request was due, so that waiting in the sender counts too (no coordinated omission). */
  readonly sinceDueMs: number;
}

interface Due {
  readonly request: Buffer;
  readonly dueAt: number;
}

/** Sends requests at a constant rate, whether or not earlier ones are answered, with as little processor time as possible. */
export async function sendAtRate(requests: readonly Buffer[], options: OpenLoopOptions): Promise<Taken[]> {
  const lines = await Promise.all(Array.from({ length: options.connections }, () => Line.open(options)));
  const figures = new Figures(requests.length);
  const waiting: Due[] = [];
  const { promise: isDone, resolve: done } = Promise.withResolvers<void>();
  const feed = (line: Line): void => {
    const next = waiting.shift();
    if (next === undefined) {
      idle.push(line);
      return;
    }
    const sentAt = performance.now();
    line.send(next.request, (status) => {
      const now = performance.now();
      figures.add({ status, answeredInMs: now - sentAt, sinceDueMs: now - next.dueAt });
      if (figures.length === requests.length) done();
      else feed(line);
    });
  };
  const idle = [...lines];
  const startedAt = performance.now();
  for (let sent = 0; sent < requests.length;) {
    const due = Math.min(requests.length, Math.ceil(((performance.now() - startedAt) * options.perSecond) / 1_000));
    for (; sent < due; sent += 1) {
      waiting.push({
        request: requests[sent] ?? Buffer.alloc(0),
        dueAt: startedAt + (sent * 1_000) / options.perSecond,
      });
      // The one that rested longest: the server closes what rests for seconds.
      const line = idle.shift();
      if (line !== undefined) feed(line);
    }
    await delay(1);
  }
  await isDone;
  for (const line of lines) line.close();
  return figures.list();
}

const FIELDS = 3;

/** Results in one typed array: thousands of objects would cause garbage collection during the measurement. */
class Figures {
  readonly #values: Float64Array;
  #end = 0;

  constructor(lengthMax: number) {
    this.#values = new Float64Array(lengthMax * FIELDS);
  }

  get length(): number {
    return this.#end / FIELDS;
  }

  add({ status, answeredInMs, sinceDueMs }: Taken): void {
    this.#values.set([status, answeredInMs, sinceDueMs], this.#end);
    this.#end += FIELDS;
  }

  list(): Taken[] {
    return Array.from({ length: this.length }, (_, index) => {
      const [status = 0, answeredInMs = 0, sinceDueMs = 0] = this.#values.subarray(index * FIELDS);
      return { status, answeredInMs, sinceDueMs };
    });
  }
}

/** A request as bytes, for a server that keeps connections open. */
export function rawRequest(path: string, headers: Readonly<Record<string, string>>, body: Buffer): Buffer {
  const all = { host: 'localhost', ...headers, 'content-length': String(body.length) };
  const head = Object.entries(all).map(([name, value]) => `${name}: ${value}\r\n`);
  return Buffer.concat([Buffer.from(`POST ${path} HTTP/1.1\r\n${head.join('')}\r\n`), body]);
}

const ANSWER_BYTES = 4_096;

/** One connection with one request at a time. */
export class Line {
  readonly #socket: Socket;
  #answer = '';
  #onAnswer: ((status: number) => void) | null = null;

  private constructor({ host, port }: Address) {
    // Always the same memory: a program that measures must not be held up by collecting its own garbage.
    const onread = {
      buffer: Buffer.alloc(ANSWER_BYTES),
      callback: (length: number, bytes: Uint8Array): boolean => {
        this.#read(Buffer.from(bytes.buffer, bytes.byteOffset, length).toString('latin1'));
        return true;
      },
    };
    this.#socket = connect({ host, port, onread, noDelay: true });
    this.#socket.on('error', () => this.#end(0));
    this.#socket.on('close', () => this.#end(0));
  }

  static async open(address: Address): Promise<Line> {
    const line = new Line(address);
    await once(line.#socket, 'connect');
    return line;
  }

  send(request: Buffer, onAnswer: (status: number) => void): void {
    this.#onAnswer = onAnswer;
    if (this.#socket.destroyed) queueMicrotask(() => this.#end(0));
    else this.#socket.write(request);
  }

  close(): void {
    this.#socket.destroy();
  }

  #read(text: string): void {
    this.#answer += text;
    const headEnd = this.#answer.indexOf('\r\n\r\n');
    if (headEnd === -1) return;
    const length = Number(/\r\ncontent-length: (\d+)/i.exec(this.#answer)?.[1] ?? 0);
    if (this.#answer.length < headEnd + 4 + length) return;
    const status = Number(this.#answer.slice(9, 12));
    this.#answer = '';
    this.#end(status);
  }

  #end(status: number): void {
    const onAnswer = this.#onAnswer;
    this.#onAnswer = null;
    onAnswer?.(status);
  }
}
