import { Type } from 'typebox';

import { defineAction } from '#actions/action_context.ts';
import { STRICT } from '#actions/fields.ts';
import { AppError } from '#kernel/errors.ts';
import { DomainField, readDomain } from '#modules/sign_in/operations/domain_fields.ts';
import { requireOwner } from '#modules/sign_in/require_owner.ts';

export const removeSignInDomain = defineAction({
  name: 'remove_sign_in_domain',
  consoleOnly: true,
  stepUp: true,
  summary: 'Remove a mail domain: its people sign in through the provider no more. Only owners may.',
  permission: 'organization:manage',
  effect: 'delete',
  input: Type.Object({ domain: DomainField }, STRICT),
  result: Type.Object({ deleted: Type.Literal(true), domain: Type.String() }),
  example: { domain: 'example.com' },
  async handle(input, context) {
    const { caller, stores, record } = context;
    const domain = readDomain(input.domain);
    await requireOwner(context);
    if (!(await stores.openId.removeDomain(caller.orgId, domain))) {
      throw new AppError('not_found', 'the organization has no such domain');
    }
    record({ target: caller.orgId, before: { domain }, after: null });
    return { deleted: true as const, domain };
  },
});
