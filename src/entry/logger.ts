import { pino } from 'pino';

import { WarningLimiter } from '#entry/warning_limiter.ts';
import type { Config } from '#entry/config.ts';
import { type Log, redact } from '#kernel/log.ts';
import { currentSpan } from '#kernel/tracing.ts';
import { deriveVapidKeys } from '#notify/channels/push/vapid.ts';

type LogConfig = Pick<Config, 'logLevel'> & Partial<Pick<Config, 'appSecret' | 'twilioAuthToken'>>;

const WARN = 40;

/**
 * Structured logs, one JSON object a line, on standard output; every line passes the redaction of secrets. Of warnings
 * that repeat, some are left out, and the next one says how many.
 */
export function createLogger(
  config: LogConfig,
  process_: 'api' | 'worker' | 'pager' | 'cli',
  write: (line: string) => void = (line) => void process.stdout.write(line),
): Log {
  const limiter = new WarningLimiter();
  const secrets = secretsOf(config);
  return pino(
    {
      level: config.logLevel,
      base: { process: process_ },
      timestamp: pino.stdTimeFunctions.isoTime,
      mixin: traceFields,
      hooks: {
        logMethod([fields, message, ...rest], log, level) {
          const leftOut = level === WARN ? limiter.admit(String(message), performance.now()) : 0;
          if (leftOut === null) return;
          log.apply(this, [leftOut === 0 ? fields : { ...Object(fields), leftOut }, message, ...rest]);
        },
      },
    },
    { write: (line: string) => write(redact(line, secrets)) },
  );
}

/** Named as OpenTelemetry names them in logs. */
function traceFields(): object {
  const span = currentSpan();
  return span === null ? {} : { trace_id: span.traceId, span_id: span.spanId };
}

/** Those without a form of their own, as a line of JSON has them. */
function secretsOf({ appSecret, twilioAuthToken }: LogConfig): string[] {
  const secrets = [appSecret, twilioAuthToken, appSecret && deriveVapidKeys(appSecret).privateKey];
  return secrets
    .filter((secret) => secret !== undefined && secret !== '')
    .map((secret) => JSON.stringify(secret).slice(1, -1));
}
