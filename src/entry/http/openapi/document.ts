import { type AnyAction, LIST_LIMIT } from '#actions/action_context.ts';
import { ACTION_GROUPS } from '#actions/registry.ts';
import { ACTION_BODY_BYTES_MAX } from '#entry/http/connections/body_budget.ts';
import { CONSOLE_TAGS, consolePaths } from '#entry/http/openapi/console_paths.ts';
import { ingestionSchemas, otherPaths } from '#entry/http/openapi/other_paths.ts';
import {
  componentHeaders,
  componentResponses,
  PROBLEM_SCHEMA,
  type Refused,
  refusedAs,
  refusedWhen,
} from '#entry/http/openapi/problems.ts';
import { componentSchemas, type JsonSchema, toOpenApiSchema } from '#entry/http/openapi/schemas.ts';
import { ACTIONS_PATH } from '#entry/http/rest.ts';
import { ERROR_CODES, type ErrorCode } from '#kernel/errors.ts';
import { LIMIT_SETTINGS } from '#kernel/limit_settings.ts';
import { type Permission, PERMISSIONS, type Role, ROLE_PERMISSIONS, ROLES } from '#kernel/permissions.ts';
import { keysOf } from '#kernel/records.ts';
import { LEVELS_MAX } from '#kernel/input_faults.ts';
import { DEFAULT_RETENTION_DAYS } from '#modules/capabilities/decide/capability.ts';
import { CHANNELS } from '#modules/contacts/decide/channel.ts';

export const CONTRACT_VERSION = '1.0.0';

/** Returns the OpenAPI 3.1 document: every action from the registry, and the other endpoints. */
export function openApiDocument(baseUrl: string): JsonSchema {
  return {
    openapi: '3.1.1',
    info: {
      title: 'Tocsin',
      summary: 'Monitoring, exception tracking and on-call.',
      description: INTRODUCTION.replaceAll('{base_url}', baseUrl),
      version: CONTRACT_VERSION,
      license: { name: 'MIT', identifier: 'MIT' },
    },
    servers: [{ url: baseUrl }],
    tags: [
      ...ACTION_GROUPS.map(({ heading, about }) => ({ name: heading, description: about })),
      ...CONSOLE_TAGS,
      ...OTHER_TAGS,
    ],
    paths: { ...actionPaths(), ...consolePaths(), ...otherPaths() },
    components: {
      securitySchemes: SECURITY_SCHEMES,
      schemas: { ...componentSchemas(), ...ingestionSchemas(), Problem: PROBLEM_SCHEMA },
      responses: componentResponses(),
      headers: componentHeaders(),
    },
  };
}

const OTHER_TAGS = [
  {
    name: 'Ingestion',
    description: 'How data is sent. These are not actions: they take a key that can only send data.',
  },
  { name: 'Operation', description: 'For those who run the product.' },
];

const SECURITY_SCHEMES: JsonSchema = {
  apiKey: { type: 'http', scheme: 'bearer', bearerFormat: 'tocsin_key_…', description: 'An API key.' },
  session: {
    type: 'apiKey',
    in: 'cookie',
    name: 'tocsin_session',
    description: 'The session of somebody signed in; `__Host-tocsin_session` where the base URL is https.',
  },
  metricsToken: { type: 'http', scheme: 'bearer', description: 'The value of the setting METRICS_TOKEN.' },
  ingestionKey: {
    type: 'http',
    scheme: 'bearer',
    bearerFormat: 'tocsin_ing_…',
    description: 'The ingestion key of a service, from get_service.',
  },
  alertKey: {
    type: 'http',
    scheme: 'bearer',
    description: 'The alert key of a service, from the console or the command line.',
  },
  ingestionKeyHeader: {
    type: 'apiKey',
    in: 'header',
    name: 'X-Api-Key',
    description: 'The ingestion key of a service.',
  },
  ingestionBasic: { type: 'http', scheme: 'basic', description: 'The ingestion key of a service, as the password.' },
  sentryAuth: {
    type: 'apiKey',
    in: 'header',
    name: 'X-Sentry-Auth',
    description: "`Sentry sentry_key=…`, the key being that of the service's DSN.",
  },
  sentryKey: { type: 'apiKey', in: 'query', name: 'sentry_key', description: "The key of the service's DSN." },
};

