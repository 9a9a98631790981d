import { Type } from 'typebox';

import { defineAction } from '#actions/action_context.ts';
import { STRICT, Name, nullable } from '#actions/fields.ts';
import { makeApiKey } from '#modules/api_keys/operations/add_api_key.ts';
import { KeyKind, NewApiKeyView, PermissionName } from '#modules/api_keys/operations/view.ts';
import { callerUser } from '#modules/accounts/caller_user.ts';
import { parseInstant } from '#modules/schedules/decide/parse_instant.ts';
import { unwrap } from '#modules/contacts/decide/parsed.ts';
import { AppError, invalidInput } from '#kernel/errors.ts';
import { PERMISSIONS } from '#kernel/permissions.ts';
import { isAtOrBefore, type Temporal } from '#kernel/time.ts';

export const createApiKey = defineAction({
  name: 'create_api_key',
  consoleOnly: true,
  stepUp: true,
  summary:
    'Create an API key of your own, at most with your own permissions, or one of the organization, which owners and admins may. The secret is shown this once.',
  permission: 'organization:view',
  effect: 'write',
  input: Type.Object(
    {
      name: Name,
      kind: KeyKind,
      permissions: nullable(Type.Array(PermissionName, { maxItems: PERMISSIONS.length })),
      expiresAt: nullable(Type.String({ description: 'RFC 3339, in the future' })),
    },
    STRICT,
  ),
  result: NewApiKeyView,
  example: { name: 'CI', kind: 'user', permissions: ['services:view'], expiresAt: null },
  async handle({ name, kind, permissions, expiresAt }, context) {
    const { caller, now, record } = context;
    if (kind === 'organization' && !caller.permissions.has('organization:manage')) {
      throw new AppError('forbidden', 'keys of the organization are for owners and admins');
    }
    const lacking = (permissions ?? []).filter((permission) => !caller.permissions.has(permission));
    if (lacking.length > 0) {
      throw new AppError('forbidden', `a key cannot have a permission that you lack: ${lacking.join(', ')}`);
    }
    const createdBy = callerUser(caller);
    const { view, change } = await makeApiKey(context, {
      orgId: caller.orgId,
      userId: kind === 'user' ? createdBy : null,
      name,
      permissions,
      expiresAt: expiresAt === null ? null : requireFuture(expiresAt, now),
      createdBy,
    });
    record(change);
    return view;
  },
});

function requireFuture(text: string, now: Temporal.Instant): Temporal.Instant {
  const at = unwrap(parseInstant(text, 'UTC', 'expiresAt'));
  if (isAtOrBefore(at, now)) throw invalidInput([{ path: 'expiresAt', message: 'must be in the future' }]);
  return at;
}
