import { Button, Checkbox, Group, NativeSelect, NumberInput, SegmentedControl, Stack, TextInput } from '@mantine/core';
import { useDebouncedValue } from '@mantine/hooks';
import { keepPreviousData, useMutation, useQuery } from '@tanstack/react-query';
import { useState } from 'react';

import { actionQuery, type InputOf, invoke, type ResultOf } from '#console/api/actions.ts';
import { isApiError, serverNow } from '#console/api/http.ts';
import { DraftNotice } from '#console/components/forms/draft_notice.tsx';
import { ErrorAlert } from '#console/components/error_alert.tsx';
import { Form, SubmitButtons } from '#console/components/forms/form.tsx';
import { ServicePicker } from '#console/components/forms/service_picker.tsx';
import { useDraftState } from '#console/components/forms/use_draft.ts';
import { ZoneSelect } from '#console/components/forms/choice.tsx';
import { TimeField } from '#console/components/forms/time_field.tsx';
import classes from '#console/pages/rules/maintenance_form.module.css';
import { IconAlertTriangle } from '#console/icons.ts';
import {
  DAYS,
  inputOfMaintenance,
  MAINTENANCE_LABELS,
  missingIn,
  type MaintenanceValues,
  type MaintenanceWindow,
  shownValue,
  TARGETS,
  toZonedField,
  valuesOfMaintenance,
} from '#console/pages/rules/maintenance_values.ts';
import { RuleSelect } from '#console/pages/rules/rule_select.tsx';
import { serverFaults } from '#console/pages/rules/rule_values.ts';
import { useOrganization, useRefresh } from '#console/shell/organization.tsx';
import { Name } from '#console/components/text/name.tsx';
import warningClasses from '#console/pages/policies/warnings.module.css';

const LENGTHS = [30, 60, 120, 480] as const;
const SETTLED_MS = 300;

interface MaintenanceFormProps {
  /** Window to edit; null for a new one. */
  readonly edited: MaintenanceWindow | null;
  readonly initial: MaintenanceValues;
  readonly onDone: () => void;
}

/** Form of a maintenance: its target, its beginning and end, and their effect. */
export function MaintenanceForm({ edited, initial, onDone }: MaintenanceFormProps) {
  const { orgId } = useOrganization().org;
  const refresh = useRefresh();
  const [values, setValues, draft] = useDraftState<MaintenanceValues>({
    form:
      edited === null
        ? `create_maintenance ${initial.ruleId ?? initial.serviceId ?? ''}`
        : `update_maintenance ${edited.maintenanceId}`,
    base: edited === null ? initial : valuesOfMaintenance(edited),
  });
  const set = (change: Partial<MaintenanceValues>): void => setValues({ ...values, ...change });
  const input = inputOfMaintenance(values, edited);
  const [settled] = useDebouncedValue(input, SETTLED_MS);
  const preview = useQuery({
    ...actionQuery(orgId, 'rules', 'preview_maintenance', {
      ...(settled ?? NOTHING),
      ...(edited !== null && { maintenanceId: edited.maintenanceId }),
    }),
    enabled: settled !== null,
    placeholderData: keepPreviousData,
    retry: false,
  });
  const saving = useMutation({
    mutationFn: (wanted: InputOf<'create_maintenance'>) => {
      if (edited === null) return invoke(orgId, 'create_maintenance', wanted);
      const { maintenanceId, updatedAt: basedOn } = edited;
      return invoke(orgId, 'update_maintenance', { maintenanceId, basedOn, ...wanted });
    },
    onSuccess: async () => {
      draft.done();
      await refresh('rules');
      await refresh('incidents');
      onDone();
    },
    // The form shows what the other person has saved beside the input.
    onError: (error) => (isApiError(error, 409) ? refresh('rules') : undefined),
  });
  const [isSent, setIsSent] = useState(false);
  const faults = {
    ...(settled !== null && serverFaults(preview.error)),
    ...serverFaults(saving.error),
    ...(isSent && missingIn(values)),
  };
  return (
    <Form
      error={saving.error}
      draft={draft}
      onSubmit={() => {
        setIsSent(true);
        if (input !== null && draft.conflicts.length === 0 && !saving.isPending) saving.mutate(input);
      }}
    >
      <Stack gap="sm">
        <DraftNotice
          draft={draft}
          labels={MAINTENANCE_LABELS}
          show={(field, value) => shownValue(field, value, edited)}
        />
        <TextInput
          label="What for"
          placeholder="Database upgrade"
          value={values.name}
          onChange={(event) => set({ name: event.currentTarget.value })}
          error={faults['name']}
          maxLength={500}
        />
        <Target values={values} set={set} faults={faults} />
        <SegmentedControl
          aria-label="How often"
          value={values.repeats ? 'weekly' : 'once'}
          onChange={(choice) => set({ repeats: choice === 'weekly' })}
          data={[
            { value: 'once', label: 'Once' },
            { value: 'weekly', label: 'Every week' },
          ]}
        />
        {values.repeats ? (
          <Weekly values={values} set={set} faults={faults} />
        ) : (
          <Once values={values} set={set} faults={faults} />
        )}
        <ZoneSelect
          value={values.timezone}
          onChange={(timezone) => set({ timezone })}
          description="Times are those of this zone, also when its clocks change."
          error={faults['timezone']}
        />
        {settled !== null && preview.data !== undefined && preview.error === null && (
          <MaintenancePreview preview={preview.data} timezone={values.timezone} />
        )}
        {saving.error !== null && (
          <ErrorAlert
            error={saving.error}
            atFields={AT_FIELDS}
            title={
              isApiError(saving.error, 409) && edited !== null
                ? 'Somebody else has changed it in the meantime'
                : 'It was not saved'
            }
          />
        )}
        <SubmitButtons label={edited === null ? 'Create' : 'Save'} isPending={saving.isPending} onCancel={onDone} />
      </Stack>
    </Form>
  );
}

