import { once } from 'node:events';
import { Agent } from 'node:http';
import { setTimeout as delay } from 'node:timers/promises';
import { parentPort, workerData } from 'node:worker_threads';

import { type HostilePort, hostileRequests, type HostileRequest, type HostileTarget } from './bodies.ts';
import { send } from './send.ts';
import { hostileConnections } from './http_connections.ts';
import { hostilePorts } from './ports.ts';
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
  /** Share of the attacks, as `2/3`: the second of three equal parts. */
  readonly part: string;
}

const CONNECTIONS = 2;
const BYSTANDER_EVERY_MS = 10;

const { target, seconds, only, part } = workerData as Orders;
const base = new URL(target.baseUrl);

/** Attacks until the round is over, beside somebody who asks for little. */
async function runRound(
  kind: string,
  requestBytes: number,
  forSeconds: number,
  attack: (until: number, count: (answer: string) => void) => Promise<void>,
): Promise<Round> {
  const answers: Record<string, number> = {};
  const bystanderMs: number[] = [];
  const until = performance.now() + forSeconds * 1_000;
  const stand = async (): Promise<void> => {
    const agent = new Agent({ keepAlive: true, maxSockets: 1 });
    const asked = { method: 'GET', path: '/api/unknown', headers: {}, body: Buffer.alloc(0) };
    while (performance.now() < until) {
      const began = performance.now();
      await send(base, asked, agent);
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

function overHttp(kind: HostileRequest, forSeconds: number): Promise<Round> {
  return runRound(kind.kind, kind.body.length, forSeconds, async (until, count) => {
    const connection = async (): Promise<void> => {
      const agent = new Agent({ keepAlive: true, maxSockets: 1 });
      do count(String(await send(base, kind, agent)));
      while (performance.now() < until);
      agent.destroy();
    };
    await Promise.all(Array.from({ length: CONNECTIONS }, connection));
  });
}

function toPort({ kind, bytes, send: sendOnce, atOnce }: HostilePort, forSeconds: number): Promise<Round> {
  return runRound(kind, bytes, forSeconds, async (until, count) => {
    const sender = async (): Promise<void> => {
      do count(await sendOnce());
      while (performance.now() < until);
    };
    await Promise.all(Array.from({ length: atOnce }, sender));
  });
}

const rounds = [
  ...[...hostileRequests(target), ...sideRequests(target)].map((kind) => ({
    kind: kind.kind,
    once: () => overHttp(kind, 0),
    run: () => overHttp(kind, seconds),
  })),
  ...[...hostileConnections(target), ...hostilePorts(target)].map((kind) => ({
    kind: kind.kind,
    once: () => toPort(kind, 0),
    run: () => toPort(kind, seconds),
  })),
];
const chosen = rounds.filter(({ kind }) => kind.includes(only));
const [nth = 1, parts = 1] = part.split('/').map(Number);
const placeOf = (index: number): number => Math.floor((chosen.length * index) / parts);
const ordered = chosen.slice(placeOf(nth - 1), placeOf(nth));
// A process loads some modules when they are needed first, which it does once.
for (const { once: sendOnce } of ordered) await sendOnce();
for (const { kind, run } of ordered) {
  await tell({ begins: kind });
  await tell({ round: await run() });
}
parentPort?.postMessage({ isDone: true }, []);

/** Goes on once the measuring of the API has taken notice. */
async function tell(message: object): Promise<void> {
  parentPort?.postMessage(message, []);
  if (parentPort !== null) await once(parentPort, 'message');
}
