/** The little of a logger that the rooms need; `entry/logger.ts` builds the real one. */
export interface Log {
  debug(fields: object, message: string): void;
  info(fields: object, message: string): void;
  warn(fields: object, message: string): void;
  error(fields: object, message: string): void;
  child(fields: object): Log;
}

/**
 * What a secret looks like wherever it appears: API keys, ingestion keys and DSNs carry recognisable prefixes
 * for this very reason. A URL's credentials and bearer headers are caught as well.
 */
const SECRETS: readonly (readonly [RegExp, string])[] = [
  [/\b(tocsin_key|tocsin_ing|tocsin_cal)_[A-Za-z0-9]{8,}/g, '$1_…'],
  [/\b(Bearer|Basic)\s+[A-Za-z0-9._~+/=-]+/gi, '$1 …'],
  [/([a-z][a-z0-9+.-]*:\/\/)[^/\s:@]*(?::[^/\s@]*)?@/gi, '$1…@'],
  [/\b(sentry_key=)[0-9a-f]+/gi, '$1…'],
];

/** The text without its secrets. */
export function redact(text: string): string {
  return SECRETS.reduce((redacted, [pattern, replacement]) => redacted.replace(pattern, replacement), text);
}

export const silentLog: Log = {
  debug() {},
  info() {},
  warn() {},
  error() {},
  child: () => silentLog,
};
