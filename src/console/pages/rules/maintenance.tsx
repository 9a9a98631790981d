import { Button, Group, Stack } from '@mantine/core';
import { useMutation, useQuery } from '@tanstack/react-query';
import { useState } from 'react';

import { invoke } from '#console/api/actions.ts';
import { maintenanceQuery } from '#console/api/rules.ts';
import { Card, Row } from '#console/components/card.tsx';
import { Dialog } from '#console/components/dialog.tsx';
import { ErrorAlert } from '#console/components/error_alert.tsx';
import { Confirm } from '#console/components/forms/confirm.tsx';
import { Name, named } from '#console/components/text/name.tsx';
import { Status } from '#console/components/status.tsx';
import { Timestamp } from '#console/components/text/timestamp.tsx';
import { IconPlus } from '#console/icons.ts';
import { MaintenanceForm } from '#console/pages/rules/maintenance_form.tsx';
import {
  DAYS,
  type MaintenanceValues,
  type MaintenanceWindow,
  newMaintenance,
} from '#console/pages/rules/maintenance_values.ts';
import { useOrganization, useRefresh } from '#console/shell/organization.tsx';

interface MaintenanceProps {
  readonly onClose: () => void;
  /** Initial target of a new window. */
  readonly target?: Partial<MaintenanceValues> | undefined;
  /** Whether to begin with the form of a new window. */
  readonly isNew?: boolean;
}

/** Dialog of the times in which incidents page nobody: the list, and a form for one of them or for a new one. */
export function Maintenance({ onClose, target, isNew = false }: MaintenanceProps) {
  const { orgId } = useOrganization().org;
  const { data, error, refetch } = useQuery(maintenanceQuery(orgId));
  const [edited, setEdited] = useState<MaintenanceWindow | 'new' | null>(isNew ? 'new' : null);
  const title = edited === null ? 'Maintenance' : edited === 'new' ? 'New maintenance' : 'Change the maintenance';
  /** Returns the current version of a window: somebody else may have changed it since it was opened. */
  const current = (opened: MaintenanceWindow): MaintenanceWindow =>
    data?.windows.find(({ maintenanceId }) => maintenanceId === opened.maintenanceId) ?? opened;
  return (
    <Dialog title={title} isWide onClose={onClose}>
      {edited === null ? (
        <Windows windows={data?.windows} error={error} onRetry={() => void refetch()} onEdit={setEdited} />
      ) : (
        <MaintenanceForm
          edited={edited === 'new' ? null : current(edited)}
          initial={newMaintenance(target)}
          onDone={() => setEdited(null)}
        />
      )}
    </Dialog>
  );
}

interface WindowsProps {
  readonly windows: readonly MaintenanceWindow[] | undefined;
  readonly error: Error | null;
  readonly onRetry: () => void;
  readonly onEdit: (window: MaintenanceWindow | 'new') => void;
}

function Windows({ windows, error, onRetry, onEdit }: WindowsProps) {
  const { org, may } = useOrganization();
  const { orgId } = org;
  const refresh = useRefresh();
  const [ended, setEnded] = useState<MaintenanceWindow | null>(null);
  const ending = useMutation({
    mutationFn: (maintenanceId: string) => invoke(orgId, 'delete_maintenance', { maintenanceId }),
    async onSuccess() {
      setEnded(null);
      await Promise.all([refresh('rules'), refresh('incidents')]);
    },
  });
  const mayEdit = may('oncall:edit');
  const rowOf = (window: MaintenanceWindow) => (
    <Row key={window.maintenanceId} title={<Name>{window.name}</Name>} sub={<When window={window} />}>
      {mayEdit && (
        <Group gap="xs" wrap="nowrap">
          {window.next !== null && (
            <Button variant="default" onClick={() => onEdit(window)}>
              Edit
            </Button>
          )}
          <Button
            variant="default"
            onClick={() => {
              ending.reset();
              setEnded(window);
            }}
          >
            {endText(window)}
          </Button>
        </Group>
      )}
    </Row>
  );
  const present = windows?.filter(({ next }) => next !== null) ?? [];
  const over = windows?.filter(({ next }) => next === null) ?? [];
  return (
    <Stack>
      <p>Incidents are still opened. One that is open when the maintenance ends pages then.</p>
      {error !== null && <ErrorAlert error={error} onRetry={onRetry} />}
      {windows !== undefined && present.length === 0 && <p className="dimmed">Nothing is in maintenance or planned.</p>}
      {present.length > 0 && <Card rows={present.map(rowOf)} />}
      {mayEdit && (
        <Group justify="flex-end">
          <Button leftSection={<IconPlus size={18} />} onClick={() => onEdit('new')}>
            New maintenance
          </Button>
        </Group>
      )}
      {over.length > 0 && (
        <details>
          <summary>
            Over in the last 30 days <span className="numbers">({over.length})</span>
          </summary>
          <Card rows={over.map(rowOf)} />
        </details>
      )}
      {ended !== null && (
        <Confirm
          title={named`${endText(ended)}: ${ended.name}?`}
          button={endText(ended)}
          saving={ending}
          onClose={() => setEnded(null)}
          onConfirm={() => ending.mutate(ended.maintenanceId)}
        >
          {ended.isActive ? 'Incidents that are open now page at once. ' : ''}This cannot be undone.
        </Confirm>
      )}
    </Stack>
  );
}

function endText({ next, startsAt, recurrence, isActive }: MaintenanceWindow): string {
  if (next === null || Date.parse(startsAt) > Date.now()) return 'Delete';
  return isActive && recurrence === null ? 'End now' : 'End for good';
}

function When({ window }: { readonly window: MaintenanceWindow }) {
  const { next, isActive, label, ruleId, targetName, recurrence, timezone, endsAt } = window;
  const days = recurrence?.weekdays.map((day) => DAYS[day - 1]).join(', ');
  return (
    <>
      {label === null ? (
        <>
          {ruleId === null ? 'Service ' : 'Rule '}
          <Name>{targetName ?? 'that was deleted'}</Name>
        </>
      ) : (
        <Name>{`${label.name}="${label.value}"`}</Name>
      )}
      {recurrence !== null && `, ${days} at ${recurrence.startTime} for ${recurrence.minutes} min (${timezone})`}.{' '}
      {next === null && (
        <>
          Over
          {endsAt !== null && (
            <>
              {' since '}
              <Timestamp at={endsAt} format="date_time" />
            </>
          )}
          .
        </>
      )}
      {next !== null && isActive && (
        <Status tone="amber">
          On until <Timestamp at={next.endsAt} format="date_time" />
        </Status>
      )}
      {next !== null && !isActive && (
        <>
          Next: <Timestamp at={next.startsAt} format="date_time" /> to <Timestamp at={next.endsAt} format="date_time" />
          .
        </>
      )}
    </>
  );
}
