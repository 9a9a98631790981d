import { once } from 'node:events';
import { type AddressInfo, createServer } from 'node:net';

import type { FastifyInstance } from 'fastify';
import { onTestFinished } from 'vitest';

import { buildApp } from '#entry/http/app.ts';
import { AppError, isUnavailable } from '#kernel/errors.ts';
import type { DurableQueue } from '#storage/queue/durable_queue.ts';
import { runningClock } from '#test/kit/clock.ts';
import { startJobs } from '#test/kit/roles.ts';
import { type World, world } from '#test/kit/world.ts';

/** A request that reached the API, and how it was answered. */
export interface Arrival {
  readonly method: string;
  /** Path without the query. */
  readonly path: string;
  readonly contentType: string;
  readonly encoding: string;
  readonly status: number;
}

/** A world that programs of the machine can reach, with workers that work, on the machine's clock. */
export interface LiveWorld extends World {
  /** Address on which the API listens; the same after `start`. */
  readonly url: URL;
  /** Every request so far, in the order of their answers. */
  readonly arrivals: readonly Arrival[];
  /** An address of the product as a program of this machine needs it. */
  reachable(address: string): string;
  /** Makes every addition to the queue fail so from now on; null makes it whole again. */
  breakQueue(fault: AppError | null): void;
  /** Nobody listens until `start`. */
  stop(): Promise<void>;
  start(): Promise<void>;
  /** Resolves once all that was accepted is stored. */
  settle(): Promise<void>;
}

/** Opens a world that is closed at the end of the test; with `keepOpen` the file closes it itself. */
export async function liveWorld(options: { keepOpen?: boolean } = {}): Promise<LiveWorld> {
  const w = await world({ clock: runningClock(), jobs: 'real queue', keepOpen: true });
  let fault: AppError | null = null;
  const unlessBroken = <Result>(work: () => Promise<Result>): Promise<Result> =>
    fault === null ? work() : Promise.reject(fault);
  const queue: DurableQueue = {
    ...w.context.queue,
    addDurable: (...job) => unlessBroken(() => w.context.queue.addDurable(...job)),
    // A store that is full still answers; one that did not, after a slow moment, would be asked again for ever.
    pingStore: () => (isUnavailable(fault) ? Promise.reject(fault) : w.context.queue.pingStore()),
  };
  const arrivals: Arrival[] = [];
  const open = async (port: number): Promise<{ app: FastifyInstance; url: URL }> => {
    // Clients go on with addresses that the API answers with.
    const config = { ...w.context.config, baseUrl: `http://127.0.0.1:${port}` };
    const app = await buildApp({ ...w.context, config, queue });
    // Before Fastify's own listener, which takes headers away.
    app.server.prependListener('request', (request, response) => {
      const path = (request.url ?? '').replace(/\?.*$/, '');
      const { 'content-type': contentType = '', 'content-encoding': encoding = '' } = request.headers;
      response.on('finish', () => {
        const { statusCode: status } = response;
        arrivals.push({ method: request.method ?? '', path, contentType, encoding, status });
      });
    });
    return { app, url: new URL(await app.listen({ host: '127.0.0.1', port })) };
  };
  const { url, ...opened } = await open(await freePort());
  let { app } = opened;
  const jobs = startJobs(w.context);
  const close = async (): Promise<void> => {
    await app.close();
    await jobs.close();
    await w.close();
  };
  if (options.keepOpen !== true) onTestFinished(close);
  return {
    ...w,
    url,
    arrivals,
    reachable: (text) => text.replace('tocsin.test', url.host),
    breakQueue(next) {
      fault = next;
    },
    stop: () => app.close(),
    async start() {
      ({ app } = await open(Number(url.port)));
    },
    async settle() {
      const isLeft = async (): Promise<boolean> =>
        (await w.context.db.sql.row('select 1 as is_left from durable_jobs limit 1')) !== null;
      while (await isLeft()) await new Promise((resolve) => setImmediate(resolve));
    },
    close,
  };
}

/** Returns a port of this machine on which nobody listens. */
async function freePort(): Promise<number> {
  const server = createServer().listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address() as AddressInfo;
  server.close();
  await once(server, 'close');
  return port;
}

/** Returns the API's error for a sender of more than it takes. */
export function overQuota(retryAfterSeconds: number): AppError {
  return new AppError('rate_limited', 'more arrives than may be sent', { retryAfterSeconds });
}
