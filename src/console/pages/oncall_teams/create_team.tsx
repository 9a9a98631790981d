import { TextInput } from '@mantine/core';
import { useMutation } from '@tanstack/react-query';
import { useNavigate } from '@tanstack/react-router';

import { invoke } from '#console/api/actions.ts';
import { faultsAtFields } from '#console/components/forms/form.tsx';
import { FormDialog } from '#console/components/forms/form_dialog.tsx';
import { useDraftForm } from '#console/components/forms/use_draft_form.ts';
import { useOrganization, useRefresh } from '#console/shell/organization.tsx';

export const TEAM_NAME_VALIDATION = { name: (name: string) => (name.trim() === '' ? 'A team needs a name' : null) };

export function CreateTeam({ onClose }: { readonly onClose: () => void }) {
  const { org } = useOrganization();
  const navigate = useNavigate();
  const refresh = useRefresh();
  const { form, draft } = useDraftForm({ form: 'create_team', base: { name: '' }, validate: TEAM_NAME_VALIDATION });
  const creating = useMutation({
    mutationFn: ({ name }: { name: string }) => invoke(org.orgId, 'create_team', { name: name.trim() }),
    onError: (error, values) => form.setErrors(faultsAtFields(error, values)),
    async onSuccess({ teamId }) {
      draft.done();
      await refresh('teams');
      await navigate({ to: '/oncall/teams/$teamId', params: { teamId } });
    },
  });
  return (
    <FormDialog
      onClose={onClose}
      title="Create a team"
      saving={creating}
      failure="The team was not created"
      atFields={form.values}
      draft={draft}
      labels={{ name: 'Name' }}
      submit="Create"
      onSubmit={form.onSubmit((values) => creating.mutate(values))}
    >
      <TextInput {...form.getInputProps('name')} label="Name" placeholder="Payments" maxLength={500} data-autofocus />
    </FormDialog>
  );
}
