import type { AnyAction } from '#actions/action_context.ts';
import { idSourceOf } from '#actions/id_sources.ts';
import type { AppError } from '#kernel/errors.ts';

/** Returns what an agent can do about a refusal, in a sentence or two. */
export function nextStepAfter(error: AppError, action: AnyAction): string {
  switch (error.code) {
    case 'invalid_input':
      return `Correct the arguments that are named and call ${action.name} again.`;
    case 'forbidden':
    case 'insufficient_scope':
      return `Do not repeat the call. Ask somebody who manages the organization for ${action.permission}, or use another tool.`;
    case 'not_found':
      return afterNotFound(error);
    case 'conflict':
      return action.conflictHint ?? 'Read the present state and decide again.';
    case 'unavailable':
    case 'rate_limited':
      return `Nothing was changed. Call again in ${error.retryAfterSeconds ?? 1} s.`;
    case 'internal':
      return 'Do not repeat the call as it is. Report the request id to the operator of Tocsin.';
    case 'second_factor_required':
    case 'step_up_required':
    case 'unauthenticated':
    case 'unknown_action':
    case 'method_not_allowed':
    case 'payload_too_large':
    case 'unsupported_media_type':
      return 'Correct the request and call again.';
  }
}

/** Names the tools that list ids of the kinds that were not found; `steps[0].targetUserIds[1]` is a userId. */
function afterNotFound({ faults }: AppError): string {
  const names = faults.map(({ path }) => nameOfId(path));
  const tools = new Set(names.flatMap((name) => idSourceOf(name)?.shownBy ?? []));
  const sentences = [...tools].map((tool) => `${tool} shows the ids that there are.`);
  return [...sentences, 'What is named may have been deleted.'].join(' ');
}

function nameOfId(path: string): string {
  const property =
    path
      .replaceAll(/\[\d+\]/g, '')
      .split('.')
      .at(-1) ?? '';
  return /userIds?$/i.test(property) ? 'userId' : property;
}
