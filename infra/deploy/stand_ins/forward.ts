import http from 'node:http';

interface Forwarding {
  /** The port that other containers ask. */
  readonly from: number;
  /** The port of this container's own loopback interface. */
  readonly to: number;
}

/** The stand-ins answer their own machine only. This lets the containers of the same network in, by any name. */
export async function forwardRequests({ from, to }: Forwarding): Promise<void> {
  const server = http.createServer((request, response) => {
    const { method, url: path } = request;
    const { host = '', ...headers } = request.headers;
    const isLocal = /^(?:127\.0\.0\.1|localhost)(?::|$)/.test(host);
    const target = { host: '127.0.0.1', port: to, method, path };
    const forwarded = http.request(
      { ...target, headers: { ...headers, host: isLocal ? host : `127.0.0.1:${to}` } },
      (answer) => {
        response.writeHead(answer.statusCode ?? 502, answer.headers);
        answer.pipe(response);
      },
    );
    forwarded.once('error', () => response.destroy());
    response.once('close', () => forwarded.destroy());
    request.pipe(forwarded);
  });
  server.requestTimeout = 0;
  await new Promise<void>((resolve) => void server.listen(from, '0.0.0.0', resolve));
}
