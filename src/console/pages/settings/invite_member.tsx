import { Button, Group, NativeSelect, Stack, Text, TextInput } from '@mantine/core';
import { useMutation, useQueryClient } from '@tanstack/react-query';

import { invoke } from '#console/api/actions.ts';
import { topicKey } from '#console/api/queries.ts';
import type { Role } from '#console/api/session.ts';
import { CopyField } from '#console/components/forms/copy_field.tsx';
import { Dialog } from '#console/components/dialog.tsx';
import { DraftNotice } from '#console/components/forms/draft_notice.tsx';
import { ErrorAlert } from '#console/components/error_alert.tsx';
import { Form } from '#console/components/forms/form.tsx';
import { faultsAtFields } from '#console/components/forms/field_faults.ts';
import { named } from '#console/components/text/name.tsx';
import { SubmitButtons } from '#console/components/forms/submit_buttons.tsx';
import { useDraftForm } from '#console/components/forms/use_draft.ts';
import { EVERY_ROLE_SEES_KEYS, ROLE_DESCRIPTIONS } from '#console/components/text/role.ts';
import { useOrganization } from '#console/shell/organization.tsx';
import { ROLES } from '#kernel/permissions.ts';

const START: { readonly email: string; readonly role: Role } = { email: '', role: 'responder' };

export function InviteMember({ onClose }: { readonly onClose: () => void }) {
  const { org } = useOrganization();
  const queryClient = useQueryClient();
  const { form, draft } = useDraftForm({
    form: 'create_invitation',
    base: START,
    validate: { email: (email) => (/^\S+@\S+$/.test(email.trim()) ? null : 'Enter a mail address') },
  });
  const inviting = useMutation({
    mutationFn: ({ email, role }: typeof form.values) =>
      invoke(org.orgId, 'create_invitation', { email: email.trim(), role }),
    onError: (error, values) => form.setErrors(faultsAtFields(error, values)),
    onSuccess() {
      draft.done();
      return queryClient.invalidateQueries({ queryKey: topicKey(org.orgId, 'settings') });
    },
  });
  if (inviting.isSuccess) {
    const { email, link, isMailed } = inviting.data;
    return (
      <Dialog onClose={onClose} title={named`${email} is invited`} isShownOnce>
        <Stack>
          <Text size="sm">
            {isMailed
              ? 'A link is on its way by mail. You can also pass on this one yourself.'
              : 'This server sends no mail, so pass the link on yourself.'}{' '}
            It is shown only once, works once, and expires after seven days.
          </Text>
          <CopyField label="Invitation link" value={link} />
          <Group justify="flex-end">
            <Button onClick={onClose}>Done</Button>
          </Group>
        </Stack>
      </Dialog>
    );
  }
  return (
    <Dialog onClose={onClose} title={named`Invite somebody to ${org.name}`}>
      <Form error={inviting.error} onSubmit={form.onSubmit((values) => inviting.mutate(values))}>
        <Stack>
          <DraftNotice draft={draft} labels={{ email: 'Mail address', role: 'Role' }} />
          <TextInput {...form.getInputProps('email')} label="Mail address" type="email" data-autofocus />
          <NativeSelect
            {...form.getInputProps('role')}
            label="Role"
            description={ROLE_DESCRIPTIONS[form.values.role]}
            data={ROLES.filter((role) => org.role === 'owner' || role !== 'owner')}
          />
          <Text size="sm" c="dimmed">
            {EVERY_ROLE_SEES_KEYS}
          </Text>
          {inviting.isError && <ErrorAlert title="Nobody was invited" error={inviting.error} atFields={form.values} />}
          <SubmitButtons
            label="Invite"
            isPending={inviting.isPending}
            onCancel={() => {
              draft.startOver();
              onClose();
            }}
          />
        </Stack>
      </Form>
    </Dialog>
  );
}
