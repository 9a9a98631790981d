import { NativeSelect, NumberInput, Stack, TextInput } from '@mantine/core';

import { lazyPart } from '#console/components/lazy_part.tsx';
import classes from '#console/pages/rules/settings/setting_fields.module.css';
import type { SettingValues } from '#console/pages/rules/settings/setting_values.ts';
import type { RuleKind } from '#modules/rules/decide/rule_kinds.ts';
import { hasSetting } from '#modules/rules/decide/rule_settings.ts';
import type { NoDataChoice } from '#modules/rules/decide/kind_settings.ts';

const NO_DATA: Readonly<Record<NoDataChoice, string>> = { resolve: 'Resolve it', keep: 'Keep it open', page: 'Page' };

const ExceptionRuleFields = lazyPart(() =>
  import('#console/pages/exceptions/triage/exception_rule_fields.tsx').then((m) => m.ExceptionRuleFields),
);

export interface SettingFieldsProps {
  readonly kind: RuleKind;
  readonly values: SettingValues;
  onChange(change: Partial<SettingValues>): void;
  /** Returns the fault of a field; undefined if there is none. */
  errorOf(field: keyof SettingValues): string | undefined;
}

const MINUTES = { suffix: ' min', clampBehavior: 'none', allowDecimal: false, min: 0, max: 1_440 } as const;

/** Field for how long a breach lasts until an incident opens; nothing for rules that judge no values over time. */
export function HeldField({ kind, values, onChange, errorOf }: SettingFieldsProps) {
  if (!hasSetting(kind, 'forMinutes')) return null;
  return (
    <NumberInput
      label="True for at least"
      description="How long this must be true without a break before an incident opens. At 0 it opens at once."
      value={values.forMinutes}
      onChange={(forMinutes) => onChange({ forMinutes })}
      error={errorOf('forMinutes')}
      {...MINUTES}
    />
  );
}

/** Fields that make a rule quieter; collapsed until they are needed. */
export function SettingFields({ kind, values, onChange, errorOf }: SettingFieldsProps) {
  const inputOf = (name: keyof SettingValues) => ({
    value: values[name],
    onChange: (value: string | number) => onChange({ [name]: value }),
    error: errorOf(name),
  });
  const whole = { clampBehavior: 'none', allowDecimal: false } as const;
  const minutes = (name: keyof SettingValues, label: string, placeholder?: string) => (
    <NumberInput label={label} placeholder={placeholder} {...inputOf(name)} {...MINUTES} />
  );
  const isOfMetric = hasSetting(kind, 'forMinutes');
  return (
    <details className={classes.settings}>
      <summary>{isOfMetric ? 'Fewer pages' : 'How many it takes, and fewer pages'}</summary>
      <Stack gap="sm">
        {isOfMetric ? metricFields() : <ExceptionRuleFields values={values} onChange={onChange} errorOf={errorOf} />}
        <div className={classes.pair}>
          {minutes('repageMinutes', 'Acknowledged: pages again after', 'never')}
          {minutes('groupMinutes', 'One page with others that open within')}
        </div>
        {values.groupMinutes !== '' && Number(values.groupMinutes) > 0 && (
          <p className="dimmed tiny flush">
            An incident that opens within {values.groupMinutes} min after another one of the service, by the same
            policy, is linked to it: one page for both. It pages by itself if that one ends first.
          </p>
        )}
      </Stack>
    </details>
  );

  function metricFields() {
    return (
      <>
        <div className={classes.pair}>
          <NumberInput
            label="Also over the last"
            description="A shorter time in which it must be true, too: it is not over yet."
            suffix=" min"
            placeholder="one window"
            {...inputOf('shortWindowMinutes')}
            {...whole}
            min={1}
          />
          <NumberInput
            label="Only with at least so much traffic"
            description="Of a ratio: the least value of its lower side."
            placeholder="any"
            {...inputOf('trafficAtLeast')}
            min={0}
            clampBehavior="none"
          />
        </div>
        <TextInput
          label="One incident for each"
          description="A label, such as host: each of its values opens and ends by itself, up to 100 at a time."
          placeholder="none: one incident for all"
          value={String(values.byLabel)}
          onChange={(event) => onChange({ byLabel: event.currentTarget.value })}
          spellCheck={false}
          autoCapitalize="none"
          maxLength={200}
          error={errorOf('byLabel')}
        />
        {minutes('recoveryMinutes', 'Ends when it has not been true for', 'the time over which it is measured')}
        <NumberInput
          label="Ends only beyond"
          description="A value on the other side of the threshold. Between the two nothing opens and nothing ends, so that a value at the threshold does not open one incident after another."
          placeholder="the threshold"
          {...inputOf('recoveryThreshold')}
        />
        <div className={classes.pair}>
          <NativeSelect
            label="When no data arrives"
            value={String(values.noData)}
            onChange={(event) => onChange({ noData: event.currentTarget.value })}
            data={Object.entries(NO_DATA).map(([value, label]) => ({ value, label }))}
            error={errorOf('noData')}
          />
          {values.noData !== 'keep' && minutes('noDataMinutes', 'for')}
        </div>
        <div className={classes.pair}>
          <NumberInput
            label="One incident that stays open, from"
            suffix=" incidents"
            placeholder="never"
            {...inputOf('flapIncidents')}
            {...whole}
            min={2}
            max={100}
          />
          {minutes('flapMinutes', 'within')}
        </div>
        {values.flapIncidents !== '' && (
          <p className="dimmed tiny flush">
            So many within so little time go on and off. The last one then stays open until the condition has been false
            for {values.flapMinutes} min: one page instead of many.
          </p>
        )}
      </>
    );
  }
}
