import { LIMIT_SETTINGS, type LimitName } from '#kernel/limit_settings.ts';

/** Codes that a caller can get, with their HTTP status. `unknown_action` and `not_found` share 404 on purpose. */
export const ERROR_CODES = {
  invalid_input: 400,
  unauthenticated: 401,
  forbidden: 403,
  insufficient_scope: 403,
  /** The organization asks owners and admins for a second factor, and this person has set up none. */
  second_factor_required: 403,
  /** The second factor was not shown lately enough for this. */
  step_up_required: 403,
  unknown_action: 404,
  not_found: 404,
  method_not_allowed: 405,
  conflict: 409,
  payload_too_large: 413,
  unsupported_media_type: 415,
  rate_limited: 429,
  internal: 500,
  unavailable: 503,
} as const;

export type ErrorCode = keyof typeof ERROR_CODES;

/** A fault of a body: its path (`steps[0].channels`, empty for the whole body) and what to do about it. */
export interface Fault {
  readonly path: string;
  readonly message: string;
}

interface AppErrorOptions {
  readonly cause?: unknown;
  readonly faults?: readonly Fault[];
  readonly retryAfterSeconds?: number;
  readonly limit?: LimitName;
}

/**
 * An expected refusal. The message is for the caller and is sent, with the name of the limit that was reached; the
 * cause is for the log and never is. Anything thrown that is not an AppError is a bug and answers 500 without its text.
 */
export class AppError extends Error {
  readonly code: ErrorCode;
  readonly faults: readonly Fault[];
  readonly retryAfterSeconds: number | undefined;
  readonly limit: LimitName | undefined;

  constructor(code: ErrorCode, message: string, options: AppErrorOptions = {}) {
    const { limit } = options;
    super(limit === undefined ? message : `${message} (limit: ${LIMIT_SETTINGS[limit].variable})`, {
      cause: options.cause,
    });
    this.name = 'AppError';
    this.code = code;
    this.faults = options.faults ?? [];
    this.retryAfterSeconds = options.retryAfterSeconds;
    this.limit = limit;
  }

  get status(): number {
    return ERROR_CODES[this.code];
  }
}

/** Limit on the faults that a check collects: more of one body are not useful. */
export const FAULTS_MAX = 50;
const FAULTS_SUMMED_UP_MAX = 10;

/** Returns the refusal of a body: one 400 that names its faults, up to the maximum. */
export function invalidInput(faults: readonly Fault[]): AppError {
  const summary = faults
    .slice(0, FAULTS_SUMMED_UP_MAX)
    .map(({ path, message }) => (path === '' ? message : `${path}: ${message}`));
  const left = faults.length - summary.length;
  if (left > 0) summary.push(faults.length < FAULTS_MAX ? `and ${left} more` : `and at least ${left} more`);
  return new AppError('invalid_input', summary.join('; '), { faults: faults.slice(0, FAULTS_MAX) });
}

/** Returns the error for an unknown id, the same if it belongs to another organization. */
export function notFound(path: string, noun: string): AppError {
  return new AppError('not_found', `no ${noun} with this ${path} in your organization`, {
    faults: [{ path, message: `names no ${noun} of your organization` }],
  });
}

/** Whether a store, or something else that we depend on, does not answer: another try may succeed. */
export function isUnavailable(error: unknown): error is AppError {
  return error instanceof AppError && error.code === 'unavailable';
}

const NOT_CONNECTED = new Set<unknown>(['ECONNREFUSED', 'ENOTFOUND', 'EAI_AGAIN', 'EHOSTUNREACH', 'ENETUNREACH']);
const CONNECTION_LOST = new Set<unknown>(['ECONNRESET', 'EPIPE', 'ETIMEDOUT']);

/** Whether the error of a socket means that there never was a connection: nothing was sent. */
export function isNotConnected(error: unknown): boolean {
  return NOT_CONNECTED.has(errorCodeOf(error));
}

/** Whether the error of a socket means that the other side cannot be reached, or is gone. */
export function isUnreachable(error: unknown): boolean {
  return isNotConnected(error) || CONNECTION_LOST.has(errorCodeOf(error));
}

const UNTRUSTED =
  /SELF_SIGNED_CERT|UNABLE_TO_VERIFY_LEAF_SIGNATURE|UNABLE_TO_GET_ISSUER_CERT|UNABLE_TO_DECRYPT_CERT_SIGNATURE|CERT_SIGNATURE_FAILURE|CERT_UNTRUSTED/;
/** Node says `UNSPECIFIED` for every fault of a certificate without a name, such as a key or signature that is too weak. */
const INVALID =
  /CERT_HAS_EXPIRED|CERT_NOT_YET_VALID|ERR_TLS_CERT_ALTNAME|HOSTNAME_MISMATCH|CERT_REVOKED|CERT_REJECTED|CERT_CHAIN_TOO_LONG|INVALID_PURPOSE|INVALID_CA|PATH_LENGTH_EXCEEDED|ERROR_IN_CERT_|UNABLE_TO_DECODE_ISSUER_PUBLIC_KEY|UNSPECIFIED/;

/**
 * Returns what is wrong with the certificate of the other side; null for any other error. Such a connection has carried
 * nothing, and another try will not mend it. Some clients keep the code of the system's error as `originalCode`.
 */
export function certificateFault(error: unknown): 'untrusted' | 'invalid' | null {
  const text = socketCodes(error);
  if (UNTRUSTED.test(text)) return 'untrusted';
  return INVALID.test(text) ? 'invalid' : null;
}

/** Whether the two sides could not agree on encryption, such as when one of them speaks without any. */
export function isEncryptionMismatch(error: unknown): boolean {
  return /ERR_SSL_|EPROTO/.test(socketCodes(error));
}

function socketCodes(error: unknown): string {
  const { originalCode, code } = error as { readonly originalCode?: unknown; readonly code?: unknown };
  return `${String(originalCode)} ${String(code)}`;
}

/** Returns why no answer came from an address outside, as the end of a sentence about it: "it cannot be reached". */
export function connectionFault(error: unknown): string {
  const { code, name } = error as { readonly code?: unknown; readonly name?: unknown };
  if (code === 'ERR_NOT_PUBLIC') return 'its address is not on the public Internet';
  if (name === 'TimeoutError' || name === 'AbortError' || code === 'ABORT_ERR') return 'it does not answer in time';
  if (code === 'ENOTFOUND' || code === 'EAI_AGAIN') return 'its name cannot be resolved';
  const certificate = certificateFault(error);
  if (certificate === 'untrusted') return 'its certificate is not signed by an authority that is trusted here';
  if (certificate === 'invalid') return 'its certificate has expired, is for another name, or is too weak';
  return 'it cannot be reached';
}

/** Returns the `code` that Node and most clients give their errors: a name of the system, or a number of the server. */
export function errorCodeOf(error: unknown): unknown {
  return typeof error === 'object' && error !== null && 'code' in error ? error.code : undefined;
}

/** Returns the text of anything thrown, for logs. */
export function messageOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}
