import { createSocket } from 'node:dgram';

import { expect, onTestFinished, test, vi } from 'vitest';

import { finish } from '#kernel/cooperative_task.ts';
import { DatagramReader, keyOf, type Line, readLine } from '#ingest/protocols/statsd/datagram_reader.ts';
import { LineAggregator, AggregationBudget } from '#ingest/protocols/statsd/line_aggregator.ts';
import { STATSD } from '#ingest/protocols/statsd.ts';
import { AppError } from '#kernel/errors.ts';
import { silentLog } from '#kernel/log.ts';
import { findFreePort } from '#infra/embedded/free_port.ts';
import { acceptedPoints } from '#test/ingest/accepted_data.ts';
import { freshLimits, NOW, shortOf } from '#test/ingest/metric_bytes.ts';
import { world } from '#test/kit/world.ts';
import { happenings } from '#test/kit/when.ts';

/** A port whose senders are these keys; what each of them stored, in short. */
async function given({
  own,
  keys = [],
  away = 0,
  known = {},
}: {
  own?: string;
  keys?: readonly string[];
  away?: number;
  /** Stored values of gauges; null while the store is away. */
  known?: Readonly<Record<string, number>> | null;
}) {
  const stored: Record<string, string[]> = {};
  const refused: Record<string, number> = {};
  const reasons: Record<string, number> = {};
  const asked = happenings<string>();
  const opened = await STATSD.listen({
    host: '127.0.0.1',
    port: 0,
    settings: { statsdIngestionKey: own } as never,
    connections: { admit: () => true, setKnown: () => {}, refusePieces: () => {} },
    pieceBytesMin: 16,
    log: silentLog,
    now: () => NOW,
    async open(key) {
      asked.happen(key);
      if (asked.all.length <= away) throw new AppError('unavailable', 'away');
      if (!keys.includes(key) && key !== own) throw new AppError('unauthenticated', 'unknown');
      return {
        serviceId: key,
        async newestValues(series) {
          if (known === null) throw new AppError('unavailable', 'away');
          return series.map(({ name }) => known[name] ?? null);
        },
        refuseCall() {},
        refuse(points, reason = 'faulty') {
          refused[key] = (refused[key] ?? 0) + points;
          reasons[reason] = (reasons[reason] ?? 0) + points;
        },
        async take(decode) {
          const decoded = finish(decode(NOW, freshLimits()));
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
    /** Points that were refused, by reason. */
    reasons,
    /** Keys that somebody wanted to know of. */
    asked,
    send: (datagram: string) => send(socket, opened.port, datagram),
    /** Sends these datagrams, and closes the port once they are there: what came is stored then. */
    async sendAll(...datagrams: string[]) {
      for (const datagram of datagrams) await send(socket, opened.port, datagram);
      await opened.close();
    },
  };
}

function lineOf(text: string): Line {
  const line = readLine(text);
  if (typeof line === 'string') throw new Error(`${text} is ${line}`);
  return line;
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
    'visitors 2 gauge',
    'depth 7 gauge',
  ]);
});

test('a gauge that is changed after a restart goes on from what is stored, and one that is set does not', async () => {
  const port = await given({ own: 'own', known: { depth: 5, level: 9 } });
  await port.sendAll('depth:+2|g\nlevel:4|g\nlevel:-1|g\nnew:+3|g');
  expect(port.stored['own']).toEqual(['depth 7 gauge', 'level 3 gauge', 'new 3 gauge']);
});

test('a change of a gauge waits while nobody can say what it was', async () => {
  const port = await given({ own: 'own', known: null });
  await port.sendAll('depth:+2|g\nlevel:4|g');
  expect(port.stored['own']).toEqual(['level 4 gauge']);
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
  await port.sendAll(
    'good:1|c\nbad\nbad:x|c\nbad:1|q\nbad:1|c|@2\n:1|c\nbad:|g\nbad: |g\nbad:0x10|c\ntwice:1|c|#a:1,a:2',
  );
  expect(port.stored['own']).toEqual(['good 1 delta', 'twice{a=1,2} 1 delta']);
  expect(port.refused['own']).toBe(8);
});

test('each reason for which lines are refused is counted by its name', async () => {
  const port = await given({ own: 'own' });
  const lines = ['a:nan|g', 'a:-Inf|g', 'a:1e400|c', 'a:inf|ms', 'a:nan|s', 'a:nano|g', '_e{1,1}:a|b', '_sc|a|0'];
  await port.sendAll(lines.join('\n'));
  expect(port.stored['own']).toEqual(['a 1 gauge']);
  expect(port.reasons).toEqual({ not_finite: 4, faulty: 1, no_metric: 2 });
});

test('bad keys, however many, keep no new sender out', async () => {
  const port = await given({ keys: ['late'] });
  for (let round = 0; round < 3; round += 1) {
    const lines = Array.from({ length: 120 }, (_, i) => `a:1|c|#ingestion_key:bad${round}_${i}`);
    await port.send(lines.join('\n'));
    // How many of them are looked up at a time is up to the turns of the event loop.
    await port.asked.reach((round + 1) * 100);
  }
  await port.sendAll('b:1|c|#ingestion_key:late');
  expect(port.stored).toEqual({ late: ['b 1 delta'] });
});

test('what came while nobody could say whether its key is good is kept', async () => {
  const port = await given({ keys: ['one'], away: 1 });
  await port.sendAll('a:1|c|#ingestion_key:one', 'a:2|c|#ingestion_key:one');
  expect(port.stored).toEqual({ one: ['a 3 delta'] });
});

test('what is gathered takes bounded memory, whatever it is made of', () => {
  const gather = (line: (index: number) => string): number => {
    const lines = new LineAggregator(new AggregationBudget({ seriesMax: 500, bytesMax: 100_000 }));
    for (let taken = 0; taken < 10_000; taken += 1) if (!lines.add(lineOf(line(taken)))) return taken;
    return Infinity;
  };
  const long = 'x'.repeat(5_000);
  expect(gather((index) => `a${index}:1|c`)).toBeLessThan(500);
  expect(gather((index) => `${long}${index}:1|c`)).toBeLessThan(20);
  expect(gather((index) => `a:1|c|#${long}:${index}`)).toBeLessThan(20);
  expect(gather((index) => `a:${long}${index}|s`)).toBeLessThan(20);
  expect(gather((index) => `a:1e${(index % 600) - 300}|ms`)).toBe(Infinity);
  expect(gather((index) => `a${index % 90}:1e${(index % 599) - 300}|ms`)).toBeLessThan(2_000);
  expect(gather(() => 'a:1|c')).toBe(Infinity);
});

test('what was flushed leaves room for what comes next', () => {
  const lines = new LineAggregator(new AggregationBudget({ seriesMax: 3, bytesMax: 10_000 }));
  for (let round = 0; round < 100; round += 1) {
    for (const text of ['a:1|c', `b:${'x'.repeat(1_000)}|s`, 'g:1|g']) expect(lines.add(lineOf(text))).toBe(true);
    expect(lines.add(lineOf('c:1|c'))).toBe(false);
    expect(finish(lines.flush(0))).toHaveLength(3);
  }
});

test('a gauge that nobody changes is remembered for a while, and not for ever', () => {
  const lines = new LineAggregator(new AggregationBudget({ seriesMax: 3, bytesMax: 10_000 }));
  expect(lines.add(lineOf('g:5|g'))).toBe(true);
  expect(finish(lines.flush(0))).toHaveLength(1);
  for (let flushes = 1; flushes <= 8_639; flushes += 1) expect(finish(lines.flush(0))).toEqual([]);
  expect(lines.size).toBe(1);
  finish(lines.flush(0));
  expect(lines.size).toBe(0);
});

test('gauges that were idle for long make room for others', () => {
  const lines = new LineAggregator(new AggregationBudget({ seriesMax: 1, bytesMax: 10_000 }));
  expect(lines.add(lineOf('old:5|g'))).toBe(true);
  for (let flushes = 0; flushes <= 60; flushes += 1) {
    expect(lines.add(lineOf('new:1|g'))).toBe(false);
    finish(lines.flush(0));
  }
  expect(lines.add(lineOf('new:1|g'))).toBe(true);
});

test('a gauge with a sign is changed, or set where DogStatsD is meant', () => {
  const last = (signed: 'change' | 'set') => {
    const lines = new LineAggregator(new AggregationBudget({ seriesMax: 3, bytesMax: 10_000 }), signed);
    for (const text of ['x:-5|g', 'x:-5|g', 'x:-5|g']) lines.add(lineOf(text));
    for (const { key } of lines.relativeGauges(9)) lines.setBase(key, 0);
    return finish(lines.flush(0)).map(({ value }) => value);
  };
  expect(last('change')).toEqual([-15]);
  expect(last('set')).toEqual([-5]);
});

test('a time that a line bears is the time of its value (DogStatsD protocol 1.3)', () => {
  const lines = new LineAggregator(new AggregationBudget({ seriesMax: 9, bytesMax: 10_000 }));
  const flushed = (...texts: string[]) => {
    for (const text of texts) expect(lines.add(lineOf(text))).toBe(true);
    return finish(lines.flush(9_000_000));
  };
  const first = flushed('views:15|c|#a:b|T1000', 'views:2|c|#a:b|T1000', 'views:1|c', 'temp:21|g|T1000', 'wait:3|ms');
  const second = flushed('views:3|c|#a:b|T1000');
  const counts = [...first, ...second].filter(({ name, tags }) => name === 'views' && tags.length > 0);
  expect(counts.map(({ value, at }) => [value, Math.floor(at / 1000)])).toEqual([
    [17, 1000],
    [3, 1000],
  ]);
  // Deltas of one time would replace each other.
  expect(counts[0]?.at).not.toBe(counts[1]?.at);
  expect(first.find(({ name }) => name === 'temp')).toMatchObject({ value: 21, at: 1_000_000 });
  expect(first.find(({ name, tags }) => name === 'views' && tags.length === 0)?.at).toBe(9_000_000);
  expect(readLine('views:1|c|Tsoon')).toBe('faulty');
});

test.each(['views,zone=a,env=x:1|c', 'views;zone=a;env=x:1|c', 'views#zone=a,env=x:1|c', 'views[zone=a,env=x]:1|c'])(
  'the tags in the name of %s are labels',
  (text) => {
    const tags = [
      ['env', 'x'],
      ['zone', 'a'],
    ];
    expect(readLine(text)).toMatchObject({ name: 'views', tags });
    const withKey = text.replace('env=x', 'ingestion_key=k');
    expect(lineOf(withKey).tags).toEqual([['zone', 'a']]);
    expect(keyOf(withKey), text).toBe('k');
    expect(readLine(text.replace('zone=a', 'zone'))).toMatchObject({ tags: [] });
  },
);

test('a tag that comes several times is one label with all its values', () => {
  expect(lineOf('views:1|c|#zone:b,env:x,zone:a,zone:b').tags).toEqual([
    ['env', 'x'],
    ['zone', 'a,b'],
  ]);
});

test('a key that was good and is no more is dropped with what came by it', async () => {
  const keys = ['one'];
  const port = await given({ keys });
  await port.send('a:1|c|#ingestion_key:one');
  await port.asked.reach(1);
  keys.length = 0;
  await port.sendAll('a:1|c|#ingestion_key:one');
  expect(port.stored).toEqual({});
});

test('datagrams beyond what may wait, and lines of more than 16 KiB, are dropped', async () => {
  let [read, dropped] = [0, 0];
  const reader = new DatagramReader({ take: () => void (read += 1), drop: (lines) => void (dropped += lines) });
  for (let i = 0; i < 10; i += 1) reader.push(Buffer.from(`a:1|c\n${'x'.repeat(999_990)}`), 'x');
  await reader.drain();
  expect({ read, dropped }).toEqual({ read: 8, dropped: 2 + 8 });
});

test('others have their turn while many lines are read', async () => {
  vi.useFakeTimers({ toFake: ['performance'] });
  onTestFinished(() => void vi.useRealTimers());
  let [turns, read] = [0, 0];
  const reader = new DatagramReader({
    take() {
      read += 1;
      vi.advanceTimersByTime(1);
    },
    drop: () => {},
  });
  const count = (): void => {
    turns += 1;
    if (read < 64) setImmediate(count);
  };
  for (let i = 0; i < 8; i += 1) reader.push(Buffer.from('a:1|c\n'.repeat(8)), 'x');
  setImmediate(count);
  await reader.drain();
  expect(read).toBe(64);
  expect(turns).toBeGreaterThan(8);
});

test('what comes over UDP is stored, at the latest when the process ends', async () => {
  const statsdPort = await findFreePort(0);
  const w = await world({ fresh: true, settings: { statsdPort, host: '127.0.0.1' } });
  const service = await w.given.service();
  const socket = createSocket('udp4');
  onTestFinished(() => void socket.close());
  await send(socket, statsdPort, `orders:3|c|#country:NL,ingestion_key:${service.ingestionKey}`);
  await w.app.close();
  expect(await acceptedPoints(w)).toMatchObject([
    { serviceId: service.serviceId, name: 'orders', labels: { country: 'NL' }, value: 3, kind: 'delta' },
  ]);
});
