import { Anchor, Button, Checkbox, Skeleton, Stack, TextInput } from '@mantine/core';
import { useForm } from '@mantine/form';
import { useMutation, useQuery } from '@tanstack/react-query';
import { getRouteApi, Link } from '@tanstack/react-router';

import { isApiError } from '#console/api/http.ts';
import { resetPassword, resetQuery } from '#console/api/session.ts';
import { ErrorAlert } from '#console/components/error_alert.tsx';
import { faultsAtFields, Form } from '#console/components/forms/form.tsx';
import { PASSWORD_HINT, passwordError, PasswordField } from '#console/components/forms/password_field.tsx';
import { SignInLayout } from '#console/pages/sign_in/sign_in_layout.tsx';
import { useCompleteSignIn } from '#console/pages/sign_in/use_complete_sign_in.tsx';

const route = getRouteApi('/reset/$token');

export function ResetPassword() {
  const { token } = route.useParams();
  const { data, error } = useQuery(resetQuery(token));
  const { proceed, step } = useCompleteSignIn();
  const form = useForm({
    mode: 'uncontrolled',
    initialValues: { password: '', revokeApiKeys: true },
    validate: { password: passwordError },
  });
  const attempt = useMutation({
    mutationFn: (values: typeof form.values) => resetPassword(token, values),
    onError: (error, values) => form.setErrors(faultsAtFields(error, values)),
    onSuccess: proceed,
  });
  if (step) {
    return (
      <SignInLayout title="One more step" lead="Confirm with your second factor.">
        {step}
      </SignInLayout>
    );
  }
  if (isApiError(error, 404)) {
    return (
      <SignInLayout
        title="This link no longer works"
        lead="It was already used, or it has expired."
        foot={
          <Anchor component={Link} to="/reset" size="sm">
            Ask for a new one
          </Anchor>
        }
      />
    );
  }
  return (
    <SignInLayout title="Choose a new password" lead="This logs you out everywhere else and disconnects your apps.">
      {error !== null && <ErrorAlert error={error} />}
      {data === undefined && error === null && <Skeleton height={160} />}
      {data !== undefined && (
        <Form error={attempt.error} onSubmit={form.onSubmit((values) => attempt.mutate(values))}>
          <Stack>
            {attempt.isError && (
              <ErrorAlert title="Your password was not changed" error={attempt.error} atFields={form.getValues()} />
            )}
            <TextInput size="md" label="Account" value={data.email} readOnly autoComplete="username" />
            <PasswordField
              {...form.getInputProps('password')}
              key={form.key('password')}
              size="md"
              label="New password"
              description={PASSWORD_HINT}
              autoComplete="new-password"
              autoFocus
            />
            {data.apiKeys > 0 && (
              <Checkbox
                {...form.getInputProps('revokeApiKeys', { type: 'checkbox' })}
                key={form.key('revokeApiKeys')}
                label={`Revoke my ${data.apiKeys === 1 ? 'API key' : `${data.apiKeys} API keys`}`}
                description="Programs that use them stop working. Keep them only if you are sure that nobody else has them."
              />
            )}
            <Button type="submit" size="md" loading={attempt.isPending}>
              Save and log in
            </Button>
          </Stack>
        </Form>
      )}
    </SignInLayout>
  );
}
