import type { AnyAction } from '#actions/action_context.ts';
import { ACTION_GROUPS } from '#actions/registry.ts';
import { type Refused, refusedAs, refusedWhen } from '#entry/http/openapi/problems.ts';
import { type JsonSchema, toOpenApiSchema } from '#entry/http/openapi/schemas.ts';
import { ACTIONS_PATH } from '#entry/http/rest.ts';

/** Returns every action as a path, in the order of the contract. */
export function actionPaths(): Record<string, JsonSchema> {
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
