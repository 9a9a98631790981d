import { NumberInput, Text } from '@mantine/core';

import type { Capability, ServiceWithKeys } from '#console/api/actions.ts';
import { CAPABILITY_NAMES } from '#console/components/text/capability.ts';
import { faultsAtFields } from '#console/components/forms/form.tsx';
import { FormDialog } from '#console/components/forms/form_dialog.tsx';
import { useDraftState } from '#console/components/forms/use_draft.ts';
import { useServiceChange } from '#console/pages/services/use_service_change.ts';
import { useOrganization } from '#console/shell/organization.tsx';
import { RETENTION_DAYS_MAX } from '#modules/capabilities/decide/capability.ts';

interface RetentionProps {
  readonly service: ServiceWithKeys;
  readonly capability: Capability;
  readonly onClose: () => void;
}

/** Dialog that sets how long data is kept. */
export function Retention({ service, capability, onClose }: RetentionProps) {
  const { may } = useOrganization();
  const before = service.retentionDays[capability];
  const [{ days }, setValues, draft] = useDraftState<{ readonly days: number | null }>({
    form: `set_retention ${service.serviceId} ${capability}`,
    base: { days: before },
  });
  const changing = useServiceChange('edit_retention', () => {
    draft.done();
    onClose();
  });
  const refused = faultsAtFields(changing.error, { retentionDays: days })['retentionDays'];
  const daysMin = may('services:delete') ? 1 : before;
  const isValid = days !== null && Number.isInteger(days) && days >= daysMin && days <= RETENTION_DAYS_MAX;
  return (
    <FormDialog
      onClose={onClose}
      title={`How long ${CAPABILITY_NAMES[capability]} data is kept`}
      saving={changing}
      failure="Nothing was changed"
      atFields={{ retentionDays: days }}
      draft={draft}
      labels={{ days: 'Days' }}
      show={(_, value) => `${String(value)} days`}
      submit="Save"
      onSubmit={() => {
        if (isValid && draft.conflicts.length === 0)
          changing.mutate({ serviceId: service.serviceId, capability, retentionDays: days, basedOn: before });
      }}
    >
      <NumberInput
        label="Days"
        description={
          daysMin === 1
            ? `1 to ${RETENTION_DAYS_MAX}`
            : `${daysMin} to ${RETENTION_DAYS_MAX}: fewer would delete data, which your role may not`
        }
        value={days ?? ''}
        onChange={(entered) => setValues({ days: typeof entered === 'number' ? entered : null })}
        min={daysMin}
        max={RETENTION_DAYS_MAX}
        allowDecimal={false}
        error={isValid ? refused : `A whole number from ${daysMin} to ${RETENTION_DAYS_MAX}`}
        data-autofocus
      />
      {isValid && days < before && (
        <Text size="sm">Data older than {days} days is hidden immediately and deleted within the hour.</Text>
      )}
    </FormDialog>
  );
}
