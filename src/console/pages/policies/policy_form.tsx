import { Button, Kbd, TextInput } from '@mantine/core';
import { type KeyboardEvent, type ReactNode, useId, useLayoutEffect, useRef, useState } from 'react';

import { isApiError } from '#console/api/http.ts';
import { lazyPart } from '#console/components/lazy_part.tsx';
import { isolateBidi } from '#console/components/text/bidi.ts';
import { DraftNotice } from '#console/components/forms/draft_notice.tsx';
import { ErrorAlert } from '#console/components/error_alert.tsx';
import { CancelButton, faultsAtFields, Form } from '#console/components/forms/form.tsx';
import type { Draft } from '#console/components/forms/use_draft.ts';
import { IconPlus, IconRepeat } from '#console/icons.ts';
import { waitText } from '#console/pages/policies/escalation_flow.tsx';
import { Steps } from '#console/components/forms/steps.tsx';
import { TeamPicker } from '#console/components/forms/team_picker.tsx';
import { type Names, useNamesOf } from '#console/components/text/use_names_of.ts';
import classes from '#console/pages/policies/policy_editor.module.css';
import {
  addStep,
  canRepeat,
  type DraftStep,
  faultsOf,
  type HoursFaults,
  hasFaults,
  isOutOfOrder,
  moveStep,
  type PolicyDraft,
  removeStep,
  repeatSteps,
} from '#console/pages/policies/policy_draft.ts';
import { type StepFaults, StepEditor } from '#console/pages/policies/step_editor.tsx';
import { CHANNEL_DECLARATIONS } from '#modules/contacts/decide/channel.ts';
import { POLICY_STEPS_MAX } from '#modules/policies/decide/policy_details.ts';

const HoursFields = lazyPart(() =>
  import('#console/pages/policies/policy_details_form.tsx').then((m) => m.HoursFields),
);
const PolicyPreview = lazyPart(() => import('#console/pages/policies/policy_preview.tsx').then((m) => m.PolicyPreview));
const RepeatFields = lazyPart(() =>
  import('#console/pages/policies/policy_details_form.tsx').then((m) => m.RepeatFields),
);

interface PolicyFormProps {
  readonly values: PolicyDraft;
  readonly setValues: (values: PolicyDraft) => void;
  readonly draft: Draft<PolicyDraft>;
  /** Whether the policy is new: a new one chooses its team; a stored one keeps it. */
  readonly isNew: boolean;
  readonly policyId?: string;
  readonly button: string;
  readonly isPending: boolean;
  readonly error: unknown;
  readonly onSave: () => void;
  readonly onCancel: () => void;
  /** Content above the steps. */
  readonly children?: ReactNode;
}

