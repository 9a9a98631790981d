import { PasswordInput, type PasswordInputProps } from '@mantine/core';

import { PASSWORD_LENGTH_MIN } from '#kernel/password_length.ts';

/** Password field. Mantine's shows its fault to people who see it, but not to screen readers. */
export function PasswordField(props: PasswordInputProps) {
  return <PasswordInput aria-invalid={props.error ? true : undefined} {...props} />;
}

/** Returns why a password is too short, or null. The server also rejects common passwords. */
export function passwordError(password: string): string | null {
  const missing = PASSWORD_LENGTH_MIN - password.length;
  if (missing <= 0) return null;
  return `At least ${PASSWORD_LENGTH_MIN} characters: ${missing} more ${missing === 1 ? 'is' : 'are'} needed`;
}

export const PASSWORD_HINT = `At least ${PASSWORD_LENGTH_MIN} characters. A few words in a row are easy to remember and hard to guess.`;
