import { pino } from 'pino';

import type { Config } from '#kernel/config.ts';
import { type Log, redact } from '#kernel/log.ts';

/** Structured logs, one JSON object a line, on standard output; every line passes the redaction of secrets. */
export function createLogger(config: Pick<Config, 'logLevel'>, process_: 'api' | 'worker' | 'pager' | 'cli'): Log {
  return pino(
    { level: config.logLevel, base: { process: process_ }, timestamp: pino.stdTimeFunctions.isoTime },
    { write: (line: string) => process.stdout.write(redact(line)) },
  );
}
