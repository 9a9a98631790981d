import { createClient, type ClickHouseClient } from '@clickhouse/client';

import { AppError, isUnreachable, messageOf } from '#kernel/errors.ts';

export type { ClickHouseClient };

const ANSWER_MS_MAX = 60_000;

/** Opens the client; connects at the first query. The database is the path of the URL, `default` without one. */
export function openClickHouse(url: string, answerMsMax = ANSWER_MS_MAX): ClickHouseClient {
  return createClient({
    url,
    application: 'tocsin',
    request_timeout: answerMsMax,
    max_open_connections: 20,
    keep_alive: { enabled: true, idle_socket_ttl: 2_000 },
    clickhouse_settings: { date_time_input_format: 'best_effort', output_format_json_quote_64bit_integers: 1 },
    log: { level: 127 },
  });
}

/** Runs a query; throws `unavailable` (503) when ClickHouse does not answer, unlike for a wrong query. */
export async function withClickHouseErrors<Result>(work: () => Promise<Result>): Promise<Result> {
  try {
    return await work();
  } catch (error) {
    if (isClickHouseUnreachable(error)) {
      throw new AppError('unavailable', 'the metric store does not answer, try again shortly', {
        cause: error,
        retryAfterSeconds: 5,
      });
    }
    if (isFull(error)) {
      throw new AppError('unavailable', 'the disk of the metric store is full; nothing is lost, try again later', {
        cause: error,
        retryAfterSeconds: 30,
      });
    }
    throw error;
  }
}

/** The client's own errors have no code. */
export function isClickHouseUnreachable(error: unknown): boolean {
  return isUnreachable(error) || /Timeout error|socket hang up/.test(messageOf(error));
}

/** As the server says it, or the operating system through it. */
function isFull(error: unknown): boolean {
  if (!(error instanceof Error)) return false;
  const { type } = error as { type?: unknown };
  return type === 'NOT_ENOUGH_SPACE' || /No space left on device|ENOSPC/.test(error.message);
}
