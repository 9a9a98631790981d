import { API_PATHS } from '#kernel/api_paths.ts';

/** Base address of this installation, from the page's `<base>`. It ends with a slash. */
export const BASE = new URL(document.baseURI);

/** Returns an address below the base, whatever the path contains, for links that leave the application. */
export function addressOf(path: string): string {
  return new URL(`./${path.replace(/^\/+/, '')}`, BASE).href;
}

/** Error answer of the server, with a message for the person. */
export class ApiError extends Error {
  readonly status: number;
  readonly code: string;
  /** The faulty fields, each with its path and a message. */
  readonly faults: readonly { readonly path: string; readonly message: string }[];
  readonly requestId: string | null;
  readonly retryAfterSeconds: number | null;

  constructor(
    fields: Pick<ApiError, 'status' | 'code' | 'message'> &
      Partial<Pick<ApiError, 'faults' | 'requestId' | 'retryAfterSeconds'>>,
  ) {
    super(fields.message);
    this.name = 'ApiError';
    this.status = fields.status;
    this.code = fields.code;
    this.faults = fields.faults ?? [];
    this.requestId = fields.requestId ?? null;
    this.retryAfterSeconds = fields.retryAfterSeconds ?? null;
  }

  /** Whether the server could not be reached or is temporarily unavailable. */
  get isOutage(): boolean {
    return this.status === 0 || this.status >= 502;
  }
}

export function isApiError(error: unknown, status?: number): error is ApiError {
  return error instanceof ApiError && (status === undefined || error.status === status);
}

interface RequestOptions {
  readonly method?: 'GET' | 'POST' | 'PATCH' | 'DELETE';
  readonly body?: unknown;
  readonly signal?: AbortSignal | undefined;
}

const TIMEOUT_MS = 20_000;

/** Asks the person for the second factor. Resolves to whether they confirmed it. */
type StepUp = () => Promise<boolean>;

let stepUp: StepUp | null = null;

/** Sets the handler that asks for the second factor when the server requires it again. */
export function setStepUp(handler: StepUp | null): void {
  stepUp = handler;
}

/**
 * Requests `/api/console/…` and returns the result. When the server requires the second factor, it asks the person and
 * repeats the request. Throws an ApiError for every other error.
 */
export async function ask<Result>(path: string, options: RequestOptions = {}): Promise<Result> {
  try {
    return await sendRequest<Result>(path, options);
  } catch (error) {
    if (!(error instanceof ApiError) || error.code !== 'step_up_required' || stepUp === null) throw error;
    if (!(await stepUp())) throw error;
    return await sendRequest<Result>(path, options);
  }
}

async function sendRequest<Result>(path: string, { method = 'GET', body, signal }: RequestOptions): Promise<Result> {
  const timeout = AbortSignal.timeout(TIMEOUT_MS);
  const response = await fetch(addressOf(`${API_PATHS.console}/${path}`), {
    method,
    credentials: 'same-origin',
    headers: { accept: 'application/json', ...(body === undefined ? {} : { 'content-type': 'application/json' }) },
    ...(body === undefined ? {} : { body: JSON.stringify(body) }),
    signal: signal === undefined ? timeout : AbortSignal.any([signal, timeout]),
  }).catch((cause: unknown) => {
    if (signal?.aborted) throw cause;
    throw unreachableError();
  });
  recordServerTime(response);
  const answer: unknown = await response.json().catch(() => null);
  if (response.ok) {
    if (isRecord(answer) && 'result' in answer) return answer['result'] as Result;
    // The connection was lost after the headers, or the network asks for a sign-in of its own.
    signal?.throwIfAborted();
    throw unreachableError();
  }
  throw toApiError(answer, response.status, Number(response.headers.get('retry-after') ?? Number.NaN));
}

function unreachableError(): ApiError {
  const message = navigator.onLine ? 'The server did not answer. It may be restarting.' : 'This device is offline.';
  return new ApiError({ status: 0, code: 'unreachable', message });
}

export function toApiError(problem: unknown, answered: number, retryAfter = Number.NaN): ApiError {
  const fields = isRecord(problem) ? problem : {};
  const text = (name: string) => (typeof fields[name] === 'string' ? fields[name] : null);
  return new ApiError({
    status: answered,
    code: text('code') ?? 'unknown',
    message: sentence(text('detail') ?? `The server answered with ${answered}.`),
    faults: Array.isArray(fields['errors']) ? (fields['errors'] as ApiError['faults']) : [],
    requestId: text('requestId'),
    retryAfterSeconds: Number.isFinite(retryAfter) ? retryAfter : null,
  });
}

/** Makes a sentence of a detail, which the server sends without a capital or a full stop. */
function sentence(text: string): string {
  const capital = text.charAt(0).toUpperCase() + text.slice(1);
  return /[.!?]$/.test(capital) ? capital : `${capital}.`;
}

function isRecord(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

/** Smallest clock difference to the server that counts, because its header has a resolution of one second. */
const SKEW_MS_MIN = 3_000;

let skewMs = 0;

function recordServerTime(response: Response): void {
  serverTimeWas(Date.parse(response.headers.get('date') ?? ''), Date.now());
}

/** Notes the server's time, `server`, at the time `here` of this device's clock. */
export function serverTimeWas(server: number, here: number): void {
  if (Number.isNaN(server)) return;
  const difference = server - here;
  skewMs = Math.abs(difference) < SKEW_MS_MIN ? 0 : difference;
}

/** Returns the time of the server's clock, for countdowns on a device whose clock is wrong. */
export function serverNow(): number {
  return Date.now() + skewMs;
}
