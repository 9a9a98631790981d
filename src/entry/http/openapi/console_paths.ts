import type { TObject } from 'typebox';

import type { AnyConsoleOperation } from '#actions/action_context.ts';
import { CONSOLE_OPERATIONS } from '#actions/registry.ts';
import { CONSOLE_PATH } from '#entry/http/console.ts';
import { CONSOLE_ROUTES } from '#entry/http/console/registry.ts';
import type { ConsoleRoute } from '#entry/http/console/route.ts';
import { type Refused, refusedAs, refusedWhen } from '#entry/http/openapi/problems.ts';
import { type JsonSchema, toOpenApiSchema } from '#entry/http/openapi/schemas.ts';

const TAGS: Record<ConsoleRoute['tag'], string> = {
  'Signing in': 'How people come into the console. A change must come with the header `Origin` of this server.',
  'Own account': 'What people change for themselves in the console, signed in by its cookie.',
  Organizations:
    'What the console needs beside the actions: members, keys, the audit log, billing. These are no actions.',
  'Connected apps': 'Apps that act for people over MCP: approving one, listing and disconnecting them.',
};

export const CONSOLE_TAGS = Object.entries(TAGS).map(([name, description]) => ({ name, description }));

const WHO: Record<ConsoleRoute['access'], string> = {
  anyone: 'Nobody needs to be signed in.',
  signed_in: 'For whoever is signed in.',
  member: 'For members of the organization; 404 to others.',
  manager: 'For owners and admins of the organization; 403 to other members, 404 to others.',
};

/** Every route of the console as a path, and each of its operations as one. */
export function consolePaths(): Record<string, JsonSchema> {
  const byPath = Map.groupBy(CONSOLE_ROUTES, ({ path }) => path);
  const routes = [...byPath].map(([path, ofPath]) => [
    `${CONSOLE_PATH}${path.replaceAll(/:(\w+)/g, '{$1}')}`,
    Object.fromEntries(ofPath.map((route) => [route.method.toLowerCase(), toOperation(route)])),
  ]);
  const operations = CONSOLE_OPERATIONS.map((operation) => [
    `${CONSOLE_PATH}/organizations/{org}/actions/${operation.name}`,
    { post: toOperation(routeOf(operation)) },
  ]);
  return Object.fromEntries([...routes, ...operations]);
}

/** How an operation of the console would be declared as a route. */
function routeOf({ name, summary, permission, input, result, conflict }: AnyConsoleOperation): DescribedRoute {
  return {
    name,
    method: 'POST',
    path: '/organizations/:org/actions',
    tag: 'Organizations',
    summary: permission.startsWith('organization:') ? summary : `${summary} Permission: \`${permission}\`.`,
    access: permission === 'organization:manage' ? 'manager' : 'member',
    body: input,
    result,
    ...(conflict === undefined ? {} : { refusals: ['conflict'] }),
  };
}

type DescribedRoute = Omit<ConsoleRoute, 'check' | 'handle'>;

function toOperation(route: DescribedRoute): JsonSchema {
  const { name, tag, summary, access, body, takesAnyBody } = route;
  const schema = body === undefined ? {} : toOpenApiSchema(body);
  const hasBody = body !== undefined || takesAnyBody === true;
  return {
    operationId: `console_${name}`,
    tags: [tag],
    summary: firstClause(summary),
    description: `${summary}\n\n${WHO[access]}`,
    security: access === 'anyone' ? [] : [{ session: [] }],
    ...parametersOf(route),
    ...(hasBody ? { requestBody: { required: true, content: { 'application/json': { schema } } } } : {}),
    responses: { [route.status ?? 200]: answerOf(route), ...refusalsOf(route) },
  };
}

function parametersOf({ path, query }: DescribedRoute): JsonSchema {
  const inPath = [...path.matchAll(/:(\w+)/g)].map(([, name]) => {
    return { name, in: 'path', required: true, schema: { type: 'string' } };
  });
  const parameters = [...inPath, ...queryParametersOf(query)];
  return parameters.length === 0 ? {} : { parameters };
}

function queryParametersOf(query: TObject | undefined) {
  return Object.entries(query?.properties ?? {}).map(([name, schema]) => {
    const isRequired = query?.required?.includes(name) === true;
    return { name, in: 'query', required: isRequired, schema: toOpenApiSchema(schema) };
  });
}

function answerOf({ result, sends = [] }: DescribedRoute): JsonSchema {
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

function refusalsOf({ access, method, path, body, takesAnyBody, refusals = [] }: DescribedRoute): JsonSchema {
  const takesBody = body !== undefined || takesAnyBody === true;
  const codes = new Set<Refused>([
    'invalid_input',
    ...(access === 'anyone' ? [] : (['unauthenticated'] as const)),
    ...(method !== 'GET' || access === 'manager' ? (['forbidden'] as const) : []),
    ...(path.includes(':org') ? (['not_found'] as const) : []),
    ...(takesBody ? (['payload_too_large', 'unsupported_media_type'] as const) : []),
    'internal',
    'unavailable',
    ...refusals,
  ]);
  const hasConflict = codes.delete('conflict');
  return { ...refusedAs([...codes]), ...(hasConflict ? refusedWhen('conflict', CONFLICT) : {}) };
}

/** `End a session: it is refused.` is told in a list as `End a session`. */
function firstClause(summary: string): string {
  return summary.split(/[.:;,](?: |$)/)[0] ?? summary;
}