/** Names of the fields in errors of the server. */
const AT_FIELDS = {
  name: '',
  timezone: '',
  startsAt: '',
  endsAt: '',
  'target.serviceId': '',
  'target.ruleId': '',
  'target.label.name': '',
  'target.label.value': '',
  'recurrence.weekdays': '',
  'recurrence.startTime': '',
  'recurrence.minutes': '',
};

/** Input while the form is incomplete; it is never sent. */
const NOTHING: InputOf<'create_maintenance'> = { name: '', target: {}, timezone: 'UTC' };

interface PartProps {
  readonly values: MaintenanceValues;
  set(change: Partial<MaintenanceValues>): void;
  readonly faults: Readonly<Record<string, string>>;
}

function Target({ values, set, faults }: PartProps) {
  const { target, serviceId, ruleId, labelName, labelValue } = values;
  return (
    <>
      <NativeSelect
        label="Keeps quiet"
        value={target}
        data={Object.entries(TARGETS).map(([kind, label]) => ({ value: kind, label }))}
        onChange={(event) => {
          const chosen = event.currentTarget.value;
          set({ target: chosen === 'rule' || chosen === 'label' ? chosen : 'service' });
        }}
        error={faults['target']}
      />
      {target === 'service' && (
        <ServicePicker
          value={serviceId}
          onChange={(chosen) => set({ serviceId: chosen })}
          label="Service"
          placeholder="Choose a service"
          error={faults['target.serviceId']}
        />
      )}
      {target === 'rule' && (
        <RuleSelect value={ruleId} onChange={(chosen) => set({ ruleId: chosen })} error={faults['target.ruleId']} />
      )}
      {target === 'label' && (
        <Group grow align="start">
          <TextInput
            label="Label"
            placeholder="host"
            value={labelName}
            onChange={(event) => set({ labelName: event.currentTarget.value })}
            error={faults['target.label.name']}
          />
          <TextInput
            label="Value"
            placeholder="web-3"
            value={labelValue}
            onChange={(event) => set({ labelValue: event.currentTarget.value })}
            error={faults['target.label.value']}
          />
        </Group>
      )}
    </>
  );
}

interface StartAndEndProps {
  readonly part: PartProps;
  readonly labels: readonly [start: string, end: string];
  readonly endDescription: string;
}

function StartAndEnd({ part: { values, set, faults }, labels: [start, end], endDescription }: StartAndEndProps) {
  return (
    <div className={classes.pair}>
      <TimeField
        label={start}
        description="Empty: from now on."
        value={values.startsAt}
        onChange={(value) => set({ startsAt: value })}
        error={faults['startsAt']}
      />
      <TimeField
        label={end}
        description={endDescription}
        value={values.endsAt}
        onChange={(value) => set({ endsAt: value })}
        error={faults['endsAt']}
      />
    </div>
  );
}

