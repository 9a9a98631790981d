import { createHash } from 'node:crypto';
import { gzipSync } from 'node:zlib';

import type { HostileRequest, HostileTarget } from './bodies.ts';

const MEGABYTE = 1024 * 1024;
const JSON_TYPE = { 'content-type': 'application/json' };

/** Lists requests that clients, pipelines and consoles send besides points and events. */
export function sideRequests(target: HostileTarget): readonly HostileRequest[] {
  const sentry = `/api/${target.projectId}`;
  const signed = `?sentry_key=${target.dsnKey}`;
  const make = (kind: string, path: string, headers: Record<string, string>, body: string | Buffer): HostileRequest => {
    return { kind, method: 'POST', path, headers, body: Buffer.from(body) };
  };
  const fill = (piece: string, bytes: number): string => piece.repeat(Math.floor(bytes / piece.length));
  const envelopeOf = (items: string): string => `{"event_id":"9ec79c33ec9942ab8353589fcb2e04dc"}\n${items}`;
  const zipped = { 'content-encoding': 'gzip' };
  const file = fill('x', 2 * MEGABYTE - 10);
  const attachments = `{"type":"attachment","length":${file.length},"filename":"a"}\n${file}\n`.repeat(20);
  const session =
    '{"sid":"9ec79c33ec9942ab8353589fcb2e04dc","init":true,"started":"2026-01-01T00:00:00Z","attrs":{"release":"a"}}';
  const aggregates = `{"attrs":{"release":"a"},"aggregates":[${fill('{"started":"2026-01-01T00:00:00Z","exited":1},', MEGABYTE)}{}]}`;
  const checkIn = (slug: number): string =>
    `{"check_in_id":"9ec79c33ec9942ab8353589fcb2e04dc","monitor_slug":"m${slug}","status":"ok","monitor_config":{"schedule":{"type":"crontab","value":"${'0-59/1,'.repeat(20)}0 0-23 1-31 1-12 0-7"}}}`;
  const chunks = `/api/0/organizations/${target.organizationId}/chunk-upload/`;
  const bomb = gzipSync(Buffer.alloc(64 * MEGABYTE), { level: 9 });
  const bombName = createHash('sha1').update(bomb).digest('hex');
  const multipart = Buffer.concat([
    Buffer.from(`--b\r\ncontent-disposition: form-data; name="file_gzip"; filename="${bombName}"\r\n\r\n`),
    bomb,
    Buffer.from('\r\n--b--\r\n'),
  ]);
  const api = { authorization: `Bearer ${target.apiKey}` };
  const authorized = { authorization: `Bearer ${target.ingestionKey}` };
  const browser = { cookie: target.sessionCookie, origin: target.baseUrl, ...JSON_TYPE };
  const reads = `/api/console/organizations/${target.organizationId}/reads`;
  const patterns = (at: number): string =>
    `m{${Array.from({ length: 64 }, (_, label) => `a${label}=~"(?i)\\\\pL{${200 - label - at}}"`).join(',')}}`;
  const read = '{"action":"search_incidents","input":{}}';
  return [
    make(
      'envelope of 20 attachments of 2 MiB',
      `${sentry}/envelope/${signed}`,
      zipped,
      gzipSync(envelopeOf(attachments)),
    ),
    make(
      'envelope of 100 sessions',
      `${sentry}/envelope/${signed}`,
      {},
      envelopeOf(`{"type":"session"}\n${session}\n`.repeat(99)),
    ),
    make(
      'sessions of 1 MiB of aggregates',
      `${sentry}/envelope/${signed}`,
      zipped,
      gzipSync(envelopeOf(`{"type":"sessions"}\n${aggregates}\n`)),
    ),
    make(
      'envelope of 99 check-ins',
      `${sentry}/envelope/${signed}`,
      {},
      envelopeOf(Array.from({ length: 99 }, (_, slug) => `{"type":"check_in"}\n${checkIn(slug)}\n`).join('')),
    ),
    make(
      'check-in of 64 kB',
      `${sentry}/cron/nightly/${target.dsnKey}/`,
      JSON_TYPE,
      `{"status":"ok",${fill('"a":{},', 60_000)}"b":1}`,
    ),
    make(
      'no key: check-in of 64 kB',
      `${sentry}/cron/nightly/${'0'.repeat(32)}/`,
      JSON_TYPE,
      `{${fill('"a":{},', 60_000)}"b":1}`,
    ),
    make(
      'tunnel: a good DSN, 15 MiB of items',
      '/api/ingest/envelope',
      zipped,
      gzipSync(`{"dsn":"http://${target.dsnKey}@x/${target.projectId}"}\n${fill('{"type":"x"}\n\n', 15 * MEGABYTE)}`, {
        level: 1,
      }),
    ),
    make(
      'deploy of 16 kB',
      '/api/ingest/deploys',
      { ...authorized, ...JSON_TYPE },
      `{${fill('"a":{},', 16_000)}"release":"1"}`,
    ),
    make(
      'releases: 1 MiB of projects',
      `/api/0/organizations/${target.organizationId}/releases/`,
      { ...api, ...JSON_TYPE },
      `{"version":"1","projects":[${fill('"a",', MEGABYTE - 100)}"a"]}`,
    ),
    make(
      'upload: 64 kB of gzip that holds 64 MiB',
      chunks,
      { ...api, 'content-type': 'multipart/form-data; boundary=b' },
      multipart,
    ),
    make(
      'assembly of 100,000 parts',
      `/api/0/organizations/${target.organizationId}/artifactbundle/assemble/`,
      { ...api, ...JSON_TYPE },
      `{"checksum":"${'a'.repeat(40)}","chunks":[${fill(`"${'b'.repeat(40)}",`, MEGABYTE - 200)}"c"],"projects":["x"]}`,
    ),
    make(
      'console: 60 charts of large patterns',
      `/api/console/organizations/${target.organizationId}/actions/query_metrics`,
      browser,
      JSON.stringify({
        queries: Array.from({ length: 60 }, (_, at) => ({ serviceId: target.serviceId, metricName: patterns(at) })),
      }),
    ),
    make('console: 20 reads at once', reads, browser, `{"reads":[${fill(`${read},`, read.length * 19 + 19)}${read}]}`),
    make('console: 20,000 reads', reads, browser, `{"reads":[${fill(`${read},`, MEGABYTE - 100)}${read}]}`),
    make('console: reads of 1 MiB of [', reads, browser, `{"reads":[${fill('[', MEGABYTE - 100)}`),
  ];
}
