import { NativeSelect, NumberInput, SegmentedControl, TextInput } from '@mantine/core';
import { useDebouncedValue } from '@mantine/hooks';
import { keepPreviousData, useQuery } from '@tanstack/react-query';

import { actionQuery, type InputOf, type ResultOf } from '#console/api/actions.ts';
import { isApiError } from '#console/api/http.ts';
import { ErrorAlert } from '#console/components/error_alert.tsx';
import { faultsAtFields } from '#console/components/forms/form.tsx';
import { named } from '#console/components/text/name.tsx';
import { showSuccess } from '#console/components/notice.tsx';
import { TextButton } from '#console/components/buttons.tsx';
import { useDraftForm } from '#console/components/forms/use_draft_form.ts';
import { ZoneSelect } from '#console/components/forms/choice.tsx';
import { FormDialog } from '#console/components/forms/form_dialog.tsx';
import classes from '#console/pages/services/monitors_card.module.css';
import { useServiceChange } from '#console/pages/services/use_service_change.ts';
import { useOrganization, useRefresh } from '#console/shell/organization.tsx';
import {
  CRONTAB_LENGTH_MAX,
  INTERVAL_MAX,
  INTERVAL_UNITS,
  MINUTES_MAX,
  THRESHOLD_MAX,
} from '#modules/monitors/decide/schedule_limits.ts';

type Monitor = ResultOf<'list_monitors'>['monitors'][number];

interface Values {
  readonly scheduleType: string;
  readonly crontab: string;
  readonly every: number | null;
  readonly unit: string;
  readonly timezone: string;
  readonly marginMinutes: number | null;
  readonly runtimeMinutes: number | null;
  readonly failureThreshold: number | null;
  readonly recoveryThreshold: number | null;
}

const LABELS: Readonly<Record<keyof Values, string>> = {
  scheduleType: 'Schedule',
  crontab: 'Crontab',
  every: 'Every',
  unit: 'Unit',
  timezone: 'Time zone',
  marginMinutes: 'May begin late by',
  runtimeMinutes: 'May take at most',
  failureThreshold: 'Fails after',
  recoveryThreshold: 'Recovers after',
};

const SETTLED_MS = 300;

/** Dialog to set when the runs of a job are to begin and how long they may take, in place of what the job says. */
export function EditMonitor({ monitor, onClose }: { readonly monitor: Monitor; readonly onClose: () => void }) {
  const { monitorId, slug, editedAt, sentSchedule } = monitor;
  const { form, draft } = useDraftForm<Values>({
    form: `update_monitor ${monitorId}`,
    base: valuesOf(monitor),
    validate: (values) => faultsOf(values),
  });
  const refresh = useRefresh();
  const { values } = form;
  const close = () => {
    draft.done();
    onClose();
  };
  const saving = useServiceChange('update_monitor', () => {
    showSuccess(named`The schedule of ${slug} is saved.`);
    close();
  });
  const resetting = useServiceChange('reset_monitor', () => {
    showSuccess(named`${slug} uses the schedule of its job again.`);
    close();
  });
  const isConflict = isApiError(saving.error, 409);
  return (
    <FormDialog
      onClose={onClose}
      title="Edit the cron monitor"
      saving={saving}
      draft={draft}
      labels={LABELS}
      submit="Save"
      gap="sm"
      onSubmit={form.onSubmit((wanted) =>
        saving.mutate(
          { monitorId, basedOn: editedAt, ...inputOf(wanted) },
          {
            onError(error) {
              form.setErrors(faultsAtFields(error, wanted));
              // The form shows what the other person has saved beside the input.
              if (isApiError(error, 409)) void refresh('services');
            },
          },
        ),
      )}
    >
      <p className={classes.about}>
        {editedAt === null
          ? 'This applies from now on, whatever schedule the job sends with its check-ins.'
          : 'Set by a person. The schedule that the job sends is ignored.'}
        {sentSchedule !== null && ` The job sends: ${sentSchedule}.`}
      </p>
      {sentSchedule !== null && (
        <div>
          <TextButton onClick={() => resetting.mutate({ monitorId, basedOn: editedAt })}>
            Use the schedule of the job again
          </TextButton>
        </div>
      )}
      <SegmentedControl
        aria-label={LABELS.scheduleType}
        value={values.scheduleType}
        onChange={(scheduleType) => form.setFieldValue('scheduleType', scheduleType)}
        data={[
          { value: 'crontab', label: 'Crontab' },
          { value: 'interval', label: 'Interval' },
        ]}
      />
      {values.scheduleType === 'crontab' ? (
        <TextInput
          label={LABELS.crontab}
          placeholder="0 4 * * *"
          description="Minute, hour, day of the month, month, weekday"
          className={classes.crontab}
          spellCheck={false}
          maxLength={CRONTAB_LENGTH_MAX}
          {...form.getInputProps('crontab')}
        />
      ) : (
        <div className={classes.pair}>
          <Count field="every" form={form} max={INTERVAL_MAX} />
          <NativeSelect
            label={LABELS.unit}
            data={INTERVAL_UNITS.map((unit) => ({ value: unit, label: `${unit}s` }))}
            {...form.getInputProps('unit')}
          />
        </div>
      )}
      <ZoneSelect
        value={values.timezone}
        onChange={(timezone) => form.setFieldValue('timezone', timezone)}
        error={textOf(form.errors['timezone'])}
      />
      <NextRuns values={values} />
      <div className={classes.pair}>
        <Count field="marginMinutes" form={form} max={MINUTES_MAX} suffix=" min" />
        <Count field="runtimeMinutes" form={form} max={MINUTES_MAX} suffix=" min" />
        <Count field="failureThreshold" form={form} max={THRESHOLD_MAX} suffix=" bad runs in a row" />
        <Count field="recoveryThreshold" form={form} max={THRESHOLD_MAX} suffix=" good runs in a row" />
      </div>
      {saving.isError && (
        <ErrorAlert
          error={saving.error}
          atFields={form.values}
          title={isConflict ? 'Somebody else has changed it in the meantime' : 'The monitor was not saved'}
        />
      )}
      {resetting.isError && <ErrorAlert error={resetting.error} title="Nothing was changed" />}
    </FormDialog>
  );
}

