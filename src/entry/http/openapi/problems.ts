import { STATUS_CODES } from 'node:http';

import { componentName, type JsonSchema } from '#entry/http/openapi/schemas.ts';
import { ERROR_CODES, type ErrorCode, type Fault } from '#kernel/errors.ts';

/** Documentation of an error in the reference: when it occurs, and an example. */
interface Refusal {
  readonly when: string;
  readonly detail: string;
  readonly errors?: readonly Fault[];
  readonly headers?: readonly string[];
}

const HEADERS: Readonly<Record<string, JsonSchema>> = {
  'x-request-id': {
    description: 'The id of this request, as in the log of the server.',
    schema: { type: 'string' },
    example: 'req_01kdwm4c3d4e5f6g7h8j9k0mnp',
  },
  'www-authenticate': {
    description: 'How to authenticate (RFC 9110).',
    schema: { type: 'string' },
    example: 'Bearer realm="tocsin"',
  },
  'retry-after': {
    description: 'Seconds after which it is worth trying again.',
    schema: { type: 'integer', minimum: 0 },
    example: 42,
  },
};

/** Refusals that a documented call can meet, by code. */
const REFUSALS = {
  invalid_input: {
    when: 'The body is not JSON, or not what is asked: `errors` names every fault of it, each with its path.',
    detail: 'name: is required; retentionDays: must be an integer from 1 to 400; found "60"',
    errors: [
      { path: 'name', message: 'is required' },
      { path: 'retentionDays', message: 'must be an integer from 1 to 400; found "60"' },
    ],
  },
  unauthenticated: {
    when: 'The credential is missing, unknown, revoked or expired.',
    detail: 'this API key is unknown, revoked or expired',
    headers: ['www-authenticate'],
  },
  forbidden: {
    when: 'The credential does not allow this: `detail` names what is missing. Refused changes are audited.',
    detail: 'create_service needs the permission services:edit, which this key does not have',
  },
  not_found: {
    when: 'An id names nothing in the organization of the caller; `errors` tells which. The id of another organization gets the same answer.',
    detail: 'no service with this serviceId in your organization',
    errors: [{ path: 'serviceId', message: 'names no service of your organization' }],
  },
  conflict: {
    when: 'The state of what is named does not allow it.',
    detail: 'this incident is resolved already; a new breach will open a new one',
  },
  payload_too_large: { when: 'The body is too large.', detail: 'the body is larger than this address takes' },
  unsupported_media_type: {
    when: 'The body has another media type.',
    detail: 'send the body as content-type: application/json',
  },
  rate_limited: {
    when: 'Too many bad keys came from this address. A good key is still taken.',
    detail: 'too many invalid keys from this address; valid keys are still accepted',
    headers: ['retry-after'],
  },
  internal: {
    when: 'An internal error. Nothing was changed.',
    detail: 'something went wrong on our side; the request id is in our log',
  },
  unavailable: {
    when: 'A store does not answer. Nothing was changed.',
    detail: 'the database does not answer; nothing was changed, try again shortly',
    headers: ['retry-after'],
  },
} satisfies Partial<Record<ErrorCode, Refusal>>;

export type Refused = keyof typeof REFUSALS;

export const PROBLEM_SCHEMA: JsonSchema = {
  type: 'object',
  description: 'The body of every error (RFC 9457).',
  required: ['type', 'title', 'status', 'detail', 'code', 'requestId'],
  properties: {
    type: { type: 'string', description: 'always `about:blank`; see the status and the code' },
    title: { type: 'string', description: 'the name of the status' },
    status: { type: 'integer' },
    detail: { type: 'string', description: 'a sentence for people' },
    code: { type: 'string', enum: Object.keys(ERROR_CODES), description: 'for programs' },
    requestId: { type: 'string' },
    limit: { type: 'string', description: 'the setting of the limit that was reached, such as `CALLS_PER_MINUTE`' },
    errors: {
      type: 'array',
      description: 'every fault of the body, or every id in it that names nothing',
      items: {
        type: 'object',
        required: ['path', 'message'],
        properties: {
          path: { type: 'string', description: 'such as `steps[0].channels`; empty for the body itself' },
          message: { type: 'string', description: 'what was found and what is allowed' },
        },
      },
    },
  },
};

export function componentHeaders(): Readonly<Record<string, JsonSchema>> {
  return HEADERS;
}

/** Returns the responses of all refusals but conflicts, which are documented with each operation. */
export function componentResponses(): Record<string, JsonSchema> {
  const { conflict: _told, ...shared } = REFUSALS;
  return Object.fromEntries(
    Object.entries(shared).map(([code, refusal]) => [componentName(code), toResponse(code as Refused, refusal)]),
  );
}

/** Returns the responses of an operation that may be refused in these ways. */
export function refusedAs(codes: readonly Refused[]): Record<string, JsonSchema> {
  return Object.fromEntries(
    codes.map((code) => [String(ERROR_CODES[code]), { $ref: `#/components/responses/${componentName(code)}` }]),
  );
}

/** Documents a refusal like `refusedAs`, with its own sentence on when it occurs, and its own detail if given. */
export function refusedWhen(code: Refused, when: string, detail?: string): Record<string, JsonSchema> {
  const refusal: Refusal = detail === undefined ? { ...REFUSALS[code], when } : { when, detail };
  return { [String(ERROR_CODES[code])]: toResponse(code, refusal) };
}

function toResponse(code: Refused, refusal: Refusal): JsonSchema {
  const { when, detail, errors, headers = [] } = refusal;
  const status = ERROR_CODES[code];
  const requestId = HEADERS['x-request-id']?.['example'];
  const title = STATUS_CODES[status];
  return {
    description: when,
    headers: Object.fromEntries(
      ['x-request-id', ...headers].map((name) => [name, { $ref: `#/components/headers/${name}` }]),
    ),
    content: {
      'application/problem+json': {
        schema: { $ref: '#/components/schemas/Problem' },
        example: { type: 'about:blank', title, status, detail, code, requestId, ...(errors && { errors }) },
      },
    },
  };
}
