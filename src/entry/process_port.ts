import { once } from 'node:events';
import { createServer } from 'node:http';

import type { Log } from '#kernel/log.ts';

/** Whether a process can do its work now, and if not, why. */
export interface Readiness {
  readonly ready: boolean;
  /** What does not work; absent when everything does. */
  readonly because?: readonly string[];
}

/** What a process says about itself. */
export interface ProcessAnswers {
  readiness(): Promise<Readiness>;
  metrics(): Promise<MetricsText>;
}

/** As Prometheus reads it. */
export interface MetricsText {
  readonly contentType: string;
  readonly text: string;
}

interface Address {
  readonly host: string;
  readonly port: number;
}

/**
 * A listener of its own for orchestrators and scrapers, which no proxy makes public: `/livez` (the process answers,
 * whatever the stores do), `/readyz` (200 or 503) and `/metrics`.
 */
export async function openProcessPort(
  { host, port }: Address,
  answers: ProcessAnswers,
  log: Log,
): Promise<{ readonly port: number; close(): Promise<void> }> {
  const server = createServer((request, response) => {
    const json = (status: number, body: object) =>
      response.writeHead(status, { 'content-type': 'application/json' }).end(JSON.stringify(body));
    const answer = async (path: string | undefined): Promise<void> => {
      if (path === '/livez') json(200, { live: true });
      else if (path === '/readyz') {
        const readiness = await answers.readiness();
        json(readiness.ready ? 200 : 503, readiness);
      } else if (path === '/metrics') {
        const { contentType, text } = await answers.metrics();
        response.writeHead(200, { 'content-type': contentType }).end(text);
      } else json(404, { error: 'there are /livez, /readyz and /metrics' });
    };
    answer(request.url?.split('?')[0]).catch((error: unknown) => {
      log.error({ err: error }, 'failed to answer a probe');
      response.writeHead(503).end();
    });
  });
  server.requestTimeout = 10_000;
  server.maxConnections = 100;
  server.listen(port, host);
  await once(server, 'listening');
  const address = server.address();
  const listening = typeof address === 'object' && address !== null ? address.port : port;
  log.info({ host, port: listening }, 'listening for probes and metrics');
  return {
    port: listening,
    async close() {
      server.closeAllConnections();
      server.close();
      await once(server, 'close');
    },
  };
}
