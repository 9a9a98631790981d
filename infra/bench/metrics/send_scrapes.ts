import { setTimeout as delay } from 'node:timers/promises';

import { Line, rawRequest } from '#infra/bench/exceptions/open_loop.ts';

import type { ManyScrapes } from './many_scrapes.ts';

const AGAIN_MS = 100;

export const REMOTE_WRITE_HEADERS = {
  'content-type': 'application/x-protobuf',
  'content-encoding': 'snappy',
  'x-prometheus-remote-write-version': '0.1.0',
} as const;

/** Sends all shards at once, each over its own connection, and returns the time until the last answer. */
export async function sendScrapes(
  scrapes: ManyScrapes,
  url: string,
  credentials: Readonly<Record<string, string>> = {},
): Promise<number> {
  const { hostname: host, port, pathname } = new URL(url);
  const headers = { ...REMOTE_WRITE_HEADERS, ...credentials };
  const lines = await Promise.all(
    scrapes.lines.map(async (bodies) => ({
      requests: bodies.map((body) => rawRequest(pathname, headers, body)),
      line: await Line.open({ host, port: Number(port) }),
    })),
  );
  const began = performance.now();
  await Promise.all(lines.map(({ requests, line }) => sendInTurn(requests, line)));
  const tookMs = performance.now() - began;
  for (const { line } of lines) line.close();
  return tookMs;
}

/** A request that is answered with 429 or 503 is sent again, as Prometheus does. */
async function sendInTurn(requests: readonly Buffer[], line: Line): Promise<void> {
  for (const request of requests) {
    for (;;) {
      const status = await new Promise<number>((resolve) => line.send(request, resolve));
      if (status >= 200 && status < 300) break;
      if (status !== 429 && status !== 503) throw new Error(`a request was answered with ${status}`);
      await delay(AGAIN_MS);
    }
  }
}
