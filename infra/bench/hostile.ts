import { on, once } from 'node:events';
import path from 'node:path';
import { Worker } from 'node:worker_threads';
import { spawn } from 'node:child_process';

import { findFreePort } from '#infra/embedded/free_port.ts';
import { count, duration, megabytes, spreadOf } from './figures.ts';
import { type Bench, type BenchStores, printInputs, printTable, withFolder, withStores } from './harness.ts';
import type { Measured } from './hostile/api_process.ts';
import type { HostileTarget } from './hostile/bodies.ts';
import { answersOfInputs } from './hostile/inputs.ts';
import type { Round } from './hostile/sender.ts';
import { FRUGAL_ALLOCATION, v8Flags } from '#entry/memory/memory.ts';

const SECONDS = Number(process.env['BENCH_HOSTILE_SECONDS'] ?? 20);
const ONLY = process.env['BENCH_HOSTILE_KIND'] ?? '';
const INPUTS = Number(process.env['BENCH_HOSTILE_INPUTS'] ?? 100_000);
const PART = process.env['BENCH_HOSTILE_PART'] ?? '1/1';
const MEGABYTE = 1024 * 1024;

type SenderMessage = { readonly begins: string } | { readonly round: Round } | { readonly isDone: true };

export const hostile: Bench = {
  name: 'hostile',
  about: 'requests that are made to be expensive, some seconds of each (goal: no stall of the API over 50 ms)',
  minutesMax: 30,
  run: () =>
    withStores(async (stores) => {
      printInputs({
        'a kind': `${SECONDS} s on two connections (BENCH_HOSTILE_SECONDS), kinds by part of their name (BENCH_HOSTILE_KIND) or the part ${PART} of them (BENCH_HOSTILE_PART)`,
        stall:
          'the longest time for which the event loop of the API did nothing else; of it, what the processor worked, and the longest collection of garbage',
        bystander: 'asks every 10 ms for an address that is not there',
        inputs: `${count(INPUTS)} of real clients with bytes changed (BENCH_HOSTILE_INPUTS)`,
      });
      await withFolder(async (dataDir) => {
        const { api, target } = await serve(stores, dataDir);
        try {
          if (SECONDS > 0) await measureKinds(api, target);
          if (INPUTS > 0) printTable(await answersOfInputs(target, INPUTS));
        } finally {
          await api.stop();
        }
      });
    }),
};

async function serve({ context, firstRun }: BenchStores, dataDir: string) {
  const { databaseUrl, clickhouseUrl, appSecret } = context.config;
  const [port, statsdPort, grpcPort] = await Promise.all([findFreePort(0), findFreePort(0), findFreePort(0)]);
  const baseUrl = `http://127.0.0.1:${port}`;
  const api = await startApi({
    DATA_DIR: dataDir,
    DATABASE_URL: databaseUrl,
    CLICKHOUSE_URL: clickhouseUrl,
    APP_SECRET: appSecret,
    PORT: String(port),
    STATSD_PORT: String(statsdPort),
    OTLP_GRPC_PORT: String(grpcPort),
    NODE_COMPILE_CACHE: path.join(dataDir, 'cache'),
    LOG_LEVEL: 'silent',
    // The rate limits would refuse most of these requests before they cost anything.
    CALLS_PER_MINUTE: '0',
    ANSWER_MEGABYTES_PER_MINUTE: '0',
    INGEST_EVENTS_PER_SECOND: '0',
    INGEST_POINTS_PER_SECOND: '0',
    INGEST_SERIES_PER_DAY: '100000000',
  });
  const call = async (name: string, body: object): Promise<Record<string, string>> => {
    const headers = { authorization: `Bearer ${firstRun.apiKey}`, 'content-type': 'application/json' };
    const answer = await fetch(`${baseUrl}/api/rest/actions/${name}`, {
      method: 'POST',
      headers,
      body: JSON.stringify(body),
    });
    const { result } = (await answer.json()) as { result: Record<string, string> };
    return result;
  };
  const { serviceId = '', ingestionKey = '', dsn = '' } = await call('create_service', { name: 'shop' });
  for (const capability of ['metrics', 'exceptions']) await call('enable_capability', { serviceId, capability });
  const { username: dsnKey, pathname } = new URL(dsn);
  const target: HostileTarget = {
    baseUrl,
    organizationId: firstRun.organizationId,
    serviceId,
    projectId: pathname.slice(1),
    dsnKey,
    ingestionKey,
    apiKey: firstRun.apiKey,
    sessionCookie: await signIn(baseUrl, firstRun),
    statsdPort,
    grpcPort,
  };
  return { api, target };
}

