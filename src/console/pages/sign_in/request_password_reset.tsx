import { Anchor, Button, Stack, TextInput } from '@mantine/core';
import { useForm } from '@mantine/form';
import { useMutation } from '@tanstack/react-query';
import { Link } from '@tanstack/react-router';

import { askForReset } from '#console/api/session.ts';
import { ErrorAlert } from '#console/components/error_alert.tsx';
import { SignInLayout } from '#console/pages/sign_in/sign_in_layout.tsx';

export function RequestPasswordReset() {
  const form = useForm({
    mode: 'uncontrolled',
    initialValues: { email: '' },
    validate: { email: (email) => (/\S+@\S+/.test(email) ? null : 'Your mail address') },
  });
  const asking = useMutation({ mutationFn: (email: string) => askForReset(email.trim()) });
  const back = (
    <Anchor component={Link} to="/login" size="sm">
      Back to log in
    </Anchor>
  );
  if (asking.isSuccess) {
    return (
      <SignInLayout
        title="Look into your mail"
        lead={`If ${asking.variables.trim()} has an account here, a link to choose a new password is on its way. It works once.`}
        foot={back}
      />
    );
  }
  return (
    <SignInLayout title="Reset your password" lead="We send you a link to choose a new one." foot={back}>
      <form onSubmit={form.onSubmit(({ email }) => asking.mutate(email))} noValidate>
        <Stack>
          {asking.isError && <ErrorAlert title="The mail was not sent" error={asking.error} />}
          <TextInput
            {...form.getInputProps('email')}
            key={form.key('email')}
            size="md"
            label="Mail address"
            type="email"
            autoComplete="username"
            autoFocus
          />
          <Button type="submit" size="md" loading={asking.isPending}>
            Send the link
          </Button>
        </Stack>
      </form>
    </SignInLayout>
  );
}
