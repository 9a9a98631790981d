import { API_PATHS } from '#kernel/api_paths.ts';

/** Where this installation lives: the address of the page's `<base>`, with a slash at its end. */
export const BASE = new URL(document.baseURI);

/** An address below the base, for links that leave the application. */
export function addressOf(path: string): string {
  return new URL(path.replace(/^\/+/, ''), BASE).href;
}

/** What was refused, and why, in words for the person who asked. */
export class ApiError extends Error {
  readonly status: number;
  readonly code: string;
  /** Path of the field and what is wrong with it. */
  readonly faults: readonly { readonly path: string; readonly message: string }[];
  readonly requestId: string | null;
  readonly retryAfterSeconds: number | null;

  constructor(
    fields: Pick<ApiError, 'status' | 'code' | 'message'> &
      Partial<Pick<ApiError, 'faults' | 'requestId' | 'retryAfterSeconds'>>,
  ) {
    super(fields.message);
    this.name = 'Problem';
    this.status = fields.status;
    this.code = fields.code;
    this.faults = fields.faults ?? [];
    this.requestId = fields.requestId ?? null;
    this.retryAfterSeconds = fields.retryAfterSeconds ?? null;
  }

  /** No answer came at all, or one that says to come back later. */
  get isOutage(): boolean {
    return this.status === 0 || this.status >= 502;
  }
}

export function isApiError(error: unknown, status?: number): error is ApiError {
  return error instanceof ApiError && (status === undefined || error.status === status);
}

interface Asked {
  readonly method?: 'GET' | 'POST' | 'PATCH' | 'DELETE';
  readonly body?: unknown;
  readonly signal?: AbortSignal | undefined;
}

const TIMEOUT_MS = 20_000;

/** Asks the person for the second factor; resolves to whether it was shown. */
type StepUp = () => Promise<boolean>;

let stepUp: StepUp | null = null;

/** How the second factor is asked for when the server wants to see it again. */
export function setStepUp(handler: StepUp | null): void {
  stepUp = handler;
}

/**
 * Asks `/api/console/…` and returns its result. Where the server wants the second factor first, the person is asked for
 * it, and the request is sent again. Throws a Problem for everything else.
 */
export async function ask<Result>(path: string, asked: Asked = {}): Promise<Result> {
  try {
    return await sendRequest<Result>(path, asked);
  } catch (error) {
    if (!(error instanceof ApiError) || error.code !== 'step_up_required' || stepUp === null) throw error;
    if (!(await stepUp())) throw error;
    return await sendRequest<Result>(path, asked);
  }
}

async function sendRequest<Result>(path: string, { method = 'GET', body, signal }: Asked): Promise<Result> {
  const timeout = AbortSignal.timeout(TIMEOUT_MS);
  const response = await fetch(addressOf(`${API_PATHS.console}/${path}`), {
    method,
    credentials: 'same-origin',
    headers: { accept: 'application/json', ...(body === undefined ? {} : { 'content-type': 'application/json' }) },
    ...(body === undefined ? {} : { body: JSON.stringify(body) }),
    signal: signal === undefined ? timeout : AbortSignal.any([signal, timeout]),
  }).catch((cause: unknown) => {
    if (signal?.aborted) throw cause;
    throw silence();
  });
  noteServerTime(response);
  const answer: unknown = await response.json().catch(() => null);
  if (response.ok && isRecord(answer) && 'result' in answer) return answer['result'] as Result;
  throw toApiError(response, answer);
}

function silence(): ApiError {
  const message = navigator.onLine ? 'The server did not answer. It may be restarting.' : 'This device is offline.';
  return new ApiError({ status: 0, code: 'unreachable', message });
}

function toApiError(response: Response, answer: unknown): ApiError {
  const fields = isRecord(answer) ? answer : {};
  const text = (name: string) => (typeof fields[name] === 'string' ? fields[name] : null);
  const retryAfter = Number(response.headers.get('retry-after') ?? Number.NaN);
  return new ApiError({
    status: response.status,
    code: text('code') ?? 'unknown',
    message: sentence(text('detail') ?? `The server answered with ${response.status}.`),
    faults: Array.isArray(fields['errors']) ? (fields['errors'] as ApiError['faults']) : [],
    requestId: text('requestId'),
    retryAfterSeconds: Number.isFinite(retryAfter) ? retryAfter : null,
  });
}

/** Details are halves of sentences for logs; people get whole ones. */
function sentence(text: string): string {
  const capital = text.charAt(0).toUpperCase() + text.slice(1);
  return /[.!?]$/.test(capital) ? capital : `${capital}.`;
}

function isRecord(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

/** Clocks of devices that are this close to the server's are left as they are: its header knows seconds only. */
const SKEW_MS_MIN = 3_000;

let skewMs = 0;

function noteServerTime(response: Response): void {
  const server = Date.parse(response.headers.get('date') ?? '');
  if (Number.isNaN(server)) return;
  const difference = server - Date.now();
  skewMs = Math.abs(difference) < SKEW_MS_MIN ? 0 : difference;
}

/** What the server's clock says, for countdowns on a device whose clock is wrong. */
export function serverNow(): number {
  return Date.now() + skewMs;
}
