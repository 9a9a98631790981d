import { Button, Checkbox, Group, Stack, TextInput } from '@mantine/core';
import { useForm } from '@mantine/form';
import { useMutation, useQueryClient } from '@tanstack/react-query';
import { useState } from 'react';

import { isApiError } from '#console/api/http.ts';
import { changeName, changePassword, sessionQuery, sessionsQuery } from '#console/api/session.ts';
import { Card } from '#console/components/card.tsx';
import { DraftNotice } from '#console/components/forms/draft_notice.tsx';
import { ErrorAlert } from '#console/components/error_alert.tsx';
import { faultsAtFields, Form } from '#console/components/forms/form.tsx';
import { FormDialog } from '#console/components/forms/form_dialog.tsx';
import { PASSWORD_HINT, passwordError, PasswordField } from '#console/components/forms/password_field.tsx';
import { useDraftForm } from '#console/components/forms/use_draft_form.ts';
import { showSuccess } from '#console/components/notice.tsx';
import { useOrganization } from '#console/shell/organization.tsx';

export function AccountCard() {
  const { user } = useOrganization().session;
  const queryClient = useQueryClient();
  const [isChanging, setIsChanging] = useState(false);
  const { form, draft } = useDraftForm({
    form: 'update_me',
    base: { name: user.name },
    validate: { name: (name) => (name.trim() === '' ? 'Enter your name' : null) },
  });
  const naming = useMutation({
    mutationFn: (name: string) => changeName(name.trim(), user.name),
    onError: async (error, name) => {
      form.setErrors(faultsAtFields(error, { name }));
      // The form shows the present name beside the input.
      if (isApiError(error, 409)) await queryClient.invalidateQueries({ queryKey: sessionQuery.queryKey });
    },
    async onSuccess() {
      showSuccess('Your name was changed.');
      draft.done();
      await queryClient.invalidateQueries({ queryKey: sessionQuery.queryKey });
    },
  });
  return (
    <Card title="Account">
      <Form error={naming.error} draft={draft} onSubmit={form.onSubmit(({ name }) => naming.mutate(name))}>
        <Stack>
          <DraftNotice draft={draft} labels={{ name: 'Name' }} />
          <Group align="end">
            <TextInput {...form.getInputProps('name')} label="Name" autoComplete="name" flex={1} maw={320} />
            <Button
              type="submit"
              variant="default"
              loading={naming.isPending}
              disabled={!form.isDirty() || draft.conflicts.length > 0}
            >
              Save
            </Button>
          </Group>
          {naming.isError && (
            <ErrorAlert title="Your name was not changed" error={naming.error} atFields={form.values} />
          )}
          <Group>
            <Button variant="default" onClick={() => setIsChanging(true)}>
              Change your password
            </Button>
          </Group>
        </Stack>
      </Form>
      {isChanging && <ChangePassword onClose={() => setIsChanging(false)} />}
    </Card>
  );
}

function ChangePassword({ onClose }: { readonly onClose: () => void }) {
  const queryClient = useQueryClient();
  const form = useForm({
    mode: 'uncontrolled',
    initialValues: { currentPassword: '', newPassword: '', disconnectApps: true, revokeApiKeys: true },
    validate: {
      currentPassword: (text) => (text === '' ? 'Enter your current password' : null),
      newPassword: passwordError,
    },
  });
  const changing = useMutation({
    mutationFn: ({ currentPassword, newPassword, ...ends }: typeof form.values) =>
      changePassword(currentPassword, newPassword, ends),
    onError: (error, values) => form.setErrors(faultsAtFields(error, values)),
    async onSuccess() {
      showSuccess('Your password was changed. You are logged out everywhere else.');
      onClose();
      await queryClient.invalidateQueries({ queryKey: sessionsQuery.queryKey });
    },
  });
  return (
    <FormDialog
      onClose={onClose}
      title="Change your password"
      saving={changing}
      failure="Your password was not changed"
      atFields={form.getValues()}
      submit="Change"
      onSubmit={form.onSubmit((values) => changing.mutate(values))}
    >
      <PasswordField
        {...form.getInputProps('currentPassword')}
        key={form.key('currentPassword')}
        label="Current password"
        autoComplete="current-password"
        data-autofocus
      />
      <PasswordField
        {...form.getInputProps('newPassword')}
        key={form.key('newPassword')}
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
        description="Programs that use them stop working. Keep them only if you are sure that nobody else has them."
      />
    </FormDialog>
  );
}
