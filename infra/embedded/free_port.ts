import { randomInt } from 'node:crypto';
import { createServer } from 'node:net';

/** Below the ports that systems give to outgoing connections: one of those could be taken before its server listens. */
const LOWEST = 20_000;
const HIGHEST = 32_767;
const TRIES = 20;

/** The preferred port if it is free on this machine, else any free one. */
export async function findFreePort(preferred: number): Promise<number> {
  const wanted = preferred === 0 ? [] : [preferred];
  const others = Array.from({ length: TRIES }, () => randomInt(LOWEST, HIGHEST + 1));
  for (const port of [...wanted, ...others]) {
    if (await isFree(port)) return port;
  }
  return preferred;
}

function isFree(port: number): Promise<boolean> {
  return new Promise((resolve) => {
    const server = createServer();
    server.once('error', () => resolve(false));
    server.listen(port, '127.0.0.1', () => server.close(() => resolve(true)));
  });
}
