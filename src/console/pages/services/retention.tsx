import { Button, Group, NumberInput, Stack, Text } from '@mantine/core';
import { useState } from 'react';

import type { Capability, ServiceWithKeys } from '#console/api/actions.ts';
import { CAPABILITY_NAMES } from '#console/components/capability.ts';
import { Dialog } from '#console/components/dialog.tsx';
import { ErrorAlert } from '#console/components/error_alert.tsx';
import { useServiceChange } from '#console/pages/services/use_service_change.ts';
import { RETENTION_DAYS_MAX } from '#core/capabilities/capability.ts';

interface RetentionProps {
  readonly service: ServiceWithKeys;
  readonly capability: Capability;
  readonly onClose: () => void;
}

/** Sets how long data is kept. */
export function Retention({ service, capability, onClose }: RetentionProps) {
  const before = service.retentionDays[capability];
  const [days, setDays] = useState<number | string>(before);
  const changing = useServiceChange('set_retention', onClose);
  const isValid = typeof days === 'number' && Number.isInteger(days) && days >= 1 && days <= RETENTION_DAYS_MAX;
  return (
    <Dialog onClose={onClose} title={`How long ${CAPABILITY_NAMES[capability]} data is kept`}>
      <form
        onSubmit={(event) => {
          event.preventDefault();
          if (isValid) changing.mutate({ serviceId: service.serviceId, capability, retentionDays: days });
        }}
      >
        <Stack>
          <NumberInput
            label="Days"
            description={`1 to ${RETENTION_DAYS_MAX}`}
            value={days}
            onChange={setDays}
            min={1}
            max={RETENTION_DAYS_MAX}
            allowDecimal={false}
            error={isValid ? null : `A whole number from 1 to ${RETENTION_DAYS_MAX}`}
            data-autofocus
          />
          {isValid && days < before && (
            <Text size="sm">Data older than {days} days is hidden immediately and deleted within the hour.</Text>
          )}
          {changing.isError && <ErrorAlert title="Nothing was changed" error={changing.error} />}
          <Group justify="flex-end">
            <Button variant="default" onClick={onClose}>
              Cancel
            </Button>
            <Button type="submit" disabled={!isValid} loading={changing.isPending}>
              Save
            </Button>
          </Group>
        </Stack>
      </form>
    </Dialog>
  );
}
