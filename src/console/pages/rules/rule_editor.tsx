import {
  Button,
  Group,
  Input,
  NativeSelect,
  NumberInput,
  Radio,
  Skeleton,
  Stack,
  Switch,
  TextInput,
} from '@mantine/core';
import type { UseFormReturnType } from '@mantine/form';
import type { ComponentType, ReactNode } from 'react';

import { isApiError } from '#console/api/http.ts';
import { ErrorAlert } from '#console/components/error_alert.tsx';
import { DraftNotice } from '#console/components/forms/draft_notice.tsx';
import { CancelButton, Form } from '#console/components/forms/form.tsx';
import { PolicyPicker } from '#console/components/forms/policy_picker.tsx';
import { ServicePicker } from '#console/components/forms/service_picker.tsx';
import type { Draft } from '#console/components/forms/use_draft.ts';
import { lazyPart } from '#console/components/lazy_part.tsx';
import { Page } from '#console/components/page.tsx';
import { Name } from '#console/components/text/name.tsx';
import { type ConfigFieldsProps, MetricFields } from '#console/pages/rules/metric_fields.tsx';
import { RuleReplay } from '#console/pages/rules/rule_replay.tsx';
import {
  emptyConfig,
  RULE_LABELS,
  ruleSentence,
  type RuleValues,
  thresholdOf,
} from '#console/pages/rules/rule_values.ts';
import { HeldField, SettingFields, type SettingFieldsProps } from '#console/pages/rules/settings/setting_fields.tsx';
import {
  replayedSettings,
  settingSentences,
  settingsOfValues,
  type SettingValues,
} from '#console/pages/rules/settings/setting_values.ts';
import {
  configFieldsOf,
  isRuleKind,
  RULE_KIND_NAMES,
  RULE_KINDS,
  type RuleKind,
} from '#modules/rules/decide/rule_kinds.ts';
import classes from '#console/pages/rules/rule_editor.module.css';

/** Forms of the kinds that have their own. */
const OWN_FIELDS: Readonly<Partial<Record<RuleKind, ComponentType<ConfigFieldsProps>>>> = {
  metric_threshold: MetricFields,
};

/** Fields that a kind of rule has beyond those of every rule. */
function ConfigFields(props: ConfigFieldsProps) {
  const Fields = OWN_FIELDS[props.kind] ?? DeclaredFields;
  return <Fields {...props} />;
}

const GuidanceFields = lazyPart(() =>
  import('#console/pages/rules/settings/guidance_fields.tsx').then((m) => m.GuidanceFields),
);
const ExceptionReplay = lazyPart(() =>
  import('#console/pages/exceptions/triage/exception_replay.tsx').then((m) => m.ExceptionReplay),
);

interface RuleEditorProps {
  readonly title: string;
  readonly above: ReactNode;
  readonly form: UseFormReturnType<RuleValues>;
  readonly draft: Draft<RuleValues>;
  readonly isNew: boolean;
  /** Name of the service of an existing rule, whose service and kind cannot be changed. */
  readonly serviceName?: string;
  readonly ruleId?: string;
  readonly button: string;
  readonly error: unknown;
  readonly isPending: boolean;
  onSave(values: RuleValues): void;
  onCancel(): void;
}

