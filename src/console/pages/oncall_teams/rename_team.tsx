import { Stack, TextInput } from '@mantine/core';
import { useMutation, useQueryClient } from '@tanstack/react-query';
import { useMemo } from 'react';

import { invoke } from '#console/api/actions.ts';
import { isApiError } from '#console/api/http.ts';
import { topicKey } from '#console/api/queries.ts';
import type { TeamDetails } from '#console/api/teams.ts';
import { Dialog } from '#console/components/dialog.tsx';
import { DraftNotice } from '#console/components/forms/draft_notice.tsx';
import { ErrorAlert } from '#console/components/error_alert.tsx';
import { faultsAtFields, Form, SubmitButtons } from '#console/components/forms/form.tsx';
import { named } from '#console/components/text/name.tsx';
import { useDraftForm } from '#console/components/forms/use_draft_form.ts';
import { TEAM_NAME_VALIDATION } from '#console/pages/oncall_teams/create_team.tsx';
import { useOrganization } from '#console/shell/organization.tsx';

interface RenameTeamProps {
  readonly team: TeamDetails;
  readonly onClose: () => void;
}

export function RenameTeam({ team: { teamId, name }, onClose }: RenameTeamProps) {
  const { org } = useOrganization();
  const queryClient = useQueryClient();
  const base = useMemo(() => ({ name }), [name]);
  const { form, draft } = useDraftForm({ form: `update_team ${teamId}`, base, validate: TEAM_NAME_VALIDATION });
  const saving = useMutation({
    mutationFn: (values: { name: string }) =>
      invoke(org.orgId, 'rename_team', { teamId, name: values.name.trim(), basedOn: name }),
    async onSuccess() {
      draft.done();
      onClose();
      await queryClient.invalidateQueries({ queryKey: topicKey(org.orgId, 'teams') });
    },
    onError: async (error, values) => {
      form.setErrors(faultsAtFields(error, values));
      // The form shows what the other person has saved beside the input.
      if (isApiError(error, 409)) await queryClient.invalidateQueries({ queryKey: topicKey(org.orgId, 'teams') });
    },
  });
  return (
    <Dialog onClose={onClose} title={named`Rename ${name}`}>
      <Form error={saving.error} onSubmit={form.onSubmit((values) => saving.mutate(values))}>
        <Stack>
          <DraftNotice draft={draft} labels={{ name: 'Name' }} />
          <TextInput {...form.getInputProps('name')} label="Name" maxLength={500} data-autofocus />
          {saving.isError && <ErrorAlert title="The name was not saved" error={saving.error} atFields={form.values} />}
          <SubmitButtons
            label="Save"
            isPending={saving.isPending}
            isDisabled={draft.conflicts.length > 0}
            onCancel={onClose}
          />
        </Stack>
      </Form>
    </Dialog>
  );
}
