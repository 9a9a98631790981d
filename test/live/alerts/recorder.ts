import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import { createServer, type RequestListener, type Server } from 'node:http';
import { createServer as createSecureServer } from 'node:https';
import type { AddressInfo } from 'node:net';

/** A request of a tool, and what the product answered; null while its process was dead. */
export interface Request {
  readonly method: string;
  readonly path: string;
  readonly status: number | null;
}

/** A gateway before the API that records, and breaks the connection where nobody listens behind it. */
export interface Recorder {
  readonly url: string;
  readonly secureUrl: string;
  readonly requests: readonly Request[];
  close(): Promise<void>;
}

export async function startRecorder(
  target: URL,
  { certFile, keyFile }: { readonly certFile: string; readonly keyFile: string },
): Promise<Recorder> {
  const requests: Request[] = [];
  const pass: RequestListener = (request, response) => {
    void (async () => {
      const { method = 'GET', url: path = '/' } = request;
      const chunks: Buffer[] = [];
      for await (const chunk of request) chunks.push(chunk as Buffer);
      const {
        host: _host,
        connection: _connection,
        'content-length': _length,
        expect: _expect,
        ...headers
      } = request.headers;
      const body = method === 'GET' ? null : Buffer.concat(chunks);
      const sent = { method, headers: headers as Record<string, string>, body, redirect: 'manual' as const };
      const answer = await fetch(new URL(path, target), sent).catch(() => null);
      requests.push({ method, path, status: answer?.status ?? null });
      if (answer === null) return void request.socket.destroy();
      const text = await answer.text();
      response.writeHead(answer.status, { 'content-type': answer.headers.get('content-type') ?? 'text/plain' });
      response.end(text);
    })();
  };
  const servers = [
    createServer(pass),
    createSecureServer({ cert: readFileSync(certFile), key: readFileSync(keyFile) }, pass),
  ] as const;
  const [port, securePort] = await Promise.all(servers.map(listen));
  return {
    url: `http://127.0.0.1:${port}`,
    secureUrl: `https://127.0.0.1:${securePort}`,
    requests,
    async close() {
      await Promise.all(
        servers.map(async (server) => {
          const closed = once(server, 'close');
          server.close();
          server.closeAllConnections();
          await closed;
        }),
      );
    },
  };
}

async function listen(server: Server): Promise<number> {
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  return (server.address() as AddressInfo).port;
}
