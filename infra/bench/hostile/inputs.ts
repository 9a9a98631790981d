import { Agent } from 'node:http';

import { count } from '#infra/bench/figures.ts';
import { realEvents } from '#infra/bench/exceptions/real_events.ts';
import { seeded } from '#infra/bench/seeded.ts';
import { hostileRequests, type HostileTarget } from './bodies.ts';
import { send } from './send.ts';
import { sideRequests } from './side_bodies.ts';

const BYTES_MAX = 64 * 1024;
const AT_ONCE = 32;
const CHANGES_MAX = 8;

interface Input {
  readonly kind: string;
  readonly path: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: Buffer;
}

/** Sends inputs of real clients and hostile ones with some of their bytes changed, and counts the answers by kind. */
export async function answersOfInputs(
  target: HostileTarget,
  inputs: number,
): Promise<Record<string, string | number>[]> {
  const random = seeded(7);
  const seeds = seedsFor(target);
  const answers = new Map<string, Map<number, number>>();
  const base = new URL(target.baseUrl);
  const agent = new Agent({ keepAlive: true, maxSockets: AT_ONCE });
  let sent = 0;
  const worker = async (): Promise<void> => {
    while (sent < inputs) {
      sent += 1;
      const seed = seeds[Math.floor(random() * seeds.length)];
      if (seed === undefined) return;
      const { kind, path, headers } = seed;
      const body = changed(seed.body, random);
      const statusCode = await send(base, { method: 'POST', path, headers, body }, agent);
      const counts = answers.get(kind) ?? new Map<number, number>();
      answers.set(kind, counts.set(statusCode, (counts.get(statusCode) ?? 0) + 1));
    }
  };
  await Promise.all(Array.from({ length: AT_ONCE }, worker));
  agent.destroy();
  return [...answers].map(([kind, byStatus]) => ({
    inputs: kind,
    answers: [...byStatus]
      .toSorted(([a], [b]) => a - b)
      .map(([status, times]) => `${count(times)} × ${status === 0 ? 'cut off' : status}`)
      .join(', '),
  }));
}

function seedsFor(target: HostileTarget): readonly Input[] {
  const sentry = realEvents(200, 4).map(({ kind, headers, body }) => ({
    kind: 'Sentry clients',
    path: `/api/${target.projectId}/${kind}/?sentry_key=${target.dsnKey}`,
    headers,
    body,
  }));
  const metrics = [
    {
      path: 'metrics',
      type: 'application/json',
      body: '{"points":[{"name":"a","value":1,"labels":{"b":"c"}},{"name":"d","value":2.5e3}]}',
    },
    {
      path: 'metrics',
      type: 'application/x-ndjson',
      body: '{"name":"a","value":1}\n{"name":"b","value":2,"labels":{"c":"d"}}\n',
    },
    {
      path: 'otlp/v1/metrics',
      type: 'application/json',
      body: '{"resourceMetrics":[{"resource":{"attributes":[{"key":"service.name","value":{"stringValue":"x"}}]},"scopeMetrics":[{"metrics":[{"name":"m","sum":{"aggregationTemporality":2,"isMonotonic":true,"dataPoints":[{"asInt":"3","attributes":[]}]}}]}]}]}',
    },
  ].map(({ path, type, body }) => ({
    kind: 'metrics',
    path: `/api/ingest/${path}`,
    headers: { authorization: `Bearer ${target.ingestionKey}`, 'content-type': type },
    body: Buffer.from(body),
  }));
  const made = [...hostileRequests(target), ...sideRequests(target)].map(({ path, headers, body }) => ({
    kind: 'made to be expensive',
    path,
    headers,
    body: body.subarray(0, BYTES_MAX),
  }));
  return [...sentry, ...metrics, ...metrics, ...metrics, ...metrics, ...made];
}

/** Sets, removes or repeats some bytes. */
function changed(body: Buffer, random: () => number): Buffer {
  let bytes = Buffer.from(body);
  for (let change = Math.floor(random() * CHANGES_MAX); change > 0 && bytes.length > 0; change -= 1) {
    const at = Math.floor(random() * bytes.length);
    const length = Math.floor(random() * 40);
    const way = random();
    if (way < 0.5) bytes[at] = Math.floor(random() * 256);
    else if (way < 0.75) bytes = Buffer.concat([bytes.subarray(0, at), bytes.subarray(at + length)]);
    else bytes = Buffer.concat([bytes.subarray(0, at + length), bytes.subarray(at)]);
  }
  return bytes;
}