function Once({ values, set, faults }: PartProps) {
  const { startsAt, timezone } = values;
  /**
   * Returns the end of a window of so many minutes from the chosen start, by the wall clock of the zone, so that no
   * clock change can be in between.
   */
  const lasting = (minutes: number): string => {
    if (startsAt === '') return toZonedField(serverNow() + minutes * 60_000, timezone);
    return toZonedField(Date.parse(`${startsAt}Z`) + minutes * 60_000, 'UTC');
  };
  return (
    <>
      <StartAndEnd part={{ values, set, faults }} labels={['From', 'Until']} endDescription="At most 31 days later." />
      <Group gap="xs" role="group" aria-label="How long">
        {LENGTHS.map((minutes) => (
          <Button key={minutes} size="xs" variant="default" onClick={() => set({ endsAt: lasting(minutes) })}>
            {minutes < 60 ? `${minutes} min` : `${minutes / 60} h`}
          </Button>
        ))}
      </Group>
    </>
  );
}

function Weekly({ values, set, faults }: PartProps) {
  const { weekdays, startTime, minutes } = values;
  return (
    <>
      <Checkbox.Group
        label="On"
        value={weekdays.map(String)}
        onChange={(days) => set({ weekdays: days.map(Number).toSorted((a, b) => a - b) })}
        error={faults['recurrence.weekdays']}
      >
        <Group gap="md" mt={6}>
          {DAYS.map((day, index) => (
            <Checkbox
              key={day}
              value={String(index + 1)}
              label={day}
              aria-invalid={faults['recurrence.weekdays'] === undefined ? undefined : true}
            />
          ))}
        </Group>
      </Checkbox.Group>
      <div className={classes.pair}>
        <TimeField
          kind="time"
          label="At"
          value={startTime}
          onChange={(value) => set({ startTime: value })}
          error={faults['recurrence.startTime']}
        />
        <NumberInput
          label="For"
          suffix=" min"
          value={minutes}
          onChange={(chosen) => set({ minutes: chosen })}
          min={5}
          max={720}
          allowDecimal={false}
          error={faults['recurrence.minutes']}
        />
      </div>
      <StartAndEnd
        part={{ values, set, faults }}
        labels={['Not before', 'Not after']}
        endDescription="Empty: until it is ended."
      />
    </>
  );
}

interface MaintenancePreviewProps {
  readonly preview: ResultOf<'preview_maintenance'>;
  readonly timezone: string;
}

/** Preview of when the window is in effect, what it keeps quiet, and which others overlap with it. */
function MaintenancePreview({ preview, timezone }: MaintenancePreviewProps) {
  const { next, ruleCount, conflicts, conflictCount } = preview;
  const spanText = spanTextIn(timezone);
  return (
    <div aria-live="polite" className={`${classes.preview} small`}>
      <p>
        {next.length === 0 ? 'It is never in effect. ' : `In effect ${next.map(spanText).join('; ')}. `}
        {ruleCount === 0
          ? 'No rule is kept quiet by it yet.'
          : `It keeps ${ruleCount.toLocaleString()} ${ruleCount === 1 ? 'rule' : 'rules'} quiet.`}
      </p>
      {conflicts.length > 0 && (
        <ul className={warningClasses.warnings} aria-label="Overlapping windows">
          {conflicts.map((conflict) => (
            <li key={conflict.maintenanceId} className={`${warningClasses.warning} spaced small`}>
              <IconAlertTriangle size={16} stroke={1.75} aria-hidden />
              <span>
                Overlaps with <Name>{conflict.name}</Name>, {spanText(conflict)}. Pages wait until both are over.
              </span>
            </li>
          ))}
          {conflictCount > conflicts.length && (
            <li className={`${warningClasses.warning} spaced small`}>
              and with {conflictCount - conflicts.length} more
            </li>
          )}
        </ul>
      )}
    </div>
  );
}

/** Returns a formatter of spans in the zone of the window, as in its fields. */
function spanTextIn(timeZone: string) {
  const format = new Intl.DateTimeFormat(undefined, {
    dateStyle: 'medium',
    timeStyle: 'short',
    hourCycle: 'h23',
    timeZone,
  });
  return ({ startsAt, endsAt }: { readonly startsAt: string; readonly endsAt: string }): string =>
    format.formatRange(new Date(startsAt), new Date(endsAt));
}
