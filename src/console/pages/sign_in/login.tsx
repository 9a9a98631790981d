import { Anchor, Button, Stack, TextInput } from '@mantine/core';
import { useForm } from '@mantine/form';
import { useMutation } from '@tanstack/react-query';
import { getRouteApi, Link } from '@tanstack/react-router';

import { isApiError, ApiError } from '#console/api/http.ts';
import { beginProviderSignIn, signIn } from '#console/api/session.ts';
import { ErrorAlert } from '#console/components/error_alert.tsx';
import { faultsAtFields, Form } from '#console/components/forms/form.tsx';
import { PasswordField } from '#console/components/forms/password_field.tsx';
import { SignInLayout } from '#console/pages/sign_in/sign_in_layout.tsx';
import { useCompleteSignIn } from '#console/pages/sign_in/use_complete_sign_in.tsx';

const route = getRouteApi('/login');

export function Login() {
  const { next, organization } = route.useSearch();
  const { proceed, step } = useCompleteSignIn(next);
  const form = useForm({
    mode: 'uncontrolled',
    initialValues: { email: '', password: '' },
    validate: {
      email: (email) => (/\S+@\S+/.test(email) ? null : 'Enter your mail address'),
      password: (password) => (password === '' ? 'Enter your password' : null),
    },
  });
  const attempt = useMutation({
    mutationFn: ({ email, password }: typeof form.values) => signIn(email.trim(), password),
    onError: (error, values) => form.setErrors(faultsAtFields(error, values)),
    onSuccess: proceed,
  });
  const leaving = useMutation({
    mutationFn: () => {
      const email = form.getValues().email.trim();
      const to = organization === undefined ? { email } : { orgId: organization };
      return beginProviderSignIn({ ...to, ...(next !== undefined && { next }) });
    },
    onSuccess: ({ redirectTo }) => location.assign(redirectTo),
  });
  const isLeaving = leaving.isPending || leaving.isSuccess;
  const leave = () => {
    attempt.reset();
    if (organization !== undefined || !form.validateField('email').hasError) leaving.mutate();
  };
  if (step) {
    return (
      <SignInLayout title="One more step" lead="Confirm with your second factor.">
        {step}
      </SignInLayout>
    );
  }
  return (
    <SignInLayout
      title="Log in"
      lead={next === undefined ? 'to see what is going on.' : 'to continue where you were.'}
      foot="New here? An owner or admin of your organization can invite you."
    >
      <Form error={attempt.error} isQuick onSubmit={form.onSubmit((values) => attempt.mutate(values))}>
        <Stack>
          {attempt.isError && (
            <ErrorAlert title="You are not logged in" error={inPlainWords(attempt.error)} atFields={form.getValues()} />
          )}
          {leaving.isError && <ErrorAlert title="You are not logged in" error={leaving.error} />}
          <TextInput
            {...form.getInputProps('email')}
            key={form.key('email')}
            size="md"
            label="Mail address"
            type="email"
            name="email"
            autoComplete="username"
            autoFocus
          />
          <PasswordField
            {...form.getInputProps('password')}
            key={form.key('password')}
            size="md"
            label="Password"
            name="password"
            autoComplete="current-password"
          />
          <Button type="submit" size="md" loading={attempt.isPending} disabled={isLeaving}>
            Log in
          </Button>
          <Button variant="default" size="md" loading={isLeaving} disabled={attempt.isPending} onClick={leave}>
            Use your organization's login
          </Button>
          <Anchor component={Link} to="/reset" size="sm" ta="center">
            Forgot your password?
          </Anchor>
        </Stack>
      </Form>
    </SignInLayout>
  );
}

/**
 * Replaces the error of a wrong mail address or password. The server does not say which of the two was wrong, so that
 * nobody can find out who has an account.
 */
function inPlainWords(error: unknown): unknown {
  if (!isApiError(error, 401)) return error;
  const message = 'The mail address or the password is wrong. Check both, or reset your password.';
  return new ApiError({ status: error.status, code: error.code, message });
}
