import { randomUUID } from 'node:crypto';

import type { Point, Raised } from './scenes.ts';

/** Sends the points of one metric, as an application does. */
export async function sendPoints(baseUrl: string, key: string, name: string, points: readonly Point[]): Promise<void> {
  const now = Date.now();
  const body = { points: points.map(({ minutesAgo, value }) => ({ name, value, at: now - minutesAgo * 60_000 })) };
  await post(`${baseUrl}/api/ingest/metrics`, { authorization: `Bearer ${key}` }, body);
}

/** Sends an exception, as an SDK does. */
export async function sendEvent(
  baseUrl: string,
  dsn: string,
  { minutesAgo, type, value, where, release, tags }: Raised,
): Promise<void> {
  const { username, pathname } = new URL(dsn);
  const event = {
    event_id: randomUUID().replaceAll('-', ''),
    timestamp: Date.now() / 1_000 - minutesAgo * 60,
    platform: 'node',
    level: 'error',
    release,
    environment: 'production',
    tags,
    exception: {
      values: [
        {
          type,
          value,
          stacktrace: { frames: [{ filename: 'src/app.ts', function: where, lineno: 10, in_app: true }] },
        },
      ],
    },
  };
  const headers = { 'x-sentry-auth': `Sentry sentry_version=7, sentry_key=${username}, sentry_client=bench/1` };
  await post(`${baseUrl}/api/${pathname.split('/').at(-1)}/store/`, headers, event);
}

async function post(url: string, headers: Readonly<Record<string, string>>, body: object): Promise<void> {
  const init = {
    method: 'POST',
    headers: { 'content-type': 'application/json', ...headers },
    body: JSON.stringify(body),
  };
  const response = await fetch(url, init);
  if (!response.ok) throw new Error(`${new URL(url).pathname} answered ${response.status}: ${await response.text()}`);
}
