import { Alert, Anchor, Button, Skeleton, Stack, TextInput } from '@mantine/core';
import { useForm } from '@mantine/form';
import { useMutation, useQuery } from '@tanstack/react-query';
import { getRouteApi, Link } from '@tanstack/react-router';

import { isApiError } from '#console/api/http.ts';
import { acceptInvitation, type Invitation, invitationQuery, sessionQuery } from '#console/api/session.ts';
import { ErrorAlert } from '#console/components/error_alert.tsx';
import { faultsAtFields, Form } from '#console/components/forms/form.tsx';
import { PASSWORD_HINT, passwordError, PasswordField } from '#console/components/forms/password_field.tsx';
import { named } from '#console/components/text/name.tsx';
import { ROLE_DESCRIPTIONS } from '#console/components/text/role_note.tsx';
import { SignInLayout } from '#console/pages/sign_in/sign_in_layout.tsx';
import { useCompleteSignIn } from '#console/pages/sign_in/use_complete_sign_in.tsx';

const route = getRouteApi('/invitation/$token');

export function AcceptInvitation() {
  const { token } = route.useParams();
  const { data: invitation, error } = useQuery(invitationQuery(token));
  const { data: session, isPending: isLoadingSession } = useQuery(sessionQuery);
  if (isApiError(error, 404)) {
    return (
      <SignInLayout
        title="This invitation no longer works"
        lead="It was already used, was revoked, or has expired. An invitation works once, within seven days."
        foot={
          <>
            Ask the person who invited you for a new one, or{' '}
            <Anchor component={Link} to="/login" size="sm" underline="always">
              log in
            </Anchor>
            .
          </>
        }
      />
    );
  }
  if (error !== null) {
    return (
      <SignInLayout title="Invitation">
        <ErrorAlert error={error} />
      </SignInLayout>
    );
  }
  if (invitation === undefined || isLoadingSession) {
    return (
      <SignInLayout title="Invitation">
        <Skeleton height={200} />
      </SignInLayout>
    );
  }
  const isSignedIn = session?.user.email.toLowerCase() === invitation.email.toLowerCase();
  const { organization, role } = invitation;
  const invited = invitation.invitedBy === null ? 'You are invited' : named`${invitation.invitedBy} invites you`;
  return (
    <SignInLayout
      title={`Join ${organization.name}`}
      heading={named`Join ${organization.name}`}
      lead={
        <>
          {invited} as {role}. {ROLE_DESCRIPTIONS[role]}.
        </>
      }
    >
      {session && !isSignedIn && (
        <Alert color="orange" variant="light" mb="md">
          {named`You are logged in as ${session.user.email}, but this invitation is for ${invitation.email}. If you accept it, you are logged in with that account instead.`}
        </Alert>
      )}
      <AcceptForm token={token} invitation={invitation} isSignedIn={isSignedIn} />
    </SignInLayout>
  );
}

interface AcceptFormProps {
  readonly token: string;
  readonly invitation: Invitation;
  readonly isSignedIn: boolean;
}

function AcceptForm({ token, invitation: { email, hasAccount }, isSignedIn }: AcceptFormProps) {
  const { proceed, step } = useCompleteSignIn();
  const isNew = !hasAccount;
  const form = useForm({
    mode: 'uncontrolled',
    initialValues: { name: '', password: '' },
    validate: {
      name: (name) => (isNew && name.trim() === '' ? 'Enter your name' : null),
      password: (password) =>
        isNew ? passwordError(password) : !isSignedIn && password === '' ? 'Enter your password' : null,
    },
  });
  const accepting = useMutation({
    mutationFn: ({ name, password }: typeof form.values) =>
      acceptInvitation(token, isNew ? { name: name.trim(), password } : isSignedIn ? {} : { password }),
    onError: (error, values) => form.setErrors(faultsAtFields(error, values)),
    onSuccess: proceed,
  });
  if (step) return step;
  return (
    <Form error={accepting.error} onSubmit={form.onSubmit((values) => accepting.mutate(values))}>
      <Stack>
        {accepting.isError && (
          <ErrorAlert title="You have not joined yet" error={accepting.error} atFields={form.getValues()} />
        )}
        <TextInput size="md" label="Mail address" value={email} readOnly autoComplete="username" />
        {isNew && (
          <TextInput
            {...form.getInputProps('name')}
            key={form.key('name')}
            size="md"
            label="Your name"
            autoComplete="name"
            autoFocus
          />
        )}
        {!isSignedIn && (
          <PasswordField
            {...form.getInputProps('password')}
            key={form.key('password')}
            size="md"
            label={isNew ? 'Choose a password' : 'Your password'}
            description={isNew ? PASSWORD_HINT : 'You already have an account here.'}
            autoComplete={isNew ? 'new-password' : 'current-password'}
          />
        )}
        <Button type="submit" size="md" loading={accepting.isPending}>
          Join
        </Button>
      </Stack>
    </Form>
  );
}
