import { Agent, request } from 'node:http';
import { setTimeout as delay } from 'node:timers/promises';
import { parentPort, workerData } from 'node:worker_threads';

import { hostileRequests, type HostileRequest, type HostileTarget } from './bodies.ts';
import { hostileConnections } from './http_connections.ts';
import { type HostilePort, hostilePorts } from './ports.ts';
import { sideRequests } from './side_bodies.ts';

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

/** Attacks until the round is over, beside somebody who asks for little. */
async function runRound(
  kind: string,
  requestBytes: number,
  attack: (until: number, count: (answer: string) => void) => Promise<void>,
): Promise<Round> {
  const answers: Record<string, number> = {};
  const bystanderMs: number[] = [];
  const until = performance.now() + seconds * 1_000;
  const stand = async (): Promise<void> => {
    const agent = new Agent({ keepAlive: true, maxSockets: 1 });
    const asked = { method: 'GET', path: '/api/unknown', headers: {}, body: Buffer.alloc(0) };
    while (performance.now() < until) {
      const began = performance.now();
      await send(asked, agent);
      bystanderMs.push(performance.now() - began);
      await delay(BYSTANDER_EVERY_MS);
    }
    agent.destroy();
  };
  const count = (answer: string): void => {
    answers[answer] = (answers[answer] ?? 0) + 1;
  };
  await Promise.all([stand(), attack(until, count)]);
  return { kind, requestBytes, answers, bystanderMs };
}

function overHttp(kind: HostileRequest): Promise<Round> {
  return runRound(kind.kind, kind.body.length, async (until, count) => {
    const connection = async (): Promise<void> => {
      const agent = new Agent({ keepAlive: true, maxSockets: 1 });
      while (performance.now() < until) count(String(await send(kind, agent)));
      agent.destroy();
    };
    await Promise.all(Array.from({ length: CONNECTIONS }, connection));
  });
}

function toPort({ kind, bytes, send: sendOnce, atOnce }: HostilePort): Promise<Round> {
  return runRound(kind, bytes, async (until, count) => {
    const sender = async (): Promise<void> => {
      while (performance.now() < until) count(await sendOnce());
    };
    await Promise.all(Array.from({ length: atOnce }, sender));
  });
}

const rounds = [
  ...[...hostileRequests(target), ...sideRequests(target)].map((kind) => ({
    kind: kind.kind,
    run: () => overHttp(kind),
  })),
  ...[...hostileConnections(target), ...hostilePorts(target)].map((kind) => ({
    kind: kind.kind,
    run: () => toPort(kind),
  })),
];
for (const { kind, run } of rounds.filter((round) => round.kind.includes(only))) {
  parentPort?.postMessage({ begins: kind }, []);
  parentPort?.postMessage({ round: await run() }, []);
}
parentPort?.postMessage({ isDone: true }, []);
