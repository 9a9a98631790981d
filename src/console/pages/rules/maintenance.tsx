import { Button, Checkbox, Group, NativeSelect, NumberInput, Stack, TextInput } from '@mantine/core';
import { useMutation, useQuery, useQueryClient } from '@tanstack/react-query';
import { useState } from 'react';

import { type InputOf, invoke, type ResultOf } from '#console/api/actions.ts';
import { actionQuery, topicKey } from '#console/api/queries.ts';
import { Card, Row } from '#console/components/card.tsx';
import { Dialog } from '#console/components/dialog.tsx';
import { ErrorAlert } from '#console/components/error_alert.tsx';
import { Name } from '#console/components/name.tsx';
import { ServicePicker } from '#console/components/service_picker.tsx';
import { Status } from '#console/components/status.tsx';
import { Timestamp } from '#console/components/timestamp.tsx';
import { useOrganization } from '#console/shell/organization.tsx';

const DAYS = ['Mon', 'Tue', 'Wed', 'Thu', 'Fri', 'Sat', 'Sun'] as const;

type Window = ResultOf<'list_maintenance'>['windows'][number];

/** Times in which incidents page nobody: those that are there, and a form for another. */
export function Maintenance({ onClose }: { readonly onClose: () => void }) {
  const { org, may } = useOrganization();
  const { orgId } = org;
  const queryClient = useQueryClient();
  const { data, error, refetch } = useQuery(actionQuery(orgId, 'rules', 'list_maintenance', {}));
  const ending = useMutation({
    mutationFn: (maintenanceId: string) => invoke(orgId, 'delete_maintenance', { maintenanceId }),
    onSuccess: () => queryClient.invalidateQueries({ queryKey: topicKey(orgId, 'rules') }),
  });
  return (
    <Dialog title="Maintenance" isWide onClose={onClose}>
      <Stack>
        <p>Incidents open all the same. One that is still open when the maintenance ends pages then.</p>
        {error !== null && <ErrorAlert error={error} onRetry={() => void refetch()} />}
        {ending.error !== null && <ErrorAlert error={ending.error} title="It was not ended" />}
        {data !== undefined && data.windows.length > 0 && (
          <Card
            title="Windows"
            rows={data.windows.map((window) => (
              <Row key={window.maintenanceId} title={<Name>{window.name}</Name>} sub={<When window={window} />}>
                {may('oncall:edit') && (
                  <Button
                    variant="default"
                    loading={ending.isPending && ending.variables === window.maintenanceId}
                    onClick={() => ending.mutate(window.maintenanceId)}
                  >
                    {window.isActive ? 'End now' : 'Delete'}
                  </Button>
                )}
              </Row>
            ))}
          />
        )}
        {may('oncall:edit') && <NewWindow />}
      </Stack>
    </Dialog>
  );
}

function When({ window }: { readonly window: Window }) {
  const { next, isActive, label, recurrence, timezone } = window;
  const what = label === null ? (window.ruleId === null ? 'a service' : 'a rule') : `${label.name}="${label.value}"`;
  const days = recurrence?.weekdays.map((day) => DAYS[day - 1]).join(', ');
  return (
    <>
      For {what}
      {recurrence !== null && `, ${days} at ${recurrence.startTime} for ${recurrence.minutes} min (${timezone})`}.{' '}
      {next === null ? (
        'Over.'
      ) : isActive ? (
        <Status tone="amber">
          Ends <Timestamp at={next.endsAt} />
        </Status>
      ) : (
        <>
          Next <Timestamp at={next.startsAt} />
        </>
      )}
    </>
  );
}

/** Once from now on, or on days of the week. */
function NewWindow() {
  const { orgId } = useOrganization().org;
  const queryClient = useQueryClient();
  const [name, setName] = useState('');
  const [target, setTarget] = useState<'service' | 'label'>('service');
  const [serviceId, setServiceId] = useState<string | undefined>();
  const [label, setLabel] = useState({ name: '', value: '' });
  const [minutes, setMinutes] = useState<number | string>(60);
  const [weekdays, setWeekdays] = useState<readonly number[]>([]);
  const [startTime, setStartTime] = useState('02:00');
  const creating = useMutation({
    mutationFn: (input: InputOf<'create_maintenance'>) => invoke(orgId, 'create_maintenance', input),
    onSuccess: async () => {
      setName('');
      await queryClient.invalidateQueries({ queryKey: topicKey(orgId, 'rules') });
    },
  });
  const timezone = Intl.DateTimeFormat().resolvedOptions().timeZone;
  const isComplete =
    name.trim() !== '' &&
    Number(minutes) > 0 &&
    (target === 'service' ? serviceId !== undefined : label.name.trim() !== '' && label.value.trim() !== '');
  const create = (): void =>
    creating.mutate({
      name: name.trim(),
      timezone,
      target: target === 'service' ? { serviceId: serviceId ?? '' } : { label },
      ...(weekdays.length > 0
        ? { recurrence: { weekdays: [...weekdays], startTime, minutes: Number(minutes) } }
        : { endsAt: new Date(Date.now() + Number(minutes) * 60_000).toISOString() }),
    });
  return (
    <form
      onSubmit={(event) => {
        event.preventDefault();
        if (isComplete && !creating.isPending) create();
      }}
    >
      <Stack gap="sm">
        <TextInput
          label="What for"
          placeholder="Database upgrade"
          value={name}
          onChange={(event) => setName(event.currentTarget.value)}
        />
        <NativeSelect
          label="Keeps quiet"
          value={target}
          data={[
            { value: 'service', label: 'A service' },
            { value: 'label', label: 'Rules that select a label' },
          ]}
          onChange={(event) => setTarget(event.currentTarget.value === 'label' ? 'label' : 'service')}
        />
        {target === 'service' ? (
          <ServicePicker
            value={serviceId}
            onChange={(chosen) => setServiceId(chosen)}
            label="Service"
            placeholder="Choose a service"
          />
        ) : (
          <Group grow align="start">
            <TextInput
              label="Label"
              placeholder="host"
              value={label.name}
              onChange={(event) => setLabel({ ...label, name: event.currentTarget.value })}
            />
            <TextInput
              label="Value"
              placeholder="web-3"
              value={label.value}
              onChange={(event) => setLabel({ ...label, value: event.currentTarget.value })}
            />
          </Group>
        )}
        <Checkbox.Group
          label="Repeats on"
          description="None: once, from now on."
          value={weekdays.map(String)}
          onChange={(days) => setWeekdays(days.map(Number).toSorted((a, b) => a - b))}
        >
          <Group gap="md" mt={6}>
            {DAYS.map((day, index) => (
              <Checkbox key={day} value={String(index + 1)} label={day} />
            ))}
          </Group>
        </Checkbox.Group>
        <Group grow align="end">
          {weekdays.length > 0 && (
            <TextInput
              type="time"
              label="From"
              description={timezone}
              value={startTime}
              onChange={(event) => setStartTime(event.currentTarget.value)}
            />
          )}
          <NumberInput label="For" suffix=" min" value={minutes} onChange={setMinutes} min={1} allowDecimal={false} />
        </Group>
        {creating.error !== null && <ErrorAlert error={creating.error} title="It was not created" />}
        <Group justify="flex-end">
          <Button type="submit" disabled={!isComplete} loading={creating.isPending}>
            Start maintenance
          </Button>
        </Group>
      </Stack>
    </form>
  );
}
