import { once } from 'node:events';
import { createServer } from 'node:http';

import type { Log } from '#kernel/log.ts';

/** Whether a process can do its work now, and if not, why. */
export interface Readiness {
  readonly ready: boolean;
  /** Reasons for not being ready; absent if the process is ready. */
  readonly because?: readonly string[];
}

/** State that a process reports about itself. */
export interface ProcessAnswers {
  readiness(): Promise<Readiness>;
  metrics(): Promise<MetricsText>;
}

/** Metrics as Prometheus reads them. */
export interface MetricsText {
  readonly contentType: string;
  readonly text: string;
}

interface Address {
  readonly host: string;
  readonly port: number;
}

/**
 * Opens a separate listener for orchestrators and scrapers, which no proxy makes public: `/livez` (the process answers,
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
