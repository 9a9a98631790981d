import { type TObject, type TSchema, Type } from 'typebox';

import type { AnyAccountOperation, AnyConsoleOperation } from '#actions/action_context.ts';
import { ACCOUNT_OPERATIONS, CONSOLE_OPERATIONS } from '#actions/registry.ts';
import { READS_INPUT } from '#actions/run_reads.ts';
import { LIVE_TOPICS } from '#modules/pages/decide/live_topics.ts';
import { CONSOLE_PATH } from '#entry/http/console.ts';
import { routeOf, takesBody } from '#entry/http/console/account_operations.ts';
import { EVENTS_PATH } from '#entry/http/console/events.ts';
import { READS_PATH } from '#entry/http/console/organization_operations.ts';
import { type Refused, refusedAs, refusedWhen } from '#entry/http/openapi/problems.ts';
import { type JsonSchema, toOpenApiSchema } from '#entry/http/openapi/schemas.ts';

const TAGS = {
  'Signing in': 'How people come into the console. A change must come with the header `Origin` of this server.',
  'Own account': 'What people change for themselves in the console, signed in by its cookie.',
  Organizations:
    'What the console needs beside the actions: members, keys, the audit log, billing. These are no actions.',
} as const;

export const CONSOLE_TAGS = Object.entries(TAGS).map(([name, description]) => ({ name, description }));

const WHO = {
  anyone: 'No sign-in needed.',
  signed_in: 'For everyone who is signed in.',
  member: 'For members of the organization; 404 to others.',
  manager: 'For owners and admins of the organization; 403 to other members, 404 to others.',
} as const;

/** Description of an operation in the reference. */
interface Described {
  readonly name: string;
  readonly summary: string;
  readonly tag: keyof typeof TAGS;
  readonly who: keyof typeof WHO;
  readonly method: string;
  /** Path with parameters as `:name`. */
  readonly path: string;
  /** Body without the parameters of the path; null if there is none. */
  readonly body: JsonSchema | null;
  readonly query?: JsonSchema | undefined;
  readonly status?: number | undefined;
  /** Schema of the result; null if it is streamed, as one of the media types in `sends`. */
  readonly result: TSchema | null;
  readonly sends?: readonly string[] | undefined;
  readonly refusals?: readonly Refused[] | undefined;
}

/** Endpoints other than single operations: any action, several reads at once, and the stream of changes. */
const OTHERS: readonly Described[] = [
  {
    name: 'invoke_action',
    summary: 'Invoke any action, or an operation of the console, as yourself and with your role in the organization.',
    tag: 'Organizations',
    who: 'member',
    method: 'post',
    path: '/organizations/:org/actions/:action',
    body: {},
    result: { description: 'as the action has it' },
    refusals: ['conflict'],
  },
  {
    name: 'read_together',
    summary:
      'Run several actions or operations that only read, each with your role as if it were asked for by itself; ' +
      'the answers are in the same order, each a result or a problem.',
    tag: 'Organizations',
    who: 'member',
    method: 'post',
    path: READS_PATH,
    body: toOpenApiSchema(READS_INPUT),
    result: Type.Object({ answers: Type.Array(Type.Unknown({ description: 'its result or its problem' })) }),
    refusals: ['rate_limited'],
  },
  {
    name: 'listen_to_changes',
    summary:
      'Listen to changes, as server-sent events: event `change` with the data `{"topic": ' +
      LIVE_TOPICS.map((topic) => `"${topic}"`).join(' | ') +
      ', "ids": ["…"] | null}`, null where there is too much to name. Ends when the session or the membership does.',
    tag: 'Organizations',
    who: 'member',
    method: 'get',
    path: EVENTS_PATH,
    body: null,
    query: {
      type: 'object',
      properties: {
        shownForMs: {
          type: 'integer',
          minimum: 0,
          description: 'How long ago the data of the page was read. The stream begins with what has changed since.',
        },
      },
    },
    result: null,
    sends: ['text/event-stream'],
    refusals: ['rate_limited'],
  },
];

/** Returns the 275 operations of the console as paths; all but three of them are made of their declarations. */
export function consolePaths(): Record<string, JsonSchema> {
  const described = [...ACCOUNT_OPERATIONS.map(ofAccount), ...OTHERS, ...CONSOLE_OPERATIONS.map(ofOrganization)];
  const byPath = Map.groupBy(described, ({ path }) => path);
  return Object.fromEntries(
    [...byPath].map(([path, ofPath]) => [
      `${CONSOLE_PATH}${path.replaceAll(/:(\w+)/g, '{$1}')}`,
      Object.fromEntries(ofPath.map((operation) => [operation.method, toOperation(operation)])),
    ]),
  );
}