interface CountProps {
  readonly field: 'every' | 'marginMinutes' | 'runtimeMinutes' | 'failureThreshold' | 'recoveryThreshold';
  readonly form: ReturnType<typeof useDraftForm<Values>>['form'];
  readonly max: number;
  readonly suffix?: string;
}

function Count({ field, form, max, suffix = '' }: CountProps) {
  return (
    <NumberInput
      label={LABELS[field]}
      suffix={suffix}
      min={1}
      max={max}
      clampBehavior="none"
      allowDecimal={false}
      value={form.values[field] ?? ''}
      onChange={(count) => form.setFieldValue(field, count === '' ? null : Number(count))}
      error={form.errors[field]}
    />
  );
}

/** Times of the next runs, so that a crontab need not be read. */
function NextRuns({ values }: { readonly values: Values }) {
  const { org } = useOrganization();
  const [settled] = useDebouncedValue(values, SETTLED_MS);
  const { data, error } = useQuery({
    ...actionQuery(org.orgId, 'services', 'preview_monitor', scheduleOf(settled)),
    enabled: Object.keys(scheduleFaults(settled)).length === 0,
    placeholderData: keepPreviousData,
    retry: false,
  });
  if (isApiError(error, 400)) {
    return (
      <p className="dimmed small flush" role="status">
        {error.message}
      </p>
    );
  }
  if (data === undefined) return null;
  const format = new Intl.DateTimeFormat(undefined, {
    weekday: 'short',
    day: 'numeric',
    month: 'short',
    hour: '2-digit',
    hourCycle: 'h23',
    minute: '2-digit',
    timeZone: settled.timezone,
  });
  return (
    <p className="dimmed small flush" role="status">
      {data.next.length === 0
        ? 'It never runs.'
        : `Next runs: ${data.next.map((at) => format.format(new Date(at))).join('; ')}.`}
    </p>
  );
}

function valuesOf({ entered, ...monitor }: Monitor): Values {
  const { marginMinutes, runtimeMinutes, failureThreshold, recoveryThreshold } = monitor;
  return {
    scheduleType: entered?.scheduleType ?? 'crontab',
    crontab: entered?.crontab ?? '',
    every: entered?.every ?? 1,
    unit: entered?.unit ?? 'hour',
    timezone: entered?.timezone ?? Intl.DateTimeFormat().resolvedOptions().timeZone,
    marginMinutes,
    runtimeMinutes,
    failureThreshold,
    recoveryThreshold,
  };
}

function scheduleOf({ scheduleType, crontab, every, unit, timezone }: Values): InputOf<'preview_monitor'> {
  if (scheduleType === 'crontab') return { scheduleType: 'crontab', crontab: crontab.trim(), timezone };
  const knownUnit = INTERVAL_UNITS.find((intervalUnit) => intervalUnit === unit) ?? 'hour';
  return { scheduleType: 'interval', every: every ?? 0, unit: knownUnit, timezone };
}

function inputOf(values: Values): Omit<InputOf<'update_monitor'>, 'monitorId' | 'basedOn'> {
  const { marginMinutes, runtimeMinutes, failureThreshold, recoveryThreshold } = values;
  return {
    ...scheduleOf(values),
    marginMinutes: marginMinutes ?? 0,
    runtimeMinutes: runtimeMinutes ?? 0,
    failureThreshold: failureThreshold ?? 0,
    recoveryThreshold: recoveryThreshold ?? 0,
  };
}

function faultsOf(values: Values): Record<string, string> {
  const within = (field: CountProps['field'], max: number): Record<string, string> => {
    const value = values[field];
    const isRight = value !== null && Number.isInteger(value) && value >= 1 && value <= max;
    return isRight ? {} : { [field]: `A whole number from 1 to ${max.toLocaleString()}` };
  };
  return {
    ...scheduleFaults(values),
    ...(values.scheduleType === 'interval' && within('every', INTERVAL_MAX)),
    ...within('marginMinutes', MINUTES_MAX),
    ...within('runtimeMinutes', MINUTES_MAX),
    ...within('failureThreshold', THRESHOLD_MAX),
    ...within('recoveryThreshold', THRESHOLD_MAX),
  };
}

/** Returns the faults of a schedule. Only the server checks the crontab. */
function scheduleFaults({ scheduleType, crontab, every }: Values): Record<string, string> {
  if (scheduleType === 'crontab')
    return crontab.trim() === '' ? { crontab: 'Give five fields, such as 0 4 * * *' } : {};
  return every === null || every < 1 || every > INTERVAL_MAX ? { every: `From 1 to ${INTERVAL_MAX}` } : {};
}

function textOf(error: React.ReactNode): string | undefined {
  return typeof error === 'string' ? error : undefined;
}
