import { randomBytes } from 'node:crypto';
import type { ServerResponse } from 'node:http';
import { Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import zlib from 'node:zlib';

import { toFailure, type ClickHouseFailure } from './failure.ts';
import type { QueryContext } from './request.ts';

export interface Summary {
  readonly readRows: number;
  readonly readBytes: number;
  readonly writtenRows: number;
  readonly writtenBytes: number;
}

export const NOTHING_DONE: Summary = { readRows: 0, readBytes: 0, writtenRows: 0, writtenBytes: 0 };

/** Answers with one piece. */
export async function sendWhole(res: ServerResponse, context: QueryContext, body: Buffer, summary: Summary) {
  const headers = { ...headersOf(context), 'x-clickhouse-summary': summaryText(context, summary) };
  if (context.wantsGzip) return sendPacked(res, headers, [body]);
  res.writeHead(200, { ...headers, 'content-length': body.length });
  res.end(body);
}

/**
 * Answers chunk by chunk, as fast as the client reads. Nothing is sent before the first chunk, so that a query that
 * fails early fails with a status; one that fails later ends with the marker that clients look for.
 */
export async function sendChunks(res: ServerResponse, context: QueryContext, chunks: AsyncGenerator<Buffer>) {
  const first = await chunks.next();
  if (first.done) return sendWhole(res, context, Buffer.alloc(0), NOTHING_DONE);
  const tag = randomBytes(8).toString('hex');
  const headers = { ...headersOf(context), 'x-clickhouse-exception-tag': tag };
  const body = withMarkedFailure(first.value, chunks, tag);
  if (context.wantsGzip) return sendPacked(res, headers, body);
  res.writeHead(200, headers);
  await pipeline(Readable.from(body, { objectMode: false }), res);
}

async function* withMarkedFailure(first: Buffer, rest: AsyncGenerator<Buffer>, tag: string) {
  try {
    yield first;
    yield* rest;
  } catch (error) {
    const text = toFailure(error).text;
    const bytes = Buffer.byteLength(text);
    yield Buffer.from(`\r\n__exception__\r\n${tag}\r\n${text}${bytes} ${tag}\r\n__exception__\r\n`);
  }
}

async function sendPacked(
  res: ServerResponse,
  headers: Record<string, string>,
  body: AsyncIterable<Buffer> | Iterable<Buffer>,
) {
  res.writeHead(200, { ...headers, 'content-encoding': 'gzip' });
  await pipeline(Readable.from(body, { objectMode: false }), zlib.createGzip({ level: 1 }), res);
}

/** Answers with an error. An answer that has begun is cut off, so that nobody takes it for complete. */
export function sendFailure(res: ServerResponse, failure: ClickHouseFailure, queryId: string | null): void {
  if (res.headersSent) {
    res.destroy();
    return;
  }
  res.writeHead(failure.status, {
    'content-type': 'text/plain; charset=UTF-8',
    'x-clickhouse-exception-code': String(failure.code),
    ...(queryId === null ? {} : { 'x-clickhouse-query-id': queryId }),
  });
  res.end(failure.text);
}

function headersOf(context: QueryContext): Record<string, string> {
  return {
    'content-type': 'text/plain; charset=UTF-8',
    'x-clickhouse-query-id': context.queryId,
    'x-clickhouse-format': context.defaultFormat,
    'x-clickhouse-timezone': 'UTC',
  };
}

function summaryText(context: QueryContext, summary: Summary): string {
  return JSON.stringify({
    read_rows: String(summary.readRows),
    read_bytes: String(summary.readBytes),
    written_rows: String(summary.writtenRows),
    written_bytes: String(summary.writtenBytes),
    total_rows_to_read: '0',
    result_rows: '0',
    result_bytes: '0',
    elapsed_ns: String(Math.round((performance.now() - context.beganAt) * 1e6)),
  });
}
