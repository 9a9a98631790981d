import { Button, Group, NativeSelect, Stack } from '@mantine/core';
import { useMutation, useQuery, useQueryClient } from '@tanstack/react-query';

import { invoke } from '#console/api/actions.ts';
import { teamsQuery, topicKey } from '#console/api/queries.ts';
import type { PersonWithoutTeam } from '#console/api/team_pages.ts';
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

interface AddToTeamProps {
  readonly person: PersonWithoutTeam;
  readonly onClose: () => void;
}

/** Gives somebody a place in a team, and with it a phone number. */
export function AddToTeam({ person: { userId, name }, onClose }: AddToTeamProps) {
  const { org } = useOrganization();
  const queryClient = useQueryClient();
  const teams = useQuery(teamsQuery(org.orgId)).data?.teams ?? [];
  const { form, draft } = useDraftForm({
    form: `add_team_member ${userId}`,
    base: { teamId: '', ...NEW_CONTACT },
    validate: {
      ...CONTACT_VALIDATION,
      teamId: (teamId: string) => (teamId === '' ? 'Choose a team' : null),
    },
  });
  const adding = useMutation({
    mutationFn: ({ phone, ...values }: typeof form.values) => {
      const number = toPhone(phone);
      return invoke(org.orgId, 'add_team_member', { userId, ...values, ...(number !== null && { phone: number }) });
    },
    async onSuccess(_member, { teamId }) {
      draft.done();
      const team = teams.find((candidate) => candidate.teamId === teamId);
      showSuccess(named`${name} is in ${team?.name ?? 'the team'}.`);
      onClose();
      await queryClient.invalidateQueries({ queryKey: topicKey(org.orgId, 'teams') });
    },
    onError: (error) => form.setErrors(faultsAtFields(error, form.values)),
  });
  return (
    <Dialog onClose={onClose} title={named`Add ${name} to a team`}>
      <form onSubmit={form.onSubmit((values) => adding.mutate(values))} noValidate>
        <Stack>
          <DraftNotice draft={draft} labels={{ teamId: 'Team', ...CONTACT_LABELS }} />
          <NativeSelect
            {...form.getInputProps('teamId')}
            label="Team"
            data={[
              { value: '', label: teams.length === 0 ? 'There is no team yet' : 'Choose a team' },
              ...teams.map(({ teamId, name: teamName }) => ({ value: teamId, label: isolateBidi(teamName) })),
            ]}
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
