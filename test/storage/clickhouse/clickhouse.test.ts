import { createServer, type IncomingMessage } from 'node:http';
import type { AddressInfo } from 'node:net';

import { describe, expect, onTestFinished, test } from 'vitest';

import { databaseOf, nodeUrlsOf, withDatabase } from '#storage/clickhouse/address.ts';
import { Nodes, openClickHouse } from '#storage/clickhouse/clickhouse.ts';
import { insertRows, SEES_ALL_ACKNOWLEDGED } from '#storage/clickhouse/insert_rows.ts';
import { layoutOf } from '#storage/clickhouse/layout.ts';

describe('an address', () => {
  test.each([
    ['http://u:p@a:8123,b:8124/events', ['http://u:p@a:8123/events', 'http://u:p@b:8124/events'], 'events'],
    ['https://a:8443', ['https://a:8443'], 'default'],
    [
      'http://a,[::1]:8123/my-events?compression=1',
      ['http://a/my-events?compression=1', 'http://[::1]:8123/my-events?compression=1'],
      'my-events',
    ],
  ])('%s names its servers and its database', (url, urls, database) => {
    expect(nodeUrlsOf(url)).toEqual(urls);
    expect(databaseOf(url)).toBe(database);
    expect(databaseOf(withDatabase(url, 'an other'))).toBe('an other');
  });

  test.each(['http://', 'http://a,/x', 'http://u:100%@a/x', 'tcp://a:9000'])('%s is none', (url) => {
    expect(nodeUrlsOf(url)).toBeNull();
  });
});

test('names with hyphens are quoted', () => {
  expect(layoutOf('my-cluster').onCluster).toBe(' ON CLUSTER `my-cluster`');
  expect(layoutOf('my-cluster').system('parts')).toBe("clusterAllReplicas('my-cluster', system.parts)");
});

describe('nodes', () => {
  test('are asked in turn from the preferred one, and one that failed comes last until it has rested', () => {
    const nodes = new Nodes(3, 1);
    expect(nodes.order(0)).toEqual([1, 2, 0]);
    nodes.failed(1, 0);
    expect(nodes.order(499)).toEqual([2, 0, 1]);
    expect(nodes.order(500)).toEqual([1, 2, 0]);
    // Twice as long each time, and requests that fail together count once.
    nodes.failed(1, 500);
    nodes.failed(1, 501);
    expect(nodes.order(1_499)).toEqual([2, 0, 1]);
    expect(nodes.order(1_500)).toEqual([1, 2, 0]);
    nodes.succeeded(1);
    nodes.failed(1, 2_000);
    expect(nodes.order(2_500)).toEqual([1, 2, 0]);
  });

  test('rest 30 s at the most, and the one that has rested longest is asked when all have failed', () => {
    const nodes = new Nodes(2, 0);
    for (let nowMs = 0; nowMs < 1_000_000; nowMs += 30_000) nodes.failed(0, nowMs);
    nodes.failed(1, 995_000);
    expect(nodes.order(995_000)).toEqual([1, 0]);
    expect(nodes.order(1_020_001)).toEqual([0, 1]);
  });
});

interface Asked {
  readonly url: URL;
  readonly text: string;
}

