import { type Agent, request } from 'node:http';

interface Sent {
  readonly method: string;
  readonly path: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: Buffer;
}

/** The status of the answer; 0 where the connection broke. */
export function send(base: URL, { method, path, headers, body }: Sent, agent: Agent): Promise<number> {
  return new Promise((resolve) => {
    const options = { host: base.hostname, port: base.port, method, path, agent, timeout: 30_000 };
    const sent = request({ ...options, headers: { ...headers, 'content-length': body.length } }, (answer) => {
      answer.resume();
      answer.on('end', () => resolve(answer.statusCode ?? 0)).on('error', () => resolve(answer.statusCode ?? 0));
    });
    sent.on('timeout', () => sent.destroy());
    sent.on('error', () => resolve(0));
    sent.end(body);
  });
}
