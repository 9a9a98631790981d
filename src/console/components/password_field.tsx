import { PasswordInput, type PasswordInputProps } from '@mantine/core';

/** Mantine's says to people who see it, and not to screen readers, that it is faulty. */
export function PasswordField(props: PasswordInputProps) {
  return <PasswordInput aria-invalid={props.error ? true : undefined} {...props} />;
}
