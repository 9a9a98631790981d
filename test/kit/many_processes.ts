import type { FastifyInstance } from 'fastify';
import { onTestFinished, vi } from 'vitest';

import { buildApp } from '#entry/http/app.ts';
import { compose } from '#entry/compose.ts';
import { WorkerStore } from '#storage/postgres/worker_store.ts';
import { nextTurn } from '#kernel/cooperative_task.ts';
import { silentLog } from '#kernel/log.ts';
import { happenings } from '#test/kit/when.ts';
import type { World } from '#test/kit/world.ts';

/**
 * The world as each of several API processes has it: an application of its own, with connections of its own to the same
 * stores. The first is the world's. Resolves once all of them know of each other.
 */
export async function manyProcesses(w: World, count: number): Promise<World[]> {
  const others = await Promise.all(Array.from({ length: count - 1 }, () => anotherProcess(w)));
  const processes = [w, ...others.map((app) => ({ ...w, app, ...callsOf(w, app) }))];
  await whenCounted(count);
  return processes;
}

/** Resolves once so many API processes know that they are as many; each asks every second. */
export async function whenCounted(count: number): Promise<void> {
  const answers = happenings<readonly [member: string, others: number]>();
  const { renew } = WorkerStore.prototype;
  const watched = vi.spyOn(WorkerStore.prototype, 'renew').mockImplementation(async function (
    this: WorkerStore,
    ...given
  ) {
    const others = await renew.apply(this, given);
    answers.happen([given[1], others.length]);
    return others;
  });
  await answers.hold((all) => [...new Map(all).values()].filter((others) => others === count - 1).length >= count);
  watched.mockRestore();
  await nextTurn();
}

async function anotherProcess({ context, clock }: World): Promise<FastifyInstance> {
  const composed = await compose(context.config, { log: silentLog, clock });
  const app = await buildApp(composed);
  onTestFinished(async () => {
    await app.close();
    await composed.close();
  });
  await app.ready();
  return app;
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
