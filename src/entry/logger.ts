import { pino } from 'pino';

import { type Config, SETTINGS } from './config.ts';
import type { Setting } from '#kernel/config.ts';
import { keysOf } from '#kernel/records.ts';
import { type Log, redact } from '#kernel/log.ts';
import { currentSpan } from '#kernel/tracing.ts';
import { deriveVapidKeys } from '#notify/channels/push/sender.ts';

const WINDOW_MS = 60_000;
const LINES_MAX = 5;
/** Limit on the messages tracked: they are fixed texts; this many mean that one is not. */
const MESSAGES_MAX = 1_000;

/** Limits repeated warnings: while a store is unavailable, each message is logged five times a minute. */
export class WarningLimiter {
  readonly #windows = new Map<string, { since: number; lines: number; leftOut: number }>();

  /** Returns how many such messages were left out before this one; null if this one is left out, too. */
  admit(message: string, nowMs: number): number | null {
    const window = this.#windows.get(message);
    if (window === undefined || nowMs - window.since >= WINDOW_MS) {
      if (this.#windows.size >= MESSAGES_MAX) this.#windows.clear();
      this.#windows.set(message, { since: nowMs, lines: 1, leftOut: 0 });
      return window?.leftOut ?? 0;
    }
    if (window.lines >= LINES_MAX) {
      window.leftOut += 1;
      return null;
    }
    window.lines += 1;
    return 0;
  }
}

type LogConfig = Pick<Config, 'logLevel'> & Partial<Config>;

const WARN = 40;

/**
 * Creates the logger: structured logs, one JSON object a line, on standard output; secrets are removed from every line.
 * Of repeated warnings some are left out, and the next one says how many.
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

/** Returns the trace fields, named as OpenTelemetry names them in logs. */
function traceFields(): object {
  const span = currentSpan();
  return span === null ? {} : { trace_id: span.traceId, span_id: span.spanId };
}

/** Returns the secrets of the settings, and derived ones, as a line of JSON has them; of an address its secret part. */
function secretsOf(config: LogConfig): string[] {
  const { appSecret } = config;
  const set = keysOf(SETTINGS).flatMap((name) => {
    const setting: Setting = SETTINGS[name];
    const value = setting.isSecret === true ? config[name] : undefined;
    return typeof value === 'string' ? secretPartsOf(value) : [];
  });
  return [...set, ...(appSecret === undefined ? [] : [deriveVapidKeys(appSecret).privateKey])]
    .filter((secret) => secret.length >= SECRET_LENGTH_MIN)
    .map((secret) => JSON.stringify(secret).slice(1, -1));
}

/** Shortest secret that is hidden: shorter ones occur in too many lines by chance. */
const SECRET_LENGTH_MIN = 6;

/** Length from which a path is a secret: so long a path is not the name of a database but the address of a watchdog. */
const SECRET_PATH_LENGTH_MIN = 17;

/** Returns the password of an address of several hosts, as it is written and as it is. */
function passwordsIn(address: string): string[] {
  const password = /^[a-z][a-z\d+.-]*:\/\/[^:@/]*:([^/]*)@/i.exec(address)?.[1];
  if (password === undefined) return [];
  return [password, /%(?![\da-f]{2})/i.test(password) ? password : decodeURIComponent(password)];
}

/** Returns the secret parts of an address: the password stands before the host, a token after it. */
function secretPartsOf(value: string): string[] {
  if (!URL.canParse(value)) return [value, ...passwordsIn(value)];
  const { password, pathname, search } = new URL(value);
  const path = `${pathname}${search}`;
  return [password, decodeURIComponent(password), ...(path.length < SECRET_PATH_LENGTH_MIN ? [] : [path])];
}
