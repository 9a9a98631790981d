import { PasswordInput, type PasswordInputProps } from '@mantine/core';

/** Password field. Mantine's shows its fault to people who see it, but not to screen readers. */
export function PasswordField(props: PasswordInputProps) {
  return <PasswordInput aria-invalid={props.error ? true : undefined} {...props} />;
}