function ofAccount(operation: AnyAccountOperation): Described {
  const { method, path } = routeOf(operation);
  const body = withoutProperties(operation.input, parameterNames(path));
  return {
    ...operation,
    tag: operation.scope === 'anyone' || path.startsWith('/session') ? 'Signing in' : 'Own account',
    who: operation.scope,
    method: method.toLowerCase(),
    path,
    body: takesBody(method) ? body : null,
    refusals: refusalsOf(operation),
  };
}

function ofOrganization(operation: AnyConsoleOperation): Described {
  const { name, summary, permission, input, sends } = operation;
  const schema = toOpenApiSchema(input);
  return {
    ...operation,
    summary: permission.startsWith('organization:') ? summary : `${summary} Permission: \`${permission}\`.`,
    tag: 'Organizations',
    who: permission === 'organization:manage' ? 'manager' : 'member',
    method: sends === undefined ? 'post' : 'get',
    path: `/organizations/:org/actions/${name}`,
    body: sends === undefined ? schema : null,
    query: sends === undefined ? undefined : schema,
    result: sends === undefined ? operation.result : null,
    refusals: refusalsOf(operation),
  };
}

function refusalsOf({ conflict, refusals = [] }: AnyAccountOperation | AnyConsoleOperation): Refused[] {
  return [...refusals, ...(conflict === undefined ? [] : (['conflict'] as const))];
}

function toOperation(described: Described): JsonSchema {
  const { name, tag, summary, who, body, status = 200 } = described;
  return {
    operationId: `console_${name}`,
    tags: [tag],
    summary: firstClause(summary),
    description: `${summary}\n\n${WHO[who]}`,
    security: who === 'anyone' ? [] : [{ session: [] }],
    ...parametersOf(described),
    ...(body === null ? {} : { requestBody: { required: true, content: { 'application/json': { schema: body } } } }),
    responses: { [status]: answerOf(described), ...refusedBy(described) },
  };
}

function parametersOf({ path, query }: Described): JsonSchema {
  const inPath = parameterNames(path).map((name) => {
    return { name, in: 'path', required: true, schema: { type: 'string' } };
  });
  const { properties = {}, required = [] } = (query ?? {}) as { properties?: object; required?: readonly string[] };
  const inQuery = Object.entries(properties).map(([name, schema]) => {
    return { name, in: 'query', required: required.includes(name), schema: schema as JsonSchema };
  });
  const parameters = [...inPath, ...inQuery];
  return parameters.length === 0 ? {} : { parameters };
}

function parameterNames(path: string): string[] {
  return [...path.matchAll(/:(\w+)/g)].map(([, name]) => name ?? '');
}

function withoutProperties(input: TObject, names: readonly string[]): JsonSchema {
  const { properties, required, ...rest } = toOpenApiSchema(input) as {
    properties: Readonly<Record<string, JsonSchema>>;
    required?: readonly string[];
  };
  const left = required?.filter((name) => !names.includes(name)) ?? [];
  return {
    ...rest,
    properties: Object.fromEntries(Object.entries(properties).filter(([name]) => !names.includes(name))),
    ...(left.length === 0 ? {} : { required: left }),
  };
}

function answerOf({ result, sends = [] }: Described): JsonSchema {
  if (result === null) {
    const content = Object.fromEntries(sends.map((mediaType) => [mediaType, { schema: { type: 'string' } }]));
    return { description: 'Sent bit by bit.', content };
  }
  const schema = {
    type: 'object',
    required: ['result'],
    properties: { result: toOpenApiSchema(result) },
    additionalProperties: false,
  };
  return { description: 'Done.', content: { 'application/json': { schema } } };
}

const CONFLICT = 'The state of what is named does not allow it: `detail` says why.';

function refusedBy({ who, method, body, refusals = [] }: Described): JsonSchema {
  const codes = new Set<Refused>([
    'invalid_input',
    ...(who === 'anyone' ? [] : (['unauthenticated'] as const)),
    ...(method !== 'get' || who === 'manager' ? (['forbidden'] as const) : []),
    ...(who === 'member' || who === 'manager' ? (['not_found'] as const) : []),
    ...(body === null ? [] : (['payload_too_large', 'unsupported_media_type'] as const)),
    'internal',
    'unavailable',
    ...refusals,
  ]);
  const hasConflict = codes.delete('conflict');
  return { ...refusedAs([...codes]), ...(hasConflict ? refusedWhen('conflict', CONFLICT) : {}) };
}

/** Returns the first clause: `End a session` of `End a session: it is refused.` */
function firstClause(summary: string): string {
  return summary.split(/[.:;,](?: |$)/)[0] ?? summary;
}