/** A server that answers as it is told; null breaks the connection. */
async function startNode(answer: (asked: Asked) => { status: number; body: string } | null, isGone = () => false) {
  const asked: Asked[] = [];
  const server = createServer((request, response) => {
    void (async () => {
      const one = { url: new URL(request.url ?? '', 'http://node'), text: await textOf(request) };
      if (isGone()) return;
      if (one.url.pathname === '/ping') return void response.end('Ok.\n');
      asked.push(one);
      const said = answer(one);
      if (said === null) return void request.socket.destroy();
      response.writeHead(said.status).end(said.body);
    })();
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  onTestFinished(() => {
    server.closeAllConnections();
    server.close();
  });
  return { host: `127.0.0.1:${(server.address() as AddressInfo).port}`, asked };
}

async function textOf(request: IncomingMessage): Promise<string> {
  const chunks: Buffer[] = [];
  for await (const chunk of request) chunks.push(chunk as Buffer);
  return Buffer.concat(chunks).toString();
}

const fault = (code: number, type: string) => ({
  status: 500,
  body: `Code: ${code}. DB::Exception: as it is. (${type}) (version 26.1)`,
});

describe('a client of several servers', () => {
  const ONE = { status: 200, body: '[1]\n' };

  async function clientOf(...answers: ((asked: Asked) => { status: number; body: string } | null)[]) {
    const nodes = await Promise.all(answers.map((answer) => startNode(answer)));
    const address = {
      clickhouseUrl: `http://u:p@${nodes.map(({ host }) => host).join(',')}/events`,
      clickhouseCluster: 'c',
    };
    const client = openClickHouse(address);
    onTestFinished(() => client.close());
    return { client, nodes };
  }

  async function ask(client: Awaited<ReturnType<typeof clientOf>>['client']): Promise<unknown> {
    const result = await client.query({ query: 'SELECT 1', format: 'JSONCompactEachRow' });
    return await result.json();
  }

  test.each([
    ['breaks the connection', () => null],
    ['has lost its Keeper', () => fault(242, 'TABLE_IS_READ_ONLY')],
    ['lacks what was acknowledged', () => fault(289, 'REPLICA_IS_NOT_IN_QUORUM')],
  ])('asks another one when one %s', async (_, broken) => {
    const { client, nodes } = await clientOf(broken, () => ONE);
    for (let time = 0; time < 5; time += 1) expect(await ask(client)).toEqual([[1]]);
    // The broken one is left alone once it has failed.
    expect(nodes[0]!.asked.length).toBeLessThanOrEqual(1);
    expect(nodes[1]!.asked).toHaveLength(5);
  });

  test('does not repeat a wrong query', async () => {
    const wrong = () => fault(62, 'SYNTAX_ERROR');
    const { client, nodes } = await clientOf(wrong, wrong);
    await expect(ask(client)).rejects.toThrow('as it is');
    expect(nodes.flatMap(({ asked }) => asked)).toHaveLength(1);
  });

  test('asks for the whole truth: every shard, and subqueries over all of them', async () => {
    const { client, nodes } = await clientOf(() => ONE);
    await ask(client);
    const sent = Object.fromEntries(nodes[0]!.asked[0]!.url.searchParams);
    expect(sent).toMatchObject({ skip_unavailable_shards: '0', distributed_product_mode: 'global' });
    expect(SEES_ALL_ACKNOWLEDGED).toEqual({ select_sequential_consistency: '1', priority: '1' });
  });

  test('has rows acknowledged by the majority, in sequence where rules depend on it, and waits for its turn', async () => {
    let turns = 0;
    const busy = () =>
      (turns += 1) < 3 ? fault(286, 'UNSATISFIED_QUORUM_FOR_PREVIOUS_WRITE') : { status: 200, body: '' };
    const { client, nodes } = await clientOf(busy);
    await insertRows(client, 'metric_points', Buffer.from('rows'), { token: 't', acknowledged: 'in_sequence' });
    expect(turns).toBe(3);
    for (const { url } of nodes[0]!.asked) {
      expect(Object.fromEntries(url.searchParams)).toMatchObject({
        insert_quorum: 'auto',
        insert_quorum_parallel: '0',
        distributed_foreground_insert: '1',
        insert_deduplication_token: 't',
      });
    }
  });

  test.each([
    ['TOO_FEW_LIVE_REPLICAS', 285],
    ['ALL_CONNECTION_TRIES_FAILED', 279],
    ['TOO_MANY_PARTS', 252],
  ])('says that rows may be sent again after %s', async (type, code) => {
    const { client } = await clientOf(() => fault(code, type));
    const insert = insertRows(client, 'exception_events', Buffer.from('rows'), { token: 't', acknowledged: 'at_once' });
    await expect(insert).rejects.toMatchObject({ code: 'unavailable' });
  });
});

describe('a client of one server', () => {
  const ask = { query: 'SELECT 1', format: 'JSONCompactEachRow' } as const;

  test('gives up what it has asked once the server is gone without a word', async () => {
    const { host } = await startNode(
      () => null,
      () => true,
    );
    const client = openClickHouse({ clickhouseUrl: `http://u:p@${host}` }, undefined, 50);
    onTestFinished(() => client.close());
    await expect(client.query(ask)).rejects.toThrow('aborted');
  });

  test('waits for an answer that takes long while the server is there', async () => {
    const { promise, resolve } = Promise.withResolvers<void>();
    let pings = 0;
    const server = createServer((request, response) => {
      if (!request.url?.startsWith('/ping')) return void promise.then(() => response.end('[1]\n'));
      pings += 1;
      if (pings === 8) resolve();
      response.end('Ok.\n');
    });
    await new Promise<void>((listens) => server.listen(0, '127.0.0.1', listens));
    onTestFinished(() => {
      server.closeAllConnections();
      server.close();
    });
    const { port } = server.address() as AddressInfo;
    const client = openClickHouse({ clickhouseUrl: `http://u:p@127.0.0.1:${port}` }, undefined, 50);
    onTestFinished(() => client.close());
    expect(await (await client.query(ask)).json()).toEqual([[1]]);
  });
});
