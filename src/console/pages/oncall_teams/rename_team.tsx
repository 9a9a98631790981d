import { TextInput } from '@mantine/core';
import { useMutation } from '@tanstack/react-query';
import { useMemo } from 'react';

import { invoke } from '#console/api/actions.ts';
import { isApiError } from '#console/api/http.ts';
import type { TeamDetails } from '#console/api/teams.ts';
import { faultsAtFields } from '#console/components/forms/form.tsx';
import { FormDialog } from '#console/components/forms/form_dialog.tsx';
import { named } from '#console/components/text/name.tsx';
import { useDraftForm } from '#console/components/forms/use_draft_form.ts';
import { TEAM_NAME_VALIDATION } from '#console/pages/oncall_teams/create_team.tsx';
import { useOrganization, useRefresh } from '#console/shell/organization.tsx';

interface RenameTeamProps {
  readonly team: TeamDetails;
  readonly onClose: () => void;
}

export function RenameTeam({ team: { teamId, name }, onClose }: RenameTeamProps) {
  const { org } = useOrganization();
  const refresh = useRefresh();
  const base = useMemo(() => ({ name }), [name]);
  const { form, draft } = useDraftForm({ form: `update_team ${teamId}`, base, validate: TEAM_NAME_VALIDATION });
  const saving = useMutation({
    mutationFn: (values: { name: string }) =>
      invoke(org.orgId, 'rename_team', { teamId, name: values.name.trim(), basedOn: name }),
    async onSuccess() {
      draft.done();
      onClose();
      await refresh('teams');
    },
    onError: async (error, values) => {
      form.setErrors(faultsAtFields(error, values));
      // The form shows what the other person has saved beside the input.
      if (isApiError(error, 409)) await refresh('teams');
    },
  });
  return (
    <FormDialog
      onClose={onClose}
      title={named`Rename ${name}`}
      saving={saving}
      failure="The name was not saved"
      atFields={form.values}
      draft={draft}
      labels={{ name: 'Name' }}
      submit="Save"
      onSubmit={form.onSubmit((values) => saving.mutate(values))}
    >
      <TextInput {...form.getInputProps('name')} label="Name" maxLength={500} data-autofocus />
    </FormDialog>
  );
}
