import { Anchor, Button, Stack, TextInput } from '@mantine/core';
import { useForm } from '@mantine/form';
import { useMutation } from '@tanstack/react-query';
import { Link } from '@tanstack/react-router';

import { requestPasswordReset } from '#console/api/session.ts';
import { ErrorAlert } from '#console/components/error_alert.tsx';
import { faultsAtFields, Form } from '#console/components/forms/form.tsx';
import { named } from '#console/components/text/name.tsx';
import { SignInLayout } from '#console/pages/sign_in/sign_in_layout.tsx';

export function RequestPasswordReset() {
  const form = useForm({
    mode: 'uncontrolled',
    initialValues: { email: '' },
    validate: { email: (email) => (/\S+@\S+/.test(email) ? null : 'Enter your mail address') },
  });
  const requesting = useMutation({
    mutationFn: (email: string) => requestPasswordReset(email.trim()),
    onError: (error, email) => form.setErrors(faultsAtFields(error, { email })),
  });
  const back = (
    <Anchor component={Link} to="/login" size="sm">
      Back to log in
    </Anchor>
  );
  if (requesting.isSuccess) {
    return (
      <SignInLayout
        title="Check your mail"
        lead={named`If ${requesting.variables.trim()} has an account here, we have sent a link to choose a new password. It works once.`}
        foot={back}
      />
    );
  }
  return (
    <SignInLayout title="Reset your password" lead="We will send you a link to choose a new one." foot={back}>
      <Form error={requesting.error} isQuick onSubmit={form.onSubmit(({ email }) => requesting.mutate(email))}>
        <Stack>
          {requesting.isError && (
            <ErrorAlert title="The mail was not sent" error={requesting.error} atFields={{ email: '' }} />
          )}
          <TextInput
            {...form.getInputProps('email')}
            key={form.key('email')}
            size="md"
            label="Mail address"
            type="email"
            autoComplete="username"
            autoFocus
          />
          <Button type="submit" size="md" loading={requesting.isPending}>
            Send the link
          </Button>
        </Stack>
      </Form>
    </SignInLayout>
  );
}
