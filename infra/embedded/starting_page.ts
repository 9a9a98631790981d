import { createHash } from 'node:crypto';
import { once } from 'node:events';
import { createServer } from 'node:http';

/** Asks once a second, and shows the console when it answers; a request that finds nobody is asked again. */
const SCRIPT = `setInterval(async () => {
  try {
    const answer = await fetch(location.href, { cache: 'no-store' });
    if (!answer.headers.has('tocsin-starting')) location.reload();
  } catch {}
}, 1000);`;

const STYLE =
  'body { margin: 20vh auto; max-width: 26rem; padding: 0 1rem; font: 1rem/1.5 system-ui, sans-serif; color-scheme: light dark }';

const hashOf = (text: string): string => `'sha256-${createHash('sha256').update(text).digest('base64')}'`;

const POLICY = `default-src 'none'; connect-src 'self'; script-src ${hashOf(SCRIPT)}; style-src ${hashOf(STYLE)}`;

const PAGE = `<!doctype html><html lang="en"><head><meta charset="utf-8"><meta name="viewport" content="width=device-width">
<title>Tocsin is starting</title><style>${STYLE}</style></head><body><h1>Tocsin is starting</h1>
<p>The stores are being opened, which takes some seconds. This page shows the console by itself once it is there; the terminal
says how far it is.</p><script>${SCRIPT}</script></body></html>`;

const PROBLEM = JSON.stringify({
  type: 'about:blank',
  title: 'Service Unavailable',
  status: 503,
  detail: 'Tocsin is starting; send the request again in a few seconds',
});

/** Answers on the port of the API until that can. */
export interface StartingPage {
  /** Null when the port could not be opened: the API says why. */
  readonly url: string | null;
  /** Frees the port. Idempotent. */
  close(): Promise<void>;
}

/** Opens the page that says that the server is starting: to a browser that comes early it is no error. */
export async function openStartingPage({
  host,
  port,
}: {
  readonly host: string;
  readonly port: number;
}): Promise<StartingPage> {
  const server = createServer({ keepAlive: false }, (request, response) => {
    const isPage = request.method === 'GET' && /\btext\/html\b/.test(request.headers.accept ?? '');
    request.resume();
    response.writeHead(503, {
      'content-type': isPage ? 'text/html; charset=utf-8' : 'application/problem+json; charset=utf-8',
      'content-security-policy': POLICY,
      'cache-control': 'no-store',
      'retry-after': '2',
      'tocsin-starting': '1',
      connection: 'close',
    });
    response.end(isPage ? PAGE : PROBLEM);
  });
  server.listen({ host, port, exclusive: true });
  try {
    await once(server, 'listening');
  } catch {
    return { url: null, close: async () => {} };
  }
  const address = server.address();
  const open = typeof address === 'object' && address !== null ? address.port : port;
  return {
    url: `http://${host.includes(':') ? `[${host}]` : host}:${open}`,
    async close() {
      if (!server.listening) return;
      const closed = once(server, 'close');
      server.close();
      server.closeAllConnections();
      await closed;
    },
  };
}
