import { once } from 'node:events';
import { createServer, type IncomingHttpHeaders } from 'node:http';
import type { AddressInfo } from 'node:net';

/** A request that went through. */
export interface Relayed {
  readonly headers: IncomingHttpHeaders;
  readonly body: Buffer;
}

/** A gateway before the API that loses answers: of what has arrived, the sender hears that it failed. */
export interface Relay {
  readonly url: string;
  readonly requests: readonly Relayed[];
  readonly lostAnswers: number;
  close(): Promise<void>;
}

/** Loses one answer in `loseEvery`. */
export async function startRelay(target: URL, loseEvery: number): Promise<Relay> {
  const requests: Relayed[] = [];
  let lostAnswers = 0;
  const server = createServer((request, response) => {
    void (async () => {
      const chunks: Buffer[] = [];
      for await (const chunk of request) chunks.push(chunk as Buffer);
      const body = Buffer.concat(chunks);
      const { host: _host, connection: _connection, 'content-length': _length, ...headers } = request.headers;
      const answer = await send(new URL(request.url ?? '/', target), { headers, body });
      const isTaken = answer >= 200 && answer < 300;
      if (isTaken) requests.push({ headers, body });
      const isLost = isTaken && requests.length % loseEvery === 0;
      if (isLost) lostAnswers += 1;
      response.writeHead(isLost ? 502 : answer).end();
    })();
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    requests,
    get lostAnswers() {
      return lostAnswers;
    },
    async close() {
      const closed = once(server, 'close');
      server.close();
      server.closeAllConnections();
      await closed;
    },
  };
}

/** The status of the answer; 503 where there is none. */
export async function send(url: URL, { headers, body }: Relayed): Promise<number> {
  try {
    const answer = await fetch(url, { method: 'POST', headers: headers as Record<string, string>, body });
    await answer.arrayBuffer();
    return answer.status;
  } catch {
    return 503;
  }
}
