import { SECRET_PREFIXES } from '#kernel/ids.ts';

/** Interface of a logger with only what modules need; `entry/logger.ts` builds the real one. */
export interface Log {
  debug(fields: object, message: string): void;
  info(fields: object, message: string): void;
  warn(fields: object, message: string): void;
  error(fields: object, message: string): void;
  child(fields: object): Log;
}

/**
 * Forms of secrets, wherever they appear. Those of the product have recognisable prefixes for this very reason; the
 * others are known by the text before them.
 */
const SECRETS: readonly (readonly [RegExp, string])[] = [
  [new RegExp(`(${Object.values(SECRET_PREFIXES).join('|')})_[A-Za-z0-9]{8,}`, 'g'), '$1_…'],
  [/\b(Bearer|Basic)\s+[A-Za-z0-9._~+/=-]+/gi, '$1 …'],
  // Credentials in a DSN or in the address of a store, with any scheme, or the end of a long one.
  [/([a-z][a-z0-9+.-]{0,30}:\/\/)[^/\s:@]*(?::[^/\s@]*)?@/gi, '$1…@'],
  [/\b(sentry_(?:key|secret)=)[0-9a-f]+/gi, '$1…'],
  // Links in messages act in somebody's name: the part behind the message id is the signature.
  [/(\/api\/answers\/[a-z]+\/[a-z0-9_]+\/)[^\s"\\]+/gi, '$1…'],
  [/(\/[ap]\/[0-9a-z]{26})[0-9a-z]{16}\b/g, '$1…'],
  // In a query, a form or a cookie; codes and verifiers of OAuth, and secrets of apps for one-time passwords.
  [
    /\b((?:code|code_verifier|pin|token|access_token|refresh_token|client_secret|password|secret|seal|tocsin_oauth[a-z_.]{0,60})=)[^\s&"'\\;]+/gi,
    '$1…',
  ],
  // In JSON, also in JSON within a text.
  [
    /("(?:[a-z]+_?)?(?:password|secret|privateKey|private_key|token|recoveryCode)\\*"\s*:\s*\\*")(?:[^"\\]|\\+[^"\\])+/gi,
    '$1…',
  ],
  // Codes that people type, which are digits: other codes are names of errors.
  [/("(?:code|pin|newPin)\\*"\s*:\s*\\*")\d{4,10}(?=\\*")/gi, '$1…'],
  [/("recoveryCodes\\*"\s*:\s*\[)[^\]]*/gi, '$1…'],
  // Keys for which push messages are encrypted.
  [/("(?:auth|p256dh)\\*"\s*:\s*\\*")[A-Za-z0-9_-]{16,}/g, '$1…'],
];

/** Returns the text without its secrets; also without the `known` ones, in any form. */
export function redact(text: string, secrets: readonly string[] = []): string {
  const unknown = secrets.reduce((redacted, secret) => redacted.replaceAll(secret, '…'), text);
  return SECRETS.reduce((redacted, [pattern, replacement]) => redacted.replace(pattern, replacement), unknown);
}

export const silentLog: Log = { debug() {}, info() {}, warn() {}, error() {}, child: () => silentLog };
