import { Type } from 'typebox';

import { defineAction } from '#actions/action_context.ts';
import { STRICT } from '#actions/fields.ts';
import { callerUser } from '#modules/accounts/caller_user.ts';
import { AppError } from '#kernel/errors.ts';

export const setSecondFactorPolicy = defineAction({
  name: 'set_second_factor_policy',
  consoleOnly: true,
  summary: 'Require a second factor of owners and admins from their next request on, or require it no longer.',
  permission: 'organization:manage',
  effect: 'write',
  stepUp: true,
  input: Type.Object({ required: Type.Boolean() }, STRICT),
  result: Type.Object({ required: Type.Boolean() }),
  conflict: 'you have set up no second factor yourself: you would lock yourself out',
  example: { required: true },
  async handle({ required }, { caller, stores, record }) {
    const userId = callerUser(caller);
    const { passkeys, hasApp } = await stores.secondFactors.summaryOf(userId);
    if (required && passkeys === 0 && !hasApp) {
      throw new AppError('conflict', 'set up a second factor of your own first, or you would lock yourself out');
    }
    const before = await stores.people.findStanding(caller.orgId, userId);
    await stores.people.setSecondFactorRequired(caller.orgId, required);
    record({
      target: caller.orgId,
      before: { secondFactorRequired: before?.secondFactorRequired ?? false },
      after: { secondFactorRequired: required },
    });
    return { required };
  },
});
