import { Alert, Anchor, Button, PasswordInput, Skeleton, Stack, TextInput } from '@mantine/core';
import { useForm } from '@mantine/form';
import { useMutation, useQuery } from '@tanstack/react-query';
import { getRouteApi, Link } from '@tanstack/react-router';

import { isProblem } from '#console/api/http.ts';
import { acceptInvitation, type Invitation, invitationQuery, sessionQuery } from '#console/api/session.ts';
import { Failure } from '#console/parts/failure.tsx';
import { PASSWORD_HINT, passwordFault } from '#console/parts/password_rule.ts';
import { ROLE_MEANS } from '#console/parts/role.ts';
import { Doorway } from '#console/rooms/sign_in/doorway.tsx';
import { useEntering } from '#console/rooms/sign_in/entering.tsx';

const route = getRouteApi('/invitation/$token');

export function AcceptInvitation() {
  const { token } = route.useParams();
  const { data: invitation, error } = useQuery(invitationQuery(token));
  const { data: session, isPending: isLooking } = useQuery(sessionQuery);
  if (isProblem(error, 404)) {
    return (
      <Doorway
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
      <Doorway title="Invitation">
        <Failure error={error} />
      </Doorway>
    );
  }
  if (invitation === undefined || isLooking) {
    return (
      <Doorway title="Invitation">
        <Skeleton height={200} />
      </Doorway>
    );
  }
  const isSignedIn = session?.user.email.toLowerCase() === invitation.email.toLowerCase();
  const invitedBy = invitation.invitedBy === null ? 'You are invited' : `${invitation.invitedBy} invites you`;
  return (
    <Doorway
      title={`Join ${invitation.organization.name}`}
      lead={`${invitedBy} as ${invitation.role}: ${ROLE_MEANS[invitation.role].toLowerCase()}.`}
    >
      {session && !isSignedIn && (
        <Alert color="orange" variant="light" mb="md">
          You are logged in as {session.user.email}; this invitation is for {invitation.email}. Accepting it changes
          over.
        </Alert>
      )}
      <Accepting token={token} invitation={invitation} isSignedIn={isSignedIn} />
    </Doorway>
  );
}

interface AcceptingProps {
  readonly token: string;
  readonly invitation: Invitation;
  readonly isSignedIn: boolean;
}

function Accepting({ token, invitation: { email, hasAccount }, isSignedIn }: AcceptingProps) {
  const { proceed, step } = useEntering();
  const isNew = !hasAccount;
  const form = useForm({
    mode: 'uncontrolled',
    initialValues: { name: '', password: '' },
    validate: {
      name: (name) => (isNew && name.trim() === '' ? 'What others call you' : null),
      password: (password) =>
        isNew ? passwordFault(password) : !isSignedIn && password === '' ? 'Your password' : null,
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
        {accepting.isError && <Failure title="You have not joined yet" error={accepting.error} />}
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
