import { once } from 'node:events';
import { type AddressInfo, connect, createServer, type NetConnectOpts, type Socket } from 'node:net';

import { onTestFinished } from 'vitest';
import { happenings } from '#test/kit/when.ts';

export interface CutWay {
  readonly port: number;
  /** Number of connections that were opened, including those that were cut. */
  connections(): number;
  /** Resolves once so many were opened. */
  reach(connections: number): Promise<void>;
  /** Nothing passes any more over what is open, and neither side hears of it. */
  cut(): void;
}

/** A way to a store, of which connections can be cut as by a network that loses packets; it is open until the test ends. */
export async function cutWay(onward: NetConnectOpts): Promise<CutWay> {
  const { all: open, happen, reach } = happenings<{ readonly inner: Socket; readonly outer: Socket }>();
  const server = createServer((inner) => {
    const outer = connect(onward);
    inner.pipe(outer).pipe(inner);
    for (const socket of [inner, outer]) socket.on('error', () => {});
    happen({ inner, outer });
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  onTestFinished(() => {
    for (const { inner, outer } of open) for (const socket of [inner, outer]) socket.destroy();
    server.close();
  });
  const cut = (): void => {
    for (const { inner, outer } of open) {
      inner.unpipe();
      outer.unpipe();
    }
  };
  return { port: (server.address() as AddressInfo).port, cut, connections: () => open.length, reach };
}
