import { monitorEventLoopDelay } from 'node:perf_hooks';
import { Worker } from 'node:worker_threads';

import { buildApp } from '#entry/http/app.ts';
import { findFreePort } from '#infra/embedded/free_port.ts';
import { silentLog } from '#kernel/log.ts';

import { count, duration, megabytes, spreadOf } from './figures.ts';
import { type Bench, type BenchStores, printInputs, printTable, withStores } from './harness.ts';
import type { HostileTarget } from './hostile/bodies.ts';
import { answersOfInputs } from './hostile/inputs.ts';
import type { Round } from './hostile/sender.ts';

const SECONDS = Number(process.env['BENCH_HOSTILE_SECONDS'] ?? 20);
const ONLY = process.env['BENCH_HOSTILE_KIND'] ?? '';
const INPUTS = Number(process.env['BENCH_HOSTILE_INPUTS'] ?? 100_000);
/** The resolution of stalls. Each sample wakes the process. */
const LOOK_EVERY_MS = 2;
const MEMORY_EVERY_MS = 50;
const MEGABYTE = 1024 * 1024;

type SenderMessage = { readonly begins: string } | { readonly round: Round } | { readonly isDone: true };

export const hostile: Bench = {
  name: 'hostile',
  about: 'requests that are made to be expensive, some seconds of each (goal: no stall of the API over 50 ms)',
  minutesMax: 30,
  run: () =>
    withStores(async (stores) => {
      printInputs({
        'a kind': `${SECONDS} s on two connections (BENCH_HOSTILE_SECONDS, BENCH_HOSTILE_KIND)`,
        stall:
          'the longest time for which the event loop of the API did nothing else; of it, what the processor worked',
        bystander: 'asks every 10 ms for an address that is not there',
        inputs: `${count(INPUTS)} of real clients with bytes changed (BENCH_HOSTILE_INPUTS)`,
      });
      const { app, target } = await serve(stores);
      try {
        if (SECONDS > 0) await measureKinds(target);
        if (INPUTS > 0) printTable(await answersOfInputs(app, target, INPUTS));
      } finally {
        await app.close();
      }
    }),
};

async function serve({ context, firstRun }: BenchStores) {
  // The rate limits of a service would reject most of these requests before they cost anything.
  const unlimited = {
    callsPerMinute: 0,
    ingestEventsPerSecond: 0,
    ingestPointsPerSecond: 0,
    ingestSeriesPerDay: 100_000_000,
    host: '127.0.0.1',
    statsdPort: await findFreePort(0),
    otlpGrpcPort: await findFreePort(0),
  };
  const app = await buildApp({ ...context, log: silentLog, config: { ...context.config, ...unlimited } });
  const baseUrl = await app.listen({ port: 0, host: '127.0.0.1' });
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
    projectId: pathname.slice(1),
    dsnKey,
    ingestionKey,
    apiKey: firstRun.apiKey,
    sessionCookie: await signIn(baseUrl, firstRun),
    statsdPort: unlimited.statsdPort,
    grpcPort: unlimited.otlpGrpcPort,
  };
  return { app, target };
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

async function measureKinds(target: HostileTarget): Promise<void> {
  const sender = new Worker(new URL('hostile/sender.ts', import.meta.url), {
    workerData: { target, seconds: SECONDS, only: ONLY },
  });
  const delays = monitorEventLoopDelay({ resolution: LOOK_EVERY_MS });
  const worked = watchProcessor();
  const resident = watchMemory();
  const rows: Record<string, string | number>[] = [];
  const { promise, resolve, reject } = Promise.withResolvers<void>();
  sender.on('error', reject);
  sender.on('message', (message: SenderMessage) => {
    if ('begins' in message) {
      delays.reset();
      delays.enable();
      worked.mostMs();
      resident.mostBytes();
    } else if ('round' in message) {
      delays.disable();
      rows.push({
        ...rowOf(message.round, delays.max / 1e6, worked.mostMs()),
        memory: megabytes(resident.mostBytes()),
      });
    } else resolve();
  });
  await promise;
  worked.stop();
  resident.stop();
  await sender.terminate();
  printTable(rows);
}

/** The longest processor time of this thread between two samples. Unlike elapsed time, it does not depend on the load of the machine. */
function watchProcessor(): { mostMs(): number; stop(): void } {
  let most = 0;
  let last = process.threadCpuUsage();
  const timer = setInterval(() => {
    const { user, system } = process.threadCpuUsage(last);
    last = process.threadCpuUsage();
    most = Math.max(most, (user + system) / 1_000);
  }, LOOK_EVERY_MS);
  return {
    mostMs() {
      const since = most;
      most = 0;
      return since;
    },
    stop: () => clearInterval(timer),
  };
}

/** The most that this process held between two questions, its stores' clients and the benchmark's own inputs, too. */
function watchMemory(): { mostBytes(): number; stop(): void } {
  let most = 0;
  const timer = setInterval(() => {
    most = Math.max(most, process.memoryUsage.rss());
  }, MEMORY_EVERY_MS);
  return {
    mostBytes() {
      const since = Math.max(most, process.memoryUsage.rss());
      most = 0;
      return since;
    },
    stop: () => clearInterval(timer),
  };
}

function rowOf(
  { kind, requestBytes, answers, bystanderMs }: Round,
  stallMs: number,
  workedMs: number,
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
    'bystander p50': duration(p50),
    p99: duration(p99),
  };
}
