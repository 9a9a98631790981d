import { expect, test } from 'vitest';

import { passwordError } from '#console/components/forms/password_field.tsx';

test.each([
  ['short', 'At least 12 characters: 7 more are needed'],
  ['eleven long', 'At least 12 characters: 1 more is needed'],
  ['twelve chars', null],
])('the password %j has the error %j', (password, error) => expect(passwordError(password)).toBe(error));
