import { Alert, Anchor, Button, PasswordInput, Skeleton, Stack, TextInput } from '@mantine/core';
import { useForm } from '@mantine/form';
import { useMutation, useQuery } from '@tanstack/react-query';
import { getRouteApi, Link } from '@tanstack/react-router';

import { isApiError } from '#console/api/http.ts';
import { acceptInvitation, type Invitation, invitationQuery, sessionQuery } from '#console/api/session.ts';
import { ErrorAlert } from '#console/components/error_alert.tsx';
import { PASSWORD_HINT, passwordError } from '#console/components/password_rule.ts';
import { ROLE_DESCRIPTIONS } from '#console/components/role.ts';
import { SignInLayout } from '#console/pages/sign_in/sign_in_layout.tsx';
import { useCompleteSignIn } from '#console/pages/sign_in/use_complete_sign_in.tsx';

const route = getRouteApi('/invitation/$token');

export function AcceptInvitation() {
  const { token } = route.useParams();
  const { data: invitation, error } = useQuery(invitationQuery(token));
  const { data: session, isPending: isLooking } = useQuery(sessionQuery);
  if (isApiError(error, 404)) {
    return (
      <SignInLayout
        title="This invitation no longer works"
        lead="It was used already, was taken back, or has expired: invitations work once, within seven days."
        foot={
          <>
            Ask who invited you for another one, or{' '}
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
  if (invitation === undefined || isLooking) {
    return (
      <SignInLayout title="Invitation">
        <Skeleton height={200} />
      </SignInLayout>
    );
  }
  const isSignedIn = session?.user.email.toLowerCase() === invitation.email.toLowerCase();
  const invitedBy = invitation.invitedBy === null ? 'You are invited' : `${invitation.invitedBy} invites you`;
  return (
    <SignInLayout
      title={`Join ${invitation.organization.name}`}
      lead={`${invitedBy} as ${invitation.role}: ${ROLE_DESCRIPTIONS[invitation.role].toLowerCase()}.`}
    >
      {session && !isSignedIn && (
        <Alert color="orange" variant="light" mb="md">
          You are logged in as {session.user.email}; this invitation is for {invitation.email}. Accepting it changes
          over.
        </Alert>
      )}
      <Accepting token={token} invitation={invitation} isSignedIn={isSignedIn} />
    </SignInLayout>
  );
}

interface AcceptingProps {
  readonly token: string;
  readonly invitation: Invitation;
  readonly isSignedIn: boolean;
}

function Accepting({ token, invitation: { email, hasAccount }, isSignedIn }: AcceptingProps) {
  const { proceed, step } = useCompleteSignIn();
  const isNew = !hasAccount;
  const form = useForm({
    mode: 'uncontrolled',
    initialValues: { name: '', password: '' },
    validate: {
      name: (name) => (isNew && name.trim() === '' ? 'What others call you' : null),
      password: (password) =>
        isNew ? passwordError(password) : !isSignedIn && password === '' ? 'Your password' : null,
    },
  });
  const accepting = useMutation({
    mutationFn: ({ name, password }: typeof form.values) =>
      acceptInvitation(token, isNew ? { name: name.trim(), password } : isSignedIn ? {} : { password }),
    onSuccess: proceed,
  });
  if (step) return step;
  return (
    <form onSubmit={form.onSubmit((values) => accepting.mutate(values))} noValidate>
      <Stack>
        {accepting.isError && <ErrorAlert title="You have not joined yet" error={accepting.error} />}
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
          <PasswordInput
            {...form.getInputProps('password')}
            key={form.key('password')}
            size="md"
            label={isNew ? 'Choose a password' : 'Your password'}
            description={isNew ? PASSWORD_HINT : 'You have an account here already.'}
            autoComplete={isNew ? 'new-password' : 'current-password'}
          />
        )}
        <Button type="submit" size="md" loading={accepting.isPending}>
          Join
        </Button>
      </Stack>
    </form>
  );
}