/** Returns every action as a path, in the order of the contract. */
function actionPaths(): Record<string, JsonSchema> {
  return Object.fromEntries(
    ACTION_GROUPS.flatMap(({ heading, actions }) =>
      actions.map((action) => [`${ACTIONS_PATH}/${action.name}`, { post: toOperation(action, heading) }]),
    ),
  );
}

const EFFECTS = {
  read: 'Changes nothing.',
  write: 'A change is recorded in the audit log.',
  delete: 'Cannot be undone. Recorded in the audit log.',
} as const;

const ALWAYS: readonly Refused[] = [
  'invalid_input',
  'unauthenticated',
  'forbidden',
  'payload_too_large',
  'unsupported_media_type',
  'rate_limited',
  'internal',
  'unavailable',
];

function toOperation(action: AnyAction, heading: string): JsonSchema {
  const { name, summary, permission, effect, conflict, example, exampleResult } = action;
  return {
    operationId: name,
    tags: [heading],
    summary: firstClause(summary),
    description: `${summary}\n\nPermission: \`${permission}\`. ${EFFECTS[effect]}`,
    'x-permission': permission,
    security: [{ apiKey: [] }],
    requestBody: {
      required: true,
      content: { 'application/json': { schema: toOpenApiSchema(action.input), example } },
    },
    responses: {
      '200': {
        description: 'Done.',
        headers: { 'x-request-id': { $ref: '#/components/headers/x-request-id' } },
        content: {
          'application/json': {
            schema: {
              type: 'object',
              required: ['result'],
              properties: { result: toOpenApiSchema(action.result) },
              additionalProperties: false,
            },
            example: { result: exampleResult },
          },
        },
      },
      ...refusedAs(namesThings(action) ? [...ALWAYS, 'not_found'] : ALWAYS),
      ...(conflict === undefined ? {} : refusedWhen('conflict', `Refused when ${conflict}.`)),
    },
  };
}

/** Returns the first clause: `Delete a team with its schedules` of `Delete a team with its schedules. Rules stay.` */
function firstClause(summary: string): string {
  return summary.split(/[.:;](?: |$)/)[0] ?? summary;
}

/** Whether a body can hold an id, at any depth. */
function namesThings(action: AnyAction): boolean {
  return /"\w+Ids?":/.test(JSON.stringify(action.input));
}

const MEBIBYTE = 1024 * 1024;

/** Renders the table of roles; roles with the same permissions share a row. */
function roleRows(): string {
  const byPermissions = Map.groupBy(ROLES, (role) => permissionsInWords(role));
  return [...byPermissions].map(([words, roles]) => `| ${roles.join(', ')} | ${words} |`).join('\n');
}

function permissionsInWords(role: Role): string {
  const held = ROLE_PERMISSIONS[role];
  const missing = PERMISSIONS.filter((permission) => !held.includes(permission));
  if (missing.length === 0) return 'all';
  if (missing.length === 1) return `all but ${inCode(missing)}`;
  const isView = (permission: Permission): boolean => permission.endsWith(':view');
  if (missing.some(isView)) return inCode(held);
  const others = held.filter((permission) => !isView(permission));
  return others.length === 0 ? 'every `:view`' : `every \`:view\`, and ${inCode(others)}`;
}

const inCode = (texts: readonly string[]): string => texts.map((text) => `\`${text}\``).join(', ');

/** Remarks shown beside the names of codes. */
const REMARKS: Partial<Record<ErrorCode, string>> = {
  unknown_action: 'with the nearest names',
  rate_limited: 'with `Retry-After`',
  unavailable: 'with `Retry-After`',
};

/** Codes that only the console and connected apps get. */
const OTHER_CODES: ReadonlySet<ErrorCode> = new Set([
  'insufficient_scope',
  'second_factor_required',
  'step_up_required',
]);

function errorRows(): string {
  const codes = keysOf(ERROR_CODES).filter((code) => !OTHER_CODES.has(code));
  return [...Map.groupBy(codes, (code) => ERROR_CODES[code])]
    .map(([status, same]) => {
      const named = same.map((code) => `\`${code}\`${REMARKS[code] === undefined ? '' : ` (${REMARKS[code]})`}`);
      return `| ${status} | ${named.join(', ')} |`;
    })
    .join('\n');
}

