import type { ServiceWithKeys } from '#console/api/actions.ts';
import { faultsAtFields } from '#console/components/forms/form.tsx';
import { FormDialog } from '#console/components/forms/form_dialog.tsx';
import { useDraftForm } from '#console/components/forms/use_draft_form.ts';
import { TeamPicker } from '#console/components/forms/team_picker.tsx';
import { useServiceChange } from '#console/pages/services/use_service_change.ts';
import {
  SERVICE_LABELS,
  SERVICE_VALIDATION,
  type ServiceFacts,
  ServiceFields,
} from '#console/pages/services/service_fields.tsx';

export function EditService({ service, onClose }: { readonly service: ServiceWithKeys; readonly onClose: () => void }) {
  const { serviceId, name, environment, scmOwner, scmRepo, team } = service;
  const teamId = team?.teamId ?? null;
  const { form, draft } = useDraftForm<ServiceFacts & { teamId: string | null }>({
    form: `update_service ${serviceId}`,
    base: { name, environment: environment ?? '', scmOwner: scmOwner ?? '', scmRepo: scmRepo ?? '', teamId },
    validate: SERVICE_VALIDATION,
  });
  const changing = useServiceChange('edit_service', () => {
    draft.done();
    onClose();
  });
  const orNull = (text: string) => (text.trim() === '' ? null : text.trim());
  return (
    <FormDialog
      onClose={onClose}
      title="Edit the service"
      saving={changing}
      failure="The service was not saved"
      atFields={form.values}
      draft={draft}
      labels={{ ...SERVICE_LABELS, teamId: 'Team' }}
      submit="Save"
      onSubmit={form.onSubmit((values) =>
        changing.mutate(
          {
            serviceId,
            name: values.name.trim(),
            environment: orNull(values.environment),
            scmOwner: orNull(values.scmOwner),
            scmRepo: orNull(values.scmRepo),
            teamId: values.teamId,
            basedOn: { name, environment, scmOwner, scmRepo, teamId },
          },
          { onError: (error) => form.setErrors(faultsAtFields(error, values)) },
        ),
      )}
    >
      <ServiceFields propsOf={(field) => form.getInputProps(field)} />
      <TeamPicker
        label="Team"
        placeholder="No team owns it"
        value={form.values.teamId}
        onChange={(chosen) => form.setFieldValue('teamId', chosen)}
        error={form.errors['teamId']}
      />
    </FormDialog>
  );
}
