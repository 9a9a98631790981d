import { NumberInput, SegmentedControl, Text } from '@mantine/core';

import { faultsAtFields } from '#console/components/forms/form.tsx';
import { FormDialog } from '#console/components/forms/form_dialog.tsx';
import { named } from '#console/components/text/name.tsx';
import { showSuccess } from '#console/components/notice.tsx';
import { useDraftForm } from '#console/components/forms/use_draft_form.ts';
import type { Source } from '#console/pages/alert_sources/route_draft.ts';
import { useServiceChange } from '#console/pages/services/use_service_change.ts';

interface Values {
  readonly incidentsPer: Source['settings']['incidentsPer'];
  /** Null: as the tool says, or as was learnt. */
  readonly leaseMinutes: number | null;
  readonly onSilence: Source['settings']['onSilence'];
  readonly groupMinutes: number | null;
}

const LABELS: Readonly<Record<keyof Values, string>> = {
  incidentsPer: 'One incident for',
  leaseMinutes: 'No word after',
  onSilence: 'An alert without word',
  groupMinutes: 'One page with others that open within',
};

/** Dialog to set how the alerts of a source share incidents, and what becomes of those that nobody repeats. */
export function EditSource({ source, onClose }: { readonly source: Source; readonly onClose: () => void }) {
  const { incidentsPer, leaseMinutes, onSilence, groupMinutes } = source.settings;
  const { form, draft } = useDraftForm<Values>({
    form: `set_alert_source ${source.sourceId}`,
    base: { incidentsPer, leaseMinutes, onSilence, groupMinutes },
  });
  const close = () => {
    draft.done();
    onClose();
  };
  const saving = useServiceChange('set_alert_source', () => {
    showSuccess(named`The settings of ${source.tool} are saved.`);
    close();
  });
  const { values } = form;
  return (
    <FormDialog
      title={`Settings of ${source.tool}`}
      onClose={onClose}
      saving={saving}
      failure="The settings were not saved"
      atFields={values}
      draft={draft}
      labels={LABELS}
      submit="Save"
      gap="sm"
      onSubmit={form.onSubmit((wanted) =>
        saving.mutate(
          {
            ...source.settings,
            sourceId: source.sourceId,
            ...wanted,
            groupMinutes: wanted.groupMinutes ?? 0,
            basedOn: source.settings,
          },
          { onError: (error) => form.setErrors(faultsAtFields(error, wanted)) },
        ),
      )}
    >
      <Text size="sm" fw={560}>
        {LABELS.incidentsPer}
      </Text>
      <SegmentedControl
        aria-label={LABELS.incidentsPer}
        value={values.incidentsPer}
        onChange={(choice) => form.setFieldValue('incidentsPer', choice === 'alert' ? 'alert' : 'group')}
        data={[
          { value: 'group', label: 'Each group' },
          { value: 'alert', label: 'Each alert' },
        ]}
      />
      <Text size="sm" c="dimmed">
        {values.incidentsPer === 'group'
          ? 'Alerts that their tool calls one group share an incident. It ends with the last of them.'
          : 'Each alert has an incident of its own, and pages by itself.'}
      </Text>
      <NumberInput
        label={LABELS.leaseMinutes}
        description="An open alert that its tool has not repeated for so long is shown as without word. Nobody is paged."
        placeholder="as the tool says, or as was learnt"
        suffix=" min"
        min={1}
        max={44_640}
        clampBehavior="none"
        allowDecimal={false}
        value={values.leaseMinutes ?? ''}
        onChange={(minutes) => form.setFieldValue('leaseMinutes', minutes === '' ? null : Number(minutes))}
        error={form.errors['leaseMinutes']}
      />
      <Text size="sm" fw={560}>
        {LABELS.onSilence}
      </Text>
      <SegmentedControl
        aria-label={LABELS.onSilence}
        value={values.onSilence}
        onChange={(choice) => form.setFieldValue('onSilence', choice === 'resolve' ? 'resolve' : 'keep')}
        data={[
          { value: 'keep', label: 'Stays open' },
          { value: 'resolve', label: 'Is resolved' },
        ]}
      />
      <NumberInput
        label={LABELS.groupMinutes}
        description="What opens so soon after another incident of the service is linked to it: one page for both."
        placeholder="0"
        suffix=" min"
        min={0}
        max={1_440}
        clampBehavior="none"
        allowDecimal={false}
        value={values.groupMinutes ?? ''}
        onChange={(minutes) => form.setFieldValue('groupMinutes', minutes === '' ? null : Number(minutes))}
        error={form.errors['groupMinutes']}
      />
    </FormDialog>
  );
}
