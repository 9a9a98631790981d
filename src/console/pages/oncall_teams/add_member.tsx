import { Button, Group, Select, Stack } from '@mantine/core';
import { useMutation, useQuery, useQueryClient } from '@tanstack/react-query';

import { invoke } from '#console/api/actions.ts';
import { teamsQuery, topicKey } from '#console/api/queries.ts';
import type { TeamDetails } from '#console/api/team_pages.ts';
import { isolateBidi } from '#console/components/bidi.ts';
import { Dialog } from '#console/components/dialog.tsx';
import { DraftNotice } from '#console/components/draft_notice.tsx';
import { ErrorAlert } from '#console/components/error_alert.tsx';
import { faultsAtFields } from '#console/components/field_faults.ts';
import { named } from '#console/components/name.tsx';
import { showSuccess } from '#console/components/notice.tsx';
import { useDraftForm } from '#console/components/use_draft.ts';
import {
  CONTACT_LABELS,
  CONTACT_VALIDATION,
  ContactFields,
  NEW_CONTACT,
  toPhone,
} from '#console/pages/oncall_teams/member_fields.tsx';
import { useOrganization } from '#console/shell/organization.tsx';

/** More match than are listed: typing goes on. */
const OPTIONS_MAX = 50;

interface AddMemberProps {
  readonly team: TeamDetails;
  readonly onClose: () => void;
}

/** Adds anybody of the organization to the team. */
export function AddMember({ team: { teamId, name, members }, onClose }: AddMemberProps) {
  const { org } = useOrganization();
  const queryClient = useQueryClient();
  const people = useQuery(teamsQuery(org.orgId)).data?.people ?? [];
  const isMember = new Set(members.map(({ userId }) => userId));
  const { form, draft } = useDraftForm({
    form: `add_team_member ${teamId}`,
    base: { userId: '', ...NEW_CONTACT },
    validate: {
      ...CONTACT_VALIDATION,
      userId: (userId: string) => (userId === '' ? 'Choose somebody' : null),
    },
  });
  const adding = useMutation({
    mutationFn: ({ phone, ...values }: typeof form.values) => {
      const number = toPhone(phone);
      return invoke(org.orgId, 'add_team_member', { teamId, ...values, ...(number !== null && { phone: number }) });
    },
    async onSuccess(member) {
      draft.done();
      showSuccess(named`${member.name} is in ${name}.`);
      onClose();
      await queryClient.invalidateQueries({ queryKey: topicKey(org.orgId, 'teams') });
    },
    onError: (error) => form.setErrors(faultsAtFields(error, form.values)),
  });
  return (
    <Dialog onClose={onClose} title={named`Add a member to ${name}`}>
      <form onSubmit={form.onSubmit((values) => adding.mutate(values))} noValidate>
        <Stack>
          <DraftNotice draft={draft} labels={{ userId: 'Person', ...CONTACT_LABELS }} />
          <Select
            {...form.getInputProps('userId')}
            value={form.values.userId === '' ? null : form.values.userId}
            onChange={(userId) => form.setFieldValue('userId', userId ?? '')}
            label="Person"
            placeholder="Type a name"
            data={people
              .filter(({ userId }) => !isMember.has(userId))
              .map((person) => ({ value: person.userId, label: isolateBidi(`${person.name} (${person.email})`) }))}
            searchable
            openOnFocus={false}
            selectFirstOptionOnChange
            limit={OPTIONS_MAX}
            nothingFoundMessage="Nobody else has this name. Invite them in the settings first."
            data-autofocus
          />
          <ContactFields form={form} />
          {adding.isError && <ErrorAlert title="Nobody was added" error={adding.error} />}
          <Group justify="flex-end">
            <Button variant="default" onClick={onClose}>
              Cancel
            </Button>
            <Button type="submit" loading={adding.isPending}>
              Add
            </Button>
          </Group>
        </Stack>
      </form>
    </Dialog>
  );
}