/** Editor of a policy: its steps in the order in which they fire, and whom they would page now. */
export function PolicyForm(props: PolicyFormProps) {
  const { values, setValues, draft, isNew, policyId, button, isPending, error, onSave, onCancel, children } = props;
  const [isTried, setIsTried] = useState(false);
  const { list, announcement, focusOn } = useFocusInSteps();
  const faults = faultsOf(values, isNew);
  const shown = isTried ? faults : { ofSteps: new Map<number, StepFaults>() };
  const refused = refusalsOf(error);
  const atTop = faultsAtFields(error, { name: '', teamId: '', repeat: '' });
  const { steps } = values;
  const listFault = listFaultOf(error);
  const stepsFaultId = useId();
  const names = useNamesOf(steps.flatMap(({ targetUserIds }) => targetUserIds));

  const setSteps = (changed: readonly DraftStep[]) => setValues({ ...values, steps: changed });
  const add = (): void => {
    const added = addStep(steps);
    setSteps(added);
    focusOn(added.at(-1)?.key, 'people', `Step ${added.length} is added.`);
  };
  const move = (key: number, by: 1 | -1, field: string): void => {
    const moved = moveStep(steps, key, by);
    setSteps(moved);
    focusOn(key, field, `It is now step ${moved.findIndex((step) => step.key === key) + 1}.`);
  };
  const save = (): void => {
    setIsTried(true);
    if (!hasFaults(faults) && draft.conflicts.length === 0 && !isPending) onSave();
    else if (draft.conflicts.length > 0) conflictButton(list.current)?.focus();
  };
  const onKey = (event: KeyboardEvent): void => {
    if (event.key !== 'Enter') return;
    if (event.altKey) add();
    else if (event.ctrlKey || event.metaKey) list.current?.closest('form')?.requestSubmit();
    else return;
    event.preventDefault();
    event.stopPropagation();
  };
  return (
    <div className={classes.editor}>
      <Form error={error} draft={draft} onKeyDownCapture={onKey} onSubmit={() => save()}>
        <DraftNotice
          draft={draft}
          labels={{ name: 'Name', teamId: 'Team', steps: 'Steps', repeat: 'Repetition', hours: 'Hours' }}
          show={(field, value) => shownValue(field, value, names)}
        />
        {error !== null && draft.conflicts.length === 0 && (
          <ErrorAlert title="The policy was not saved" error={error} atFields={AT_FIELDS} />
        )}
        {children}
        <div className={classes.top}>
          <TextInput
            label="Name"
            placeholder="Wake somebody"
            maxLength={500}
            value={values.name}
            onChange={(event) => setValues({ ...values, name: event.currentTarget.value })}
            error={shown.name ?? atTop['name']}
            data-autofocus
          />
          {isNew && (
            <TeamPicker
              label="Team"
              placeholder="Choose a team"
              isRequired
              value={values.teamId === '' ? null : values.teamId}
              onChange={(teamId) => setValues({ ...values, teamId: teamId ?? values.teamId })}
              error={shown.teamId ?? atTop['teamId']}
            />
          )}
        </div>
        <Steps className={classes.steps} ref={list} goesOn>
          {steps.map((step, index) => (
            <StepEditor
              key={step.key}
              step={step}
              index={index}
              count={steps.length}
              teamId={values.teamId}
              names={names}
              faults={{ ...shown.ofSteps.get(step.key), ...refused.get(index) }}
              isOutOfOrder={isOutOfOrder(steps, index)}
              onChange={(changes) => setSteps(steps.map((other) => (other === step ? { ...step, ...changes } : other)))}
              onMove={(by, field) => move(step.key, by, field)}
              onRemove={() => setSteps(removeStep(steps, step.key))}
            />
          ))}
        </Steps>
        {(shown.steps ?? listFault) !== undefined && (
          <p className={`${classes.hint} small flush`} role="alert" id={stepsFaultId}>
            {shown.steps ?? listFault}
          </p>
        )}
        {steps.length === 0 && !isNew && (
          <p className={`${classes.hint} small flush`}>Without steps it pages nobody.</p>
        )}
        <div className={`${classes.add} wraps spaced`}>
          <Button
            variant="default"
            leftSection={<IconPlus size={18} />}
            onClick={add}
            disabled={steps.length >= POLICY_STEPS_MAX}
            {...((shown.steps ?? listFault) !== undefined && { 'aria-describedby': stepsFaultId })}
          >
            Add a step
          </Button>
          {steps.length > 0 && (
            <Button
              variant="default"
              leftSection={<IconRepeat size={18} />}
              onClick={() => setSteps(repeatSteps(steps))}
              disabled={!canRepeat(steps)}
              title={canRepeat(steps) ? undefined : `A policy has at most ${POLICY_STEPS_MAX} steps`}
            >
              Repeat all steps
            </Button>
          )}
        </div>
        <RepeatFields
          repeat={values.repeat}
          error={shown.repeat ?? atTop['repeat']}
          onChange={(repeat) => setValues({ ...values, repeat })}
        />
        <HoursFields
          hours={values.hours}
          faults={shown.hours ?? hoursRefused(error)}
          onChange={(hours) => setValues({ ...values, hours })}
        />
        <p className={`${classes.keys} dimmed tiny`}>
          <Kbd size="xs">Alt</Kbd> <Kbd size="xs">↑</Kbd> <Kbd size="xs">↓</Kbd> move a step, <Kbd size="xs">Alt</Kbd>{' '}
          <Kbd size="xs">Enter</Kbd> adds one, <Kbd size="xs">Ctrl</Kbd> <Kbd size="xs">Enter</Kbd> saves.
        </p>
        <div className="hidden-text" aria-live="polite">
          {announcement}
        </div>
        <div className={classes.foot}>
          <CancelButton onCancel={onCancel} />
          <Button type="submit" loading={isPending} disabled={draft.conflicts.length > 0}>
            {button}
          </Button>
        </div>
      </Form>
      <PolicyPreview values={values} policyId={policyId} />
    </div>
  );
}

