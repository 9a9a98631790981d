import { Button, Checkbox, Group, PasswordInput, Stack, TextInput } from '@mantine/core';
import { useForm } from '@mantine/form';
import { useMutation, useQueryClient } from '@tanstack/react-query';
import { useState } from 'react';

import { changeName, changePassword, sessionQuery, sessionsQuery } from '#console/api/session.ts';
import { Card } from '#console/parts/card.tsx';
import { Dialog } from '#console/parts/dialog.tsx';
import { Failure } from '#console/parts/failure.tsx';
import { PASSWORD_HINT, passwordFault } from '#console/parts/password_rule.ts';
import { tellDone } from '#console/parts/tell.tsx';
import { useHere } from '#console/shell/organization.tsx';

/** Name and password. */
export function AccountCard() {
  const { user } = useHere().session;
  const queryClient = useQueryClient();
  const [isChanging, setIsChanging] = useState(false);
  const form = useForm({
    initialValues: { name: user.name },
    validate: { name: (name) => (name.trim() === '' ? 'What others call you' : null) },
  });
  const naming = useMutation({
    mutationFn: (name: string) => changeName(name.trim()),
    async onSuccess() {
      tellDone('Your name is changed.');
      form.resetDirty();
      await queryClient.invalidateQueries({ queryKey: sessionQuery.queryKey });
    },
  });
  return (
    <Card title="Account">
      <form onSubmit={form.onSubmit(({ name }) => naming.mutate(name))}>
        <Stack>
          <Group align="end">
            <TextInput {...form.getInputProps('name')} label="Name" autoComplete="name" flex={1} maw={320} />
            <Button type="submit" variant="default" loading={naming.isPending} disabled={!form.isDirty()}>
              Save
            </Button>
          </Group>
          {naming.isError && <Failure title="Your name is as before" error={naming.error} />}
          <Group>
            <Button variant="default" onClick={() => setIsChanging(true)}>
              Change your password
            </Button>
          </Group>
        </Stack>
      </form>
      {isChanging && <ChangePassword onClose={() => setIsChanging(false)} />}
    </Card>
  );
}

function ChangePassword({ onClose }: { readonly onClose: () => void }) {
  const queryClient = useQueryClient();
  const form = useForm({
    mode: 'uncontrolled',
    initialValues: { before: '', after: '', disconnectApps: true, revokeApiKeys: true },
    validate: { before: (text) => (text === '' ? 'Your current password' : null), after: passwordFault },
  });
  const changing = useMutation({
    mutationFn: ({ before, after, ...ends }: typeof form.values) => changePassword(before, after, ends),
    async onSuccess() {
      tellDone('Your password is changed. You are logged out everywhere else.');
      onClose();
      await queryClient.invalidateQueries({ queryKey: sessionsQuery.queryKey });
    },
  });
  return (
    <Dialog onClose={onClose} title="Change your password">
      <form onSubmit={form.onSubmit((values) => changing.mutate(values))}>
        <Stack>
          <PasswordInput
            {...form.getInputProps('before')}
            key={form.key('before')}
            label="Current password"
            autoComplete="current-password"
            data-autofocus
          />
          <PasswordInput
            {...form.getInputProps('after')}
            key={form.key('after')}
            label="New password"
            description={PASSWORD_HINT}
            autoComplete="new-password"
          />
          <Checkbox
            {...form.getInputProps('disconnectApps', { type: 'checkbox' })}
            key={form.key('disconnectApps')}
            label="Disconnect my apps"
          />
          <Checkbox
            {...form.getInputProps('revokeApiKeys', { type: 'checkbox' })}
            key={form.key('revokeApiKeys')}
            label="Revoke my API keys"
            description="Programs that use them stop working. Keep them only if nobody else can have them."
          />
          {changing.isError && <Failure title="Your password is as before" error={changing.error} />}
          <Group justify="flex-end">
            <Button variant="default" onClick={onClose}>
              Cancel
            </Button>
            <Button type="submit" loading={changing.isPending}>
              Change
            </Button>
          </Group>
        </Stack>
      </form>
    </Dialog>
  );
}
