import { Text, TextInput } from '@mantine/core';
import { useForm } from '@mantine/form';
import { useMutation } from '@tanstack/react-query';

import { invoke, type ResultOf } from '#console/api/actions.ts';
import { faultsAtFields } from '#console/components/forms/form.tsx';
import { FormDialog } from '#console/components/forms/form_dialog.tsx';
import { showSuccess } from '#console/components/notice.tsx';
import { named } from '#console/components/text/name.tsx';
import { CONTACT_VALIDATION, toPhone } from '#console/pages/oncall_teams/member_fields.tsx';
import { useOrganization, useRefresh } from '#console/shell/organization.tsx';

type Assignees = ResultOf<'list_assignees'>;

interface AddNumberProps {
  readonly person: Pick<Assignees['people'][number], 'userId' | 'name' | 'memberId'>;
  /** Team whose policy pages about the incident; null: somebody's own number is all there is. */
  readonly team: Assignees['team'];
  readonly onSaved: () => Promise<void>;
  readonly onClose: () => void;
}

/** Dialog that gives somebody a number by which an incident pages them: their own, or one in the team of the incident. */
export function AddNumber({ person: { userId, name, memberId }, team, onSaved, onClose }: AddNumberProps) {
  const { org, session } = useOrganization();
  const refresh = useRefresh();
  const isMe = userId === session.user.userId;
  const form = useForm({
    initialValues: { phone: '' },
    validate: { phone: (text) => (toPhone(text) === null ? 'Enter a phone number' : CONTACT_VALIDATION.phone(text)) },
  });
  const saving = useMutation({
    async mutationFn(typed: string) {
      const contact = { phone: toPhone(typed), smsEnabled: true, callEnabled: true };
      if (isMe) {
        const teamId = memberId === null || team === null ? null : team.teamId;
        await invoke(org.orgId, 'update_own_contact', { teamId, ...contact });
      } else if (memberId !== null) await invoke(org.orgId, 'update_team_member', { memberId, ...contact });
      else if (team !== null && contact.phone !== null)
        await invoke(org.orgId, 'add_team_member', { teamId: team.teamId, userId, phone: contact.phone });
    },
    async onSuccess() {
      showSuccess(isMe ? 'Your number is stored.' : named`The number of ${name} is stored.`);
      await refresh('teams');
      await refresh('me');
      await onSaved();
      onClose();
    },
    onError: (error) => form.setErrors(faultsAtFields(error, form.values)),
  });
  const isJoining = !isMe && memberId === null && team !== null;
  return (
    <FormDialog
      onClose={onClose}
      title={isMe ? 'Add your number' : named`Add a number for ${name}`}
      saving={saving}
      failure="The number was not stored"
      atFields={form.values}
      submit={isJoining ? 'Add to the team' : 'Add the number'}
      onSubmit={form.onSubmit(({ phone }) => saving.mutate(phone))}
    >
      <TextInput
        {...form.getInputProps('phone')}
        label="Phone"
        description="For SMS and calls, which this turns on"
        placeholder="+31612345678"
        type="tel"
        data-autofocus
      />
      <Text size="sm" c="dimmed">
        {isJoining
          ? named`${name} joins ${team.name}, whose incident this is, and is paged with the team from now on.`
          : isMe
            ? 'You can confirm it, and try it, on your page Me.'
            : 'They are told of it. It counts in the team of this incident.'}{' '}
        Then you are back at the hand-over.
      </Text>
    </FormDialog>
  );
}
