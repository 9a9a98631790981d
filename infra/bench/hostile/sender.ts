import { Agent, request } from 'node:http';
import { setTimeout as delay } from 'node:timers/promises';
import { parentPort, workerData } from 'node:worker_threads';

import { hostileRequests, type HostileRequest, type HostileTarget } from './bodies.ts';

/** The result of one round of a kind; times in milliseconds. */
export interface Round {
  readonly kind: string;
  readonly requestBytes: number;
  readonly answers: Readonly<Record<string, number>>;
  readonly bystanderMs: readonly number[];
}

interface Orders {
  readonly target: HostileTarget;
  readonly seconds: number;
  /** Only kinds whose name contains this. */
  readonly only: string;
}

const CONNECTIONS = 2;
const BYSTANDER_EVERY_MS = 10;

const { target, seconds, only } = workerData as Orders;
const base = new URL(target.baseUrl);

/** The status of the answer; 0 where the connection broke. */
function send(
  { method, path, headers, body }: Omit<HostileRequest, 'kind' | 'method'> & { method: string },
  agent: Agent,
): Promise<number> {
  return new Promise((resolve) => {
    const options = { host: base.hostname, port: base.port, method, path, agent, timeout: 30_000 };
    const sent = request({ ...options, headers: { ...headers, 'content-length': body.length } }, (answer) => {
      answer.resume();
      answer.on('end', () => resolve(answer.statusCode ?? 0)).on('error', () => resolve(answer.statusCode ?? 0));
    });
    sent.on('timeout', () => sent.destroy());
    sent.on('error', () => resolve(0));
    sent.end(body);
  });
}

async function runRound(kind: HostileRequest): Promise<Round> {
  const answers: Record<string, number> = {};
  const bystanderMs: number[] = [];
  const until = performance.now() + seconds * 1_000;
  const attack = async (): Promise<void> => {
    const agent = new Agent({ keepAlive: true, maxSockets: 1 });
    while (performance.now() < until) {
      const status = await send(kind, agent);
      answers[status] = (answers[status] ?? 0) + 1;
    }
    agent.destroy();
  };
  const stand = async (): Promise<void> => {
    const agent = new Agent({ keepAlive: true, maxSockets: 1 });
    const asked = { method: 'GET', path: '/api/nowhere', headers: {}, body: Buffer.alloc(0) };
    while (performance.now() < until) {
      const began = performance.now();
      await send(asked, agent);
      bystanderMs.push(performance.now() - began);
      await delay(BYSTANDER_EVERY_MS);
    }
    agent.destroy();
  };
  await Promise.all([stand(), ...Array.from({ length: CONNECTIONS }, attack)]);
  return { kind: kind.kind, requestBytes: kind.body.length, answers, bystanderMs };
}

const requests = hostileRequests(target).filter(({ kind }) => kind.includes(only));
for (const kind of requests) {
  parentPort?.postMessage({ begins: kind.kind }, []);
  parentPort?.postMessage({ round: await runRound(kind) }, []);
}
parentPort?.postMessage({ isDone: true }, []);
