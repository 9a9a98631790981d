import type { FastifyInstance } from 'fastify';
import { expect, onTestFinished } from 'vitest';

import { buildApp } from '#entry/http/app.ts';
import { compose } from '#entry/compose.ts';
import { silentLog } from '#kernel/log.ts';
import type { World } from '#test/kit/world.ts';

/**
 * The world as each of several API processes has it: an application of its own, with connections of its own to the same
 * stores. The first is the world's. Resolves once all of them know of each other.
 */
export async function manyProcesses(w: World, count: number): Promise<World[]> {
  const others = await Promise.all(Array.from({ length: count - 1 }, () => anotherProcess(w)));
  const processes = [w, ...others.map((app) => ({ ...w, app, ...callsOf(w, app) }))];
  await expect
    .poll(() => Promise.all(processes.map(({ app }) => countedBy(w, app))), { timeout: 60_000 })
    .toEqual(processes.map(() => count));
  return processes;
}

async function anotherProcess({ context, clock }: World): Promise<FastifyInstance> {
  const own = await compose(context.config, { log: silentLog, clock });
  const app = await buildApp(own);
  onTestFinished(async () => {
    await app.close();
    await own.close();
  });
  await app.ready();
  return app;
}

async function countedBy({ context }: World, app: FastifyInstance): Promise<number> {
  const headers = { authorization: `Bearer ${context.config.metricsToken}` };
  const { body } = await app.inject({ method: 'GET', url: '/metrics', headers });
  return Number(/^tocsin_api_processes (\d+)$/m.exec(body)?.[1]);
}

function callsOf(w: World, app: FastifyInstance): Pick<World, 'call'> {
  return {
    async call(action, body = {}, { key = w.orgKey } = {}) {
      const response = await app.inject({
        method: 'POST',
        url: `/api/rest/actions/${action}`,
        headers: { 'content-type': 'application/json', ...(key === null ? {} : { authorization: `Bearer ${key}` }) },
        payload: JSON.stringify(body),
      });
      return { status: response.statusCode, body: response.json(), headers: response.headers };
    },
  };
}