/** Form of a rule, beside what the rule would have done. */
export function RuleEditor(props: RuleEditorProps) {
  const { title, above, form, draft, isNew, serviceName, ruleId, button, error, isPending, onSave, onCancel } = props;
  const { values } = form;
  const threshold = thresholdOf(values);
  const setConfig = (change: RuleValues['config']): void => {
    form.setFieldValue('config', { ...form.getValues().config, ...change });
    for (const field of Object.keys(change)) form.clearFieldError(`config.${field}`);
  };
  const isOfMetrics = values.kind === 'metric_threshold';
  const ofSettings: SettingFieldsProps = {
    kind: values.kind,
    values: values.settings,
    onChange: (change) => {
      form.setFieldValue('settings', { ...form.getValues().settings, ...change });
      for (const field of Object.keys(change)) form.clearFieldError(`settings.${field}`);
    },
    errorOf: (field) => errorOf(`settings.${field}`),
  };
  return (
    <Page title={title} above={above}>
      <Form
        error={error}
        draft={draft}
        className={classes.layout}
        onSubmit={form.onSubmit((entered) => {
          // The keys that submit the form ignore whether its button is disabled.
          if (!isPending && draft.conflicts.length === 0) onSave(entered);
        })}
        onKeyDown={(event) => {
          if (event.key === 'Enter' && (event.ctrlKey || event.metaKey)) event.currentTarget.requestSubmit();
        }}
      >
        <Stack className={`${classes.form} panel`}>
          <DraftNotice draft={draft} labels={RULE_LABELS} show={(field, value) => shown(field, value, values)} />
          <TextInput label={RULE_LABELS.name} placeholder="Checkout is slow" {...form.getInputProps('name')} />
          {isNew ? (
            <ServicePicker
              label={RULE_LABELS.serviceId}
              placeholder="Which service it watches"
              value={values.serviceId ?? undefined}
              onChange={(serviceId) => form.setFieldValue('serviceId', serviceId ?? null)}
              error={errorOf('serviceId')}
            />
          ) : (
            <div>
              <Input.Label>{RULE_LABELS.serviceId}</Input.Label>
              <div>
                <Name>{serviceName ?? ''}</Name>
              </div>
            </div>
          )}
          {isNew && (
            <Radio.Group
              label={RULE_LABELS.kind}
              value={values.kind}
              error={errorOf('kind')}
              onChange={(kind) => {
                if (isRuleKind(kind) && kind !== values.kind) form.setValues({ kind, config: emptyConfig(kind) });
              }}
            >
              <Stack gap={6} mt={4} className={classes.kinds}>
                {RULE_KIND_NAMES.map((kind) => (
                  <Radio key={kind} value={kind} label={RULE_KINDS[kind].title} />
                ))}
              </Stack>
            </Radio.Group>
          )}
          <ConfigFields
            key={values.kind}
            kind={values.kind}
            serviceId={values.serviceId}
            config={values.config}
            onChange={setConfig}
            errorOf={(field) => errorOf(`config.${field}`)}
          />
          <HeldField {...ofSettings} />
          <Sentence values={values} />
          <GuidanceFields {...ofSettings} whileLoading={<Skeleton height={isOfMetrics ? 320 : 240} />} />
          <SettingFields {...ofSettings} />
          <PolicyPicker
            label="Pages by"
            placeholder="Nobody is paged"
            clearLabel="Page nobody"
            description={
              values.escalationPolicyId === null
                ? 'Without an escalation policy it opens incidents and pages nobody. A team that is not listed has no policy yet.'
                : undefined
            }
            value={values.escalationPolicyId}
            onChange={(policyId) => form.setFieldValue('escalationPolicyId', policyId)}
            error={errorOf('escalationPolicyId')}
          />
          <Switch
            label={RULE_LABELS.enabled}
            checked={values.enabled}
            onChange={(event) => form.setFieldValue('enabled', event.currentTarget.checked)}
          />
          {error !== null && error !== undefined && !isApiError(error, 409) && (
            <ErrorAlert title="The rule was not saved" error={error} atFields={fieldsOf(values)} />
          )}
          <Group justify="flex-end">
            <CancelButton onCancel={onCancel} />
            <Button type="submit" loading={isPending} disabled={draft.conflicts.length > 0}>
              {button}
            </Button>
          </Group>
        </Stack>
        <div className={classes.side}>
          {values.kind === 'metric_threshold' && (threshold === null || values.serviceId === null) && (
            <p className={`${classes.waiting} dimmed small flush`}>
              Once a service and a metric are chosen, this shows what the rule would have done in the last days.
            </p>
          )}
          {values.kind === 'exception' && values.serviceId !== null && (
            <ExceptionReplay
              serviceId={values.serviceId}
              minSeverity={values.config['minSeverity']}
              settings={settingsOfValues('exception', values.settings)}
            />
          )}
          {threshold !== null && values.serviceId !== null && (
            <RuleReplay
              serviceId={values.serviceId}
              ruleId={ruleId}
              rule={threshold}
              settings={replayedSettings(values.settings)}
              escalationPolicyId={values.escalationPolicyId}
              onThreshold={(value) => setConfig({ threshold: value })}
            />
          )}
        </div>
      </Form>
    </Page>
  );

  function errorOf(path: string): string | undefined {
    const error = form.errors[path];
    return typeof error === 'string' ? error : undefined;
  }
}

/** Sentence of what the fields above it mean together; it follows each change. */
function Sentence({ values }: { readonly values: RuleValues }) {
  const text = ruleSentence(values);
  return <p className="flush">{text ?? <span className="dimmed">Say when it should fire.</span>}</p>;
}

/** Formats a value of the form for people, to show two versions of it side by side. */
function shown(field: keyof RuleValues, value: unknown, values: RuleValues): string {
  const { kind } = values;
  if (field === 'config') return ruleSentence({ ...values, config: value as RuleValues['config'] }) ?? 'not complete';
  if (field === 'settings') {
    const settings = value as SettingValues;
    return [ruleSentence({ ...values, settings }), ...settingSentences(kind, settingsOfValues(kind, settings))].join(
      ' ',
    );
  }
  if (field === 'enabled') return value === true ? 'on' : 'off';
  return typeof value === 'string' && value !== '' ? value : 'none';
}

/** Names of the fields in errors of the server. */
function fieldsOf({ config, settings }: RuleValues): object {
  const within = (part: string, values: object) => Object.keys(values).map((field) => [`${part}.${field}`, '']);
  return Object.fromEntries([
    ...['name', 'serviceId', 'kind', 'escalationPolicyId'].map((field) => [field, '']),
    ...within('config', config),
    ...within('settings', settings),
  ]);
}

/** Fields of a kind of rule as its declaration lists them: a new kind needs no form of its own. */
function DeclaredFields({ kind, config, onChange, errorOf }: ConfigFieldsProps) {
  return (
    <Stack>
      {configFieldsOf(kind).map(({ name: field, label, schema: { type, enum: choices, minimum, maximum } }) => {
        const value = config[field] ?? '';
        const common = { label, error: errorOf(field), name: field };
        if (choices !== undefined) {
          return (
            <NativeSelect
              key={field}
              {...common}
              value={String(value)}
              data={[...choices]}
              onChange={(event) => onChange({ [field]: event.currentTarget.value })}
            />
          );
        }
        if (type === 'number' || type === 'integer') {
          return (
            <NumberInput
              key={field}
              {...common}
              value={value}
              onChange={(next) => onChange({ [field]: next })}
              allowDecimal={type === 'number'}
              {...(minimum !== undefined && { min: minimum })}
              {...(maximum !== undefined && { max: maximum })}
            />
          );
        }
        return (
          <TextInput
            key={field}
            {...common}
            value={String(value)}
            onChange={(event) => onChange({ [field]: event.currentTarget.value })}
          />
        );
      })}
    </Stack>
  );
}