/** Introduction to the reference, in Markdown: the rules of every call. Tests in test/contract pin each sentence. */
const INTRODUCTION = `
Tocsin watches services for an organization: metrics, exceptions, and who is paged when something breaks. Every operation
is an **action**: \`POST {base_url}/api/rest/actions/{action}\` with a JSON object, answered by \`{"result": …}\`. Agents find the
same actions as tools at \`{base_url}/api/mcp\` (Model Context Protocol), with the same keys and permissions.

\`\`\`sh
curl {base_url}/api/rest/actions/list_services \\
  -H "Authorization: Bearer $TOCSIN_KEY" -H "Content-Type: application/json" -d '{}'
\`\`\`

## Keys and permissions

Send an API key as \`Authorization: Bearer <API_KEY>\`. A key of a user acts with that user's role in one organization, a key of
an organization with its own list; either may get fewer permissions when it is created. Each action names the permission it needs.

| role | permissions |
|---|---|
${roleRows()}

A lowered role, a revoked or expired key, a user who was removed: each takes effect with the next request. Ingestion keys and DSNs
only send data; they call no action, and an API key sends no data. More than ${LIMIT_SETTINGS.badKeysPerMinute.fallback} bad keys in a minute from one address are
answered 429; a good key from there is still taken.

Ingestion is bounded for each service: beyond its rate senders get 429, and while too much waits to be stored they get 503, both
with \`Retry-After\`. Points of new series beyond the limit of the day are refused one by one, and those of known series are still taken.

## Requests

- The body is a JSON object in UTF-8 of at most ${ACTION_BODY_BYTES_MAX / MEBIBYTE} MiB, not compressed, with content type \`application/json\`. An action without
  properties takes \`{}\`.
- Nothing is coerced and nothing is dropped: \`"60"\` is not \`60\`, and a property that is not listed is an error, at the top and in
  every object whose shape is given. Widgets of a dashboard are the exception: they are kept as they are given.
- \`null\` is taken only where it is listed; there it clears the field. An absent property leaves its field unchanged. An update with no change is 200,
  and leaves \`updatedAt\` and the audit log alone.
- Integers reach ±${Number.MAX_SAFE_INTEGER} and come back exactly. A name of nothing but white space is refused.
- Texts must not hold U+0000 or half of a surrogate pair, numbers must not overflow, and nothing may be nested deeper than
  ${LEVELS_MAX} levels. Of equal names in one object the last one counts.

## Answers

- Ids are opaque texts such as \`service_01k9z8e4rnf7ktv2x5m6w0abqd\`; those of one kind sort by creation.
- Times are RFC 3339 in UTC with milliseconds. A field without a value is \`null\`, not absent.
- There is no paging: a list is cut at ${LIST_LIMIT.toLocaleString('en')} rows. Its \`total\` has the full count.
- Programs should ignore properties they do not know: new ones may appear.

## Errors

Every error is a problem (RFC 9457, \`application/problem+json\`) with a \`code\` for programs, a \`detail\` for people, and the
\`requestId\`, which is in the log too. Checks come in this order: key (401), action (404), permission (403), media type and size
(415, 413), body (400: every fault at once), and then what it names (404, 409). The id of something in another organization is
answered like an unknown one. Another method than POST is 405.

| status | code |
|---|---|
${errorRows()}

## Defaults and details

- A new service has no capability enabled; retention is ${DEFAULT_RETENTION_DAYS.metrics} days for metrics,
  ${DEFAULT_RETENTION_DAYS.exceptions} for exceptions, ${DEFAULT_RETENTION_DAYS.oncall} for resolved incidents.
- A new member has all channels on (${CHANNELS.join(', ')}) and is added after the last one. A user joins a team once (409).
- A schedule without \`timezone\` is in UTC, without \`rotationType\` weekly, without \`rotationConfig\` empty (nobody is on call), without
  \`startAt\` begins now. \`shiftHours\` below 1 has no effect.
- \`startAt\` and \`endAt\` are RFC 3339, a local date and time in the schedule's time zone, or epoch milliseconds.
- update_escalation_policy takes an empty list of steps: such a policy pages nobody.
- Deleting a policy, or its team, leaves its alert rules without one; their \`updatedAt\` moves.
- An alert rule is enabled unless it says otherwise. Its \`status\` is \`disabled\` when it is switched off, even if a capability is
  missing too. \`config\` is checked by the rule's kind, and replaced as a whole.
- Acknowledging, resolving or enabling something a second time is answered with 200 and changes nothing.
`.trim();
