import { NativeSelect, NumberInput, TextInput } from '@mantine/core';

import classes from '#console/pages/rules/settings/setting_fields.module.css';
import type { SettingValues } from '#console/pages/rules/settings/setting_values.ts';
import { LEVELS } from '#modules/exceptions/decide/level.ts';
import type { MonitorChoice } from '#modules/rules/decide/kind_settings.ts';

const MONITORS: Readonly<Record<MonitorChoice, string>> = { open: 'Open an incident', ignore: 'Open none' };

interface ExceptionRuleFieldsProps {
  readonly values: SettingValues;
  onChange(change: Partial<SettingValues>): void;
  /** Returns the fault of a field; undefined if there is none. */
  errorOf(field: keyof SettingValues): string | undefined;
}

/** Fields that only rules on exceptions have: how often they have to come, and which count. */
export function ExceptionRuleFields({ values, onChange, errorOf }: ExceptionRuleFieldsProps) {
  const count = (name: 'eventsOver' | 'usersOver', label: string, suffix: string) => (
    <NumberInput
      label={label}
      suffix={suffix}
      placeholder="no limit"
      value={values[name]}
      onChange={(value) => onChange({ [name]: value })}
      min={0}
      max={1_000_000_000}
      clampBehavior="none"
      allowDecimal={false}
      error={errorOf(name)}
    />
  );
  const condition = (
    name: 'inEnvironment' | 'inRelease' | 'withTag' | 'withText',
    label: string,
    placeholder: string,
  ) => (
    <TextInput
      label={label}
      placeholder={placeholder}
      value={String(values[name])}
      onChange={(event) => onChange({ [name]: event.currentTarget.value })}
      spellCheck={false}
      autoCapitalize="none"
      maxLength={200}
      error={errorOf(name)}
    />
  );
  const isOnRate = values.eventsOver !== '' || values.usersOver !== '';
  return (
    <>
      <div className={classes.pair}>
        {count('eventsOver', 'Opens only from more than', ' events')}
        {count('usersOver', 'or from more than', ' users')}
      </div>
      {isOnRate && (
        <>
          <NumberInput
            label="of one exception within"
            suffix=" min"
            value={values.rateMinutes}
            onChange={(rateMinutes) => onChange({ rateMinutes })}
            min={0}
            max={1_440}
            clampBehavior="none"
            allowDecimal={false}
            error={errorOf('rateMinutes')}
          />
          <p className="dimmed tiny flush">
            An exception opens an incident when it comes so often, whether it is new or known. Only events that meet the
            conditions below count. One incident is open for it at a time; once that is resolved, events count anew.
          </p>
        </>
      )}
      <div className={classes.pair}>
        {condition('inEnvironment', 'Only of the environment', 'any, or prod*')}
        {condition('inRelease', 'Only of the release', 'any, or 2.*')}
      </div>
      {condition('withTag', 'Only with the tag', 'any, or customer:acme*')}
      <div className={classes.pair}>
        {condition('withText', 'Only with this in the title', 'any')}
        <NativeSelect
          label="Severity of its incidents"
          value={String(values.incidentSeverity)}
          onChange={(event) => onChange({ incidentSeverity: event.currentTarget.value })}
          data={[{ value: '', label: 'that of the exception' }, ...LEVELS]}
          error={errorOf('incidentSeverity')}
        />
      </div>
      <NativeSelect
        label="Cron monitors that miss or fail a run"
        value={String(values.monitors)}
        onChange={(event) => onChange({ monitors: event.currentTarget.value })}
        data={Object.entries(MONITORS).map(([value, label]) => ({ value, label }))}
        error={errorOf('monitors')}
      />
    </>
  );
}
