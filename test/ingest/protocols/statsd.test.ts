import { createSocket } from 'node:dgram';

import { expect, onTestFinished, test } from 'vitest';

import { finish } from '#ingest/protocols/body/steps.ts';
import { STATSD } from '#ingest/protocols/statsd.ts';
import { AppError } from '#kernel/errors.ts';
import { silentLog } from '#kernel/log.ts';
import { findFreePort } from '#infra/embedded/free_port.ts';
import { arrivedPoints } from '#test/ingest/arrived.ts';
import { LIMITS, NOW, shortOf } from '#test/ingest/metric_bytes.ts';
import { world } from '#test/kit/world.ts';

/** A port whose senders are these keys; what each of them stored, in short. */
async function given({ own, keys = [] }: { own?: string; keys?: readonly string[] }) {
  const stored: Record<string, string[]> = {};
  const refused: Record<string, number> = {};
  const opened = await STATSD.listen({
    host: '127.0.0.1',
    port: 0,
    settings: { statsdIngestionKey: own } as never,
    log: silentLog,
    now: () => NOW,
    async open(key) {
      if (!keys.includes(key) && key !== own) throw new AppError('unauthenticated', 'unknown');
      return {
        serviceId: key,
        refuse: (points) => (refused[key] = (refused[key] ?? 0) + points),
        async take(decode) {
          const decoded = finish(decode(NOW, LIMITS));
          refused[key] = (refused[key] ?? 0) + decoded.rejected.count;
          (stored[key] ??= []).push(...shortOf(decoded));
          return decoded;
        },
      };
    },
  });
  const socket = createSocket('udp4');
  onTestFinished(() => void socket.close());
  return {
    stored,
    refused,
    /** Sends these datagrams, and closes the port once they are there: what came is stored then. */
    async sendAll(...datagrams: string[]) {
      for (const datagram of datagrams) await send(socket, opened.port, datagram);
      await opened.close();
    },
  };
}

async function send(socket: ReturnType<typeof createSocket>, port: number, text: string): Promise<void> {
  await new Promise<void>((resolve, reject) =>
    socket.send(text, port, '127.0.0.1', (error) => (error === null ? resolve() : reject(error))),
  );
}

test('counters add up with their rates, gauges keep the last value, sets count members', async () => {
  const port = await given({ own: 'own' });
  await port.sendAll(
    'orders:1|c\norders:2|c|@0.5\norders:1:2|c|#country:NL,shop:a',
    'depth:5|g\ndepth:+3|g\ndepth:-1|g\nvisitors:a|s\nvisitors:b|s\nvisitors:a|s\n_e{1,1}:a|b\n',
  );
  expect(port.stored['own']).toEqual([
    'orders 5 delta',
    'orders{country=NL,shop=a} 3 delta',
    'depth 7 gauge',
    'visitors 2 gauge',
  ]);
});

test('timers become exponential histograms, with their count, sum, least and greatest', async () => {
  const port = await given({ own: 'own' });
  await port.sendAll('wait:1|ms\nwait:2|ms|@0.5\nwait:0|ms\nwait:-1|h');
  expect(port.stored['own']).toEqual([
    'wait_count 5 delta',
    'wait_sum 4 delta',
    'wait_min -1 gauge',
    'wait_max 2 gauge',
    'wait_bucket{vmrange=-1...-0.917004} 1 delta',
    'wait_bucket{vmrange=0...0} 1 delta',
    'wait_bucket{vmrange=0.917004...1} 1 delta',
    'wait_bucket{vmrange=1.83401...2} 2 delta',
  ]);
});

test('a line of another service bears its key as a tag, which is not stored; without a good key it is dropped', async () => {
  const port = await given({ keys: ['one', 'two'] });
  await port.sendAll(
    'a:1|c|#ingestion_key:one\nb:1|c|#zone:x,ingestion_key:two',
    'c:1|c',
    'd:1|c|#ingestion_key:three',
  );
  expect(port.stored).toEqual({ one: ['a 1 delta'], two: ['b{zone=x} 1 delta'] });
});

test('lines that cannot be read are counted for the service, and the others taken', async () => {
  const port = await given({ own: 'own' });
  await port.sendAll('good:1|c\nbad\nbad:x|c\nbad:1|q\nbad:1|c|@2\n:1|c\nbad:|g\ntwice:1|c|#a:1,a:2');
  expect(port.stored['own']).toEqual(['good 1 delta']);
  expect(port.refused['own']).toBe(7);
});

test('what comes over UDP is stored, at the latest when the process ends', async () => {
  const statsdPort = await findFreePort(0);
  const w = await world({ settings: { statsdPort, host: '127.0.0.1' } });
  const service = await w.given.service();
  const socket = createSocket('udp4');
  onTestFinished(() => void socket.close());
  await send(socket, statsdPort, `orders:3|c|#country:NL,ingestion_key:${service.ingestionKey}`);
  await w.app.close();
  expect(await arrivedPoints(w)).toMatchObject([
    { serviceId: service.serviceId, name: 'orders', labels: { country: 'NL' }, value: 3, kind: 'delta' },
  ]);
});
