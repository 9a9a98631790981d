import path from 'node:path';

import { startNodeChild } from '#infra/embedded/node_child.ts';

import { rawRequest } from '#infra/bench/exceptions/open_loop.ts';
import { realEvents } from '#infra/bench/exceptions/real_events.ts';
import { duration, ratio } from '#infra/bench/figures.ts';
import { printInputs, printTable } from '#infra/bench/harness.ts';
import { all, EVENTS_PER_SECOND, sendToAll, spentWhile } from './load.ts';

const SECONDS = 15;
const WARM_UP_SECONDS = 5;

/**
 * What more processes cost on this machine whatever they do: the same events, sent to servers that only take them. Each
 * is woken for fewer of them at a time, and finds less in the caches of the processor.
 */
export async function measureBare(counts: readonly number[]): Promise<void> {
  printInputs({
    'bare servers': `${counts.join(', ')} servers of Node that take a body and answer, without any of our code`,
    events: `${EVENTS_PER_SECOND}/s for ${SECONDS} s in all, recorded from real clients`,
  });
  const requestsFor = (seconds: number): Buffer[] =>
    realEvents(EVENTS_PER_SECOND * seconds, 20).map(({ kind, headers, body }) => rawRequest(`/${kind}`, headers, body));
  const [warmUp, requests] = [requestsFor(WARM_UP_SECONDS), requestsFor(SECONDS)];
  const taken: { readonly processes: number; readonly eventMs: number }[] = [];
  for (const processes of counts) {
    const entry = path.join(import.meta.dirname, 'bare_server.ts');
    const servers = await Promise.all(
      Array.from({ length: processes }, () => startNodeChild({ entry, memory: 'ample' })),
    );
    try {
      const urls = servers.map(({ message }) => message.url ?? '');
      for (let turn = 0; turn < processes; turn += 1) await sendToAll(urls, warmUp, 2 * EVENTS_PER_SECOND);
      const spent = await spentWhile(() => sendToAll(urls, requests, EVENTS_PER_SECOND));
      taken.push({ processes, eventMs: all(spent) / requests.length });
    } finally {
      await Promise.all(servers.map((server) => server.stop()));
    }
  }
  const [base] = taken;
  printTable(
    taken.map(({ processes, eventMs }) => ({
      'bare servers': String(processes),
      'processor, an event': duration(eventMs),
      [`of ${base?.processes}`]: ratio(eventMs, base?.eventMs ?? eventMs),
    })),
  );
}
