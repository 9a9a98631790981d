import { Type } from 'typebox';

import { invalidInput } from '#kernel/errors.ts';
import { parseMailDomain } from '#modules/sign_in/decide/claims.ts';

export const DomainField = Type.String({ minLength: 1, maxLength: 254, description: 'a mail domain: example.com' });

/** Returns the domain in lower case. Throws `invalid_input`. */
export function readDomain(text: string): string {
  const domain = parseMailDomain(text);
  if (domain !== null) return domain;
  throw invalidInput([{ path: 'domain', message: 'is no mail domain; write it as in example.com, in ASCII' }]);
}
