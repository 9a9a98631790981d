import { randomUUID } from 'node:crypto';
import type { IncomingHttpHeaders } from 'node:http';

import { ClickHouseFailure } from './failure.ts';
import { quoteName, quoteText } from './quoting.ts';

/** Options of a request besides the text and the rows of its query. */
export interface QueryContext {
  readonly queryId: string;
  readonly database: string | null;
  /** Settings and, as `param_x`, the values of the query's parameters. */
  readonly settings: ReadonlyMap<string, string>;
  readonly defaultFormat: string;
  /** The text, or its beginning, when the body holds rows. */
  readonly sqlInUrl: string;
  readonly wantsGzip: boolean;
  /** The client wants the whole answer or none. */
  readonly waitsForEnd: boolean;
  /** Milliseconds of this process's clock. */
  readonly beganAt: number;
}

/** Parameters of ClickHouse's HTTP interface that are not settings of the query. */
const OF_TRANSPORT = new Set([
  'buffer_size',
  'database',
  'default_format',
  'query',
  'query_id',
  'quota_key',
  'session_check',
  'session_timeout',
  'stacktrace',
  'wait_end_of_query',
]);

/** Options that a real server supports and this server does not: they are refused instead of ignored. */
const UNSUPPORTED = ['session_id', 'role', 'compress', 'decompress', 'user', 'password'] as const;

const SETTING_NAME = /^[A-Za-z_][A-Za-z0-9_]*$/;

export function readContext(params: URLSearchParams, headers: IncomingHttpHeaders): QueryContext {
  const unsupported = UNSUPPORTED.find((name) => params.has(name) && params.get(name) !== '0');
  if (unsupported) throw notImplemented(`the URL parameter ${unsupported}`);
  const settings = new Map([...params].filter(([name]) => !OF_TRANSPORT.has(name)));
  const format = headers['x-clickhouse-format'];
  return {
    queryId: params.get('query_id') || randomUUID(),
    database: params.get('database'),
    settings,
    defaultFormat: params.get('default_format') ?? (typeof format === 'string' ? format : 'TabSeparated'),
    sqlInUrl: params.get('query') ?? '',
    wantsGzip: params.get('enable_http_compression') === '1' && /\bgzip\b/.test(headers['accept-encoding'] ?? ''),
    waitsForEnd: params.get('wait_end_of_query') === '1',
    beganAt: performance.now(),
  };
}

export function notImplemented(what: string): ClickHouseFailure {
  return new ClickHouseFailure(48, 'NOT_IMPLEMENTED', `The embedded ClickHouse does not support ${what}`);
}

/** The statements that give a fresh connection the settings of this request, on top of the defaults. */
export function preludeOf(context: QueryContext, defaults: Readonly<Record<string, number>>): string {
  const all = new Map(Object.entries(defaults).map(([name, value]) => [name, String(value)]));
  for (const [name, value] of context.settings) {
    if (!SETTING_NAME.test(name)) throw new ClickHouseFailure(115, 'UNKNOWN_SETTING', `Unknown setting ${name}`);
    all.set(name, value);
  }
  all.set('log_comment', context.queryId);
  const list = [...all].map(([name, value]) => `${name} = ${quoteText(value)}`).join(', ');
  const use = context.database === null ? '' : `USE ${quoteName(context.database)}; `;
  return `${use}SET ${list}`;
}