/** The cookie of the owner's session. */
async function signIn(baseUrl: string, { email, password }: BenchStores['firstRun']): Promise<string> {
  const answer = await fetch(`${baseUrl}/api/console/session`, {
    method: 'POST',
    headers: { 'content-type': 'application/json', origin: baseUrl },
    body: JSON.stringify({ email, password }),
  });
  if (!answer.ok) throw new Error(`signing in was answered ${answer.status}`);
  return answer.headers
    .getSetCookie()
    .map((cookie) => cookie.split(';')[0])
    .join('; ');
}

async function measureKinds(api: MeasuredApi, target: HostileTarget): Promise<void> {
  const sender = new Worker(new URL('hostile/sender.ts', import.meta.url), {
    workerData: { target, seconds: SECONDS, only: ONLY, part: PART },
  });
  const rows: Record<string, string | number>[] = [];
  for await (const [message] of on(sender, 'message', { close: ['exit'] }) as AsyncIterable<[SenderMessage]>) {
    if ('isDone' in message) break;
    const measured = await api.measure();
    if ('round' in message) rows.push(rowOf(message.round, measured));
    sender.postMessage('go on', []);
  }
  await sender.terminate();
  printTable(rows);
}

function rowOf(
  { kind, requestBytes, answers, bystanderMs }: Round,
  { stallMs, workedMs, garbageMs, residentBytes }: Measured,
): Record<string, string | number> {
  const { p50, p99 } = spreadOf(bystanderMs);
  return {
    kind,
    'a request':
      requestBytes < MEGABYTE ? `${count(requestBytes / 1_000)} kB` : `${(requestBytes / MEGABYTE).toFixed(1)} MiB`,
    answers: Object.entries(answers)
      .map(([status, times]) => `${times} × ${status === '0' ? 'cut off' : status}`)
      .join(', '),
    'longest stall': duration(stallMs),
    'of processor': duration(workedMs),
    garbage: duration(garbageMs),
    'bystander p50': duration(p50),
    p99: duration(p99),
    memory: megabytes(residentBytes),
  };
}

/** An API process that measures its own event loop. */
interface MeasuredApi {
  /** Returns the measurements since the last call. */
  measure(): Promise<Measured>;
  stop(): Promise<void>;
}

type Message = { readonly ready: true } | { readonly measured: Measured };

/** Starts the API as production does, in a process of its own: the heap of the senders is not collected there. */
async function startApi(environment: Readonly<Record<string, string>>): Promise<MeasuredApi> {
  const entry = path.join(import.meta.dirname, 'hostile/api_process.ts');
  const child = spawn(process.execPath, [...v8Flags('ample'), entry], {
    env: { PATH: process.env['PATH'], ...FRUGAL_ALLOCATION, ...environment },
    stdio: ['ignore', 'inherit', 'inherit', 'ipc'],
  });
  const ended = once(child, 'exit').then(([code, signal]) => {
    throw new Error(`the API ended (${String(code ?? signal)})`);
  });
  ended.catch(() => {});
  const next = async (): Promise<Message> => {
    const [message] = (await Promise.race([once(child, 'message'), ended])) as [Message];
    return message;
  };
  await next();
  return {
    async measure() {
      const answer = next();
      child.send({});
      const message = await answer;
      if (!('measured' in message)) throw new Error('the API answered something else');
      return message.measured;
    },
    async stop() {
      child.kill('SIGTERM');
      await ended.catch(() => {});
    },
  };
}
