import { Type } from 'typebox';

import { EmailField } from '#modules/accounts/fields.ts';
import { defineAction } from '#actions/action_context.ts';
import { STRICT } from '#actions/fields.ts';
import { networkOf } from '#kernel/ip_address.ts';
import { countAttempt } from '#auth/sign_in_limiter.ts';
import { sendPasswordReset } from '#storage/queue/jobs/send_password_reset.ts';
import { AppError } from '#kernel/errors.ts';

/** Requests a link by mail. A worker later looks up whether the account exists: answer and time are the same. */
export const requestPasswordReset = defineAction({
  name: 'request_password_reset',
  consoleOnly: true,
  scope: 'anyone',
  route: 'POST /password-resets',
  status: 202,
  summary:
    'Send a link by mail with which a new password can be set, once, within an hour. The answer is the same whether or not there is such an account.',
  effect: 'write',
  input: Type.Object({ email: EmailField }, STRICT),
  result: Type.Object({ sent: Type.Literal(true) }),
  conflict: 'this server sends no mail',
  refusals: ['rate_limited'],
  example: { email: 'anna@example.com' },
  async prepare(_input, { installation, stores, runtime, origin }) {
    if (!installation.hasMail) {
      throw new AppError(
        'conflict',
        'this server has no mail server configured; its operator can print a link with: tocsin user password --email E',
      );
    }
    const key = `reset:${networkOf(origin.address ?? '')}`;
    const { resetsOfAddressMax: max } = installation.limits;
    await countAttempt(stores, runtime.clock, { key, limit: 'resetsOfAddressMax', max, windowSeconds: 3_600 });
  },
  async handle({ email }, { enqueue, origin }) {
    enqueue(sendPasswordReset, { email, ...origin });
    return { sent: true as const };
  },
});