/** Moves the focus into a step after it was added or moved, and announces it to screen readers. */
function useFocusInSteps() {
  const list = useRef<HTMLOListElement>(null);
  const wanted = useRef<{ readonly key: number; readonly field: string } | null>(null);
  const [announcement, setAnnouncement] = useState('');
  useLayoutEffect(() => {
    if (wanted.current === null) return;
    const { key, field } = wanted.current;
    const step = list.current?.querySelector(`[data-step="${key}"]`);
    const target = findControl(step, field) ?? findControl(step, field === 'up' ? 'down' : 'up');
    target?.focus();
    target?.closest('li')?.scrollIntoView({ block: 'nearest' });
    wanted.current = null;
  });
  return {
    list,
    announcement,
    focusOn(key: number | undefined, field: string, text: string) {
      wanted.current = key === undefined ? null : { key, field };
      setAnnouncement(text);
    },
  };
}

function findControl(step: Element | null | undefined, field: string): HTMLElement | null {
  const place = step?.querySelector(`[data-focus="${field}"]`);
  if (place === null || place === undefined) return null;
  const control = place.matches('input, button') ? place : place.querySelector('input');
  return control instanceof HTMLElement && !control.matches(':disabled') ? control : null;
}

function conflictButton(list: HTMLElement | null): HTMLElement | null | undefined {
  return list?.closest('form')?.querySelector('[role=alert] button');
}

/** Names of fields in errors of the server: faults that a field, or the list of steps, shows. */
const AT_FIELDS = { name: '', teamId: '', steps: '', repeat: '', hours: '' };

/** Returns the server's fault of the steps as a whole, or one that no field of a step shows. */
function listFaultOf(error: unknown): string | undefined {
  if (!isApiError(error)) return undefined;
  const { path, message } =
    error.faults.find((fault) => fault.path.startsWith('steps') && !OF_STEP.test(fault.path)) ?? {};
  if (path === undefined || message === undefined) return undefined;
  return path === 'steps' ? `The list ${message}.` : `${path}: ${message}.`;
}

const OF_STEP = /^steps\[(\d+)\]\.(afterMinutes|channels|targetUserIds|scheduleIds|turn|members|policyId)/;

/** Returns the server's faults, by the index of the step. */
function refusalsOf(error: unknown): ReadonlyMap<number, StepFaults> {
  if (!isApiError(error)) return new Map();
  const stepFaults = new Map<number, StepFaults>();
  for (const { path, message } of error.faults) {
    const [, index, field] = OF_STEP.exec(path) ?? [];
    if (index !== undefined && field !== undefined) {
      stepFaults.set(Number(index), { ...stepFaults.get(Number(index)), [field]: message });
    }
  }
  return stepFaults;
}

/** Returns the server's faults of the hours. */
function hoursRefused(error: unknown): HoursFaults {
  const faults = isApiError(error) ? error.faults : [];
  const at = (start: string) => faults.find(({ path }) => path.startsWith(start))?.message;
  return {
    timezone: at('hours.timezone'),
    windows: at('hours.windows'),
    outside: at('hours.outside'),
    ofWindows: new Map(),
  };
}

/** Returns a field of the draft as text, to compare two versions. */
function shownValue(field: string, value: unknown, names: Names): string {
  switch (field) {
    case 'steps':
      return stepsText(value as readonly DraftStep[], names);
    case 'repeat': {
      const { times, pauseMinutes } = value as PolicyDraft['repeat'];
      return times === 0 ? 'no repetition' : `${times} times, after ${pauseMinutes} minutes`;
    }
    case 'hours': {
      const hours = value as PolicyDraft['hours'];
      const windows = hours?.windows.map(({ days, from, to }) => `${days.join(',')} ${from}-${to}`);
      return windows === undefined ? 'at any time' : `${windows.join('; ')} (${hours?.timezone})`;
    }
    default:
      return String(value);
  }
}

/** Returns the steps as text, to compare two versions. */
function stepsText(steps: readonly DraftStep[], { nameOf }: Names): string {
  if (steps.length === 0) return 'no steps';
  return steps
    .map(({ afterMinutes, targetUserIds, useSchedule, isNext, pagedTeamId, policyId, channels }) => {
      const named = targetUserIds.map((id) => isolateBidi(nameOf(id) ?? 'somebody'));
      const people = [
        ...named,
        ...(useSchedule ? [isNext ? 'next on call' : 'on call'] : []),
        ...(pagedTeamId === null ? [] : ['a team']),
        ...(policyId === null ? [] : ['another policy']),
      ];
      const by = channels.map((channel) => CHANNEL_DECLARATIONS[channel].name).join(', ');
      return `${waitText(Number(afterMinutes))}: ${people.join(', ') || 'nobody'} by ${by || 'nothing'}`;
    })
    .join('; ');
}
