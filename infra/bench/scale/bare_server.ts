/** Takes bodies and answers: as little as a server of Node can do. */
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';

const server = createServer((request, response) => {
  request.resume().once('end', () => {
    response.setHeader('content-type', 'application/json');
    response.end('{"id":"0123456789abcdef0123456789abcdef"}');
  });
});
server.listen(0, '127.0.0.1', () => {
  process.send?.({ ready: true, url: `http://127.0.0.1:${(server.address() as AddressInfo).port}` });
});
for (const signal of ['SIGTERM', 'disconnect'] as const) process.once(signal, () => process.exit(0));
