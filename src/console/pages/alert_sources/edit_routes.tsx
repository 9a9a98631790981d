import { ActionIcon, Button, Checkbox, Group, NativeSelect, TextInput } from '@mantine/core';
import { useState } from 'react';

import { isApiError } from '#console/api/http.ts';
import { ErrorAlert } from '#console/components/error_alert.tsx';
import { FormDialog } from '#console/components/forms/form_dialog.tsx';
import { showSuccess } from '#console/components/notice.tsx';
import { PolicyPicker } from '#console/components/forms/policy_picker.tsx';
import { useDraftState } from '#console/components/forms/use_draft.ts';
import classes from '#console/pages/alert_sources/alert_sources.module.css';
import { IconArrowDown, IconArrowUp, IconPlus, IconTrash, IconX } from '#console/icons.ts';
import {
  conditionsText,
  type DraftCondition,
  type DraftRoute,
  draftRoutes,
  faultsOfRoute,
  inputOfRoutes,
  moveRoute,
  NEW_CONDITION,
  OUTCOME_NAMES,
  type RouteFaults,
  serverFaultsOfRoutes,
  SEVERITY_NAMES,
  sourceValue,
  type SourcesOfService,
} from '#console/pages/alert_sources/route_draft.ts';
import { useServiceChange } from '#console/pages/services/use_service_change.ts';
import { ROUTE_CONDITIONS_MAX, ROUTE_OUTCOMES, type RouteOutcome, ROUTES_MAX } from '#modules/alerts/decide/route.ts';
import { ALERT_TOOLS, toolOf } from '#modules/alerts/decide/tools.ts';

const KINDS: Readonly<Record<DraftCondition['kind'], string>> = {
  severity: 'Severity',
  source: 'Source',
  detail: 'Detail',
};

interface Values {
  readonly routes: readonly DraftRoute[];
}

/** Dialog to edit the routes of a service in their order. */
export function EditRoutes({ sources, onClose }: { readonly sources: SourcesOfService; readonly onClose: () => void }) {
  const { serviceId } = sources;
  const [{ routes }, setValues, draft] = useDraftState<Values>({
    form: `set_alert_routes ${serviceId}`,
    base: { routes: draftRoutes(sources.routes) },
  });
  const [isSent, setIsSent] = useState(false);
  const saving = useServiceChange('set_alert_routes', () => {
    showSuccess('The routes are saved. They apply to the next alert.');
    draft.done();
    onClose();
  });
  const setRoutes = (changed: readonly DraftRoute[]) => {
    saving.reset();
    setValues({ routes: changed });
  };
  const routeFaults = routes.map((route, index) => faultsOfRoute(route, index === routes.length - 1));
  const refused = serverFaultsOfRoutes(isApiError(saving.error) ? saving.error.faults : []);
  const isFaulty = routeFaults.some((faults) => Object.keys(faults).length > 0);
  const change = (index: number, part: Partial<DraftRoute>) =>
    setRoutes(routes.map((route, place) => (place === index ? { ...route, ...part } : route)));
  return (
    <FormDialog
      title="Routes of alerts"
      onClose={onClose}
      size="48rem"
      saving={saving}
      draft={draft}
      labels={{ routes: 'Routes' }}
      show={(_, value) => routesText(value)}
      submit="Save"
      gap="sm"
      onSubmit={() => {
        setIsSent(true);
        if (!isFaulty && draft.conflicts.length === 0 && !saving.isPending) {
          saving.mutate({ serviceId, routes: inputOfRoutes(routes), basedOn: sources.routes });
        }
      }}
    >
      <ol className={`${classes.routes} plain-list`}>
        {routes.map((route, index) => (
          <li key={route.id}>
            <RouteFields
              route={route}
              index={index}
              isLast={index === routes.length - 1}
              sources={sources}
              faults={{ ...refused.get(index), ...(isSent && routeFaults[index]) }}
              onChange={(part) => change(index, part)}
              onMove={(by) => setRoutes(moveRoute(routes, index, by))}
              onRemove={() => setRoutes(routes.toSpliced(index, 1))}
              canMoveUp={index > 0}
              canMoveDown={index < routes.length - 2}
            />
          </li>
        ))}
      </ol>
      {routes.length < ROUTES_MAX && (
        <div>
          <Button
            variant="default"
            size="xs"
            leftSection={<IconPlus size={14} />}
            onClick={() => setRoutes(routes.toSpliced(-1, 0, newRoute(routes)))}
          >
            Add a route
          </Button>
        </div>
      )}
      {saving.isError && refused.size === 0 && <ErrorAlert error={saving.error} title="The routes were not saved" />}
    </FormDialog>
  );
}

function newRoute(routes: readonly DraftRoute[]): DraftRoute {
  const id = String(Math.max(-1, ...routes.map((route) => Number(route.id))) + 1);
  const policyId = routes.at(-1)?.policyId ?? null;
  return { id, conditions: [NEW_CONDITION], outcome: 'page', policyId, pagesOnRise: false };
}

function routesText(value: unknown): string {
  if (!Array.isArray(value)) return 'none';
  return inputOfRoutes(value as DraftRoute[])
    .map(
      ({ conditions, outcome }) =>
        `${conditionsText(conditions as Parameters<typeof conditionsText>[0])}: ${OUTCOME_NAMES[outcome]}`,
    )
    .join('; ');
}

interface RouteFieldsProps {
  readonly route: DraftRoute;
  readonly index: number;
  readonly isLast: boolean;
  readonly sources: SourcesOfService;
  readonly faults: RouteFaults;
  readonly canMoveUp: boolean;
  readonly canMoveDown: boolean;
  onChange(part: Partial<DraftRoute>): void;
  onMove(by: -1 | 1): void;
  onRemove(): void;
}

function RouteFields(props: RouteFieldsProps) {
  const { route, index, isLast, sources, faults, canMoveUp, canMoveDown, onChange, onMove, onRemove } = props;
  const { conditions, outcome, policyId, pagesOnRise } = route;
  const name = isLast ? 'the last route' : `route ${index + 1}`;
  const setCondition = (place: number, part: Partial<DraftCondition>) =>
    onChange({ conditions: conditions.map((condition, at) => (at === place ? { ...condition, ...part } : condition)) });
  return (
    <fieldset className={`${classes.route} flush shrinks`}>
      <legend>{isLast ? 'Everything else' : `Route ${index + 1}`}</legend>
      {!isLast && (
        <div className={classes.routeTools}>
          <Tool label={`Move ${name} up`} isDisabled={!canMoveUp} onClick={() => onMove(-1)}>
            <IconArrowUp size={16} />
          </Tool>
          <Tool label={`Move ${name} down`} isDisabled={!canMoveDown} onClick={() => onMove(1)}>
            <IconArrowDown size={16} />
          </Tool>
          <Tool label={`Remove ${name}`} onClick={onRemove}>
            <IconTrash size={16} />
          </Tool>
        </div>
      )}
      {!isLast &&
        conditions.map((condition, place) => (
          <ConditionFields
            // Conditions have no identity of their own.
            // eslint-disable-next-line react/no-array-index-key
            key={place}
            label={`Condition ${place + 1} of ${name}`}
            condition={condition}
            sources={sources}
            fault={faults[`conditions.${place}`]}
            onChange={(part) => setCondition(place, part)}
            onRemove={() => onChange({ conditions: conditions.toSpliced(place, 1) })}
          />
        ))}
      {!isLast && (
        <div>
          {faults['conditions'] !== undefined && (
            <p className={classes.refusal} role="alert">
              {faults['conditions']}
            </p>
          )}
          {conditions.length < ROUTE_CONDITIONS_MAX && (
            <Button
              variant="subtle"
              size="compact-sm"
              leftSection={<IconPlus size={14} />}
              onClick={() => onChange({ conditions: [...conditions, NEW_CONDITION] })}
              aria-label={`Add a condition to ${name}`}
            >
              Add a condition
            </Button>
          )}
        </div>
      )}
      <Group gap="sm" align="start" grow preventGrowOverflow={false}>
        <NativeSelect
          label="Then"
          aria-label={`What ${name} does`}
          value={outcome}
          onChange={(event) => onChange({ outcome: outcomeOf(event.currentTarget.value) })}
          data={ROUTE_OUTCOMES.map((value) => ({ value, label: OUTCOME_NAMES[value] }))}
          error={faults['outcome']}
        />
        {outcome === 'page' && (
          <PolicyPicker
            label="By"
            placeholder="Choose a policy"
            value={policyId}
            onChange={(chosen) => onChange({ policyId: chosen })}
            error={faults['policyId']}
          />
        )}
      </Group>
      {outcome === 'page' && (
        <Checkbox
          label="Page again if it becomes more severe"
          checked={pagesOnRise}
          onChange={(event) => onChange({ pagesOnRise: event.currentTarget.checked })}
        />
      )}
    </fieldset>
  );
}

function outcomeOf(value: string): RouteOutcome {
  return ROUTE_OUTCOMES.find((name) => name === value) ?? 'page';
}

interface ToolProps {
  readonly label: string;
  readonly isDisabled?: boolean;
  readonly children: React.ReactNode;
  onClick(): void;
}

function Tool({ label, isDisabled = false, children, onClick }: ToolProps) {
  return (
    <ActionIcon variant="subtle" color="gray" size={36} aria-label={label} disabled={isDisabled} onClick={onClick}>
      {children}
    </ActionIcon>
  );
}

interface ConditionFieldsProps {
  readonly label: string;
  readonly condition: DraftCondition;
  readonly sources: SourcesOfService;
  readonly fault: string | undefined;
  onChange(part: Partial<DraftCondition>): void;
  onRemove(): void;
}

function ConditionFields({ label, condition, sources, fault, onChange, onRemove }: ConditionFieldsProps) {
  const { kind, atLeast, source, path, comparison, text } = condition;
  return (
    <div className={classes.condition} role="group" aria-label={label}>
      <NativeSelect
        aria-label={`${label}: what it is about`}
        value={kind}
        data={Object.entries(KINDS).map(([value, name]) => ({ value, label: name }))}
        onChange={(event) => onChange({ kind: kindOf(event.currentTarget.value) })}
      />
      {kind === 'severity' && (
        <NativeSelect
          aria-label={`${label}: at least`}
          value={atLeast}
          data={Object.entries(SEVERITY_NAMES).map(([value, name]) => ({ value, label: `at least ${name}` }))}
          onChange={(event) => onChange({ atLeast: event.currentTarget.value })}
          error={fault}
        />
      )}
      {kind === 'source' && (
        <NativeSelect
          aria-label={`${label}: source`}
          value={source}
          data={sourceOptions(sources, source)}
          onChange={(event) => onChange({ source: event.currentTarget.value })}
          error={fault}
        />
      )}
      {kind === 'detail' && (
        <>
          <TextInput
            aria-label={`${label}: name of the detail`}
            placeholder="labels.team"
            value={path}
            onChange={(event) => onChange({ path: event.currentTarget.value })}
            error={fault}
            spellCheck={false}
            autoCapitalize="none"
          />
          <NativeSelect
            aria-label={`${label}: comparison`}
            value={comparison}
            data={[
              { value: 'equals', label: 'is' },
              { value: 'matches', label: 'matches' },
            ]}
            onChange={(event) =>
              onChange({ comparison: event.currentTarget.value === 'matches' ? 'matches' : 'equals' })
            }
          />
          <TextInput
            aria-label={`${label}: value`}
            placeholder={comparison === 'matches' ? 'db-*' : 'payments'}
            value={text}
            onChange={(event) => onChange({ text: event.currentTarget.value })}
            spellCheck={false}
            autoCapitalize="none"
          />
        </>
      )}
      <Tool label={`Remove ${label.charAt(0).toLowerCase()}${label.slice(1)}`} onClick={onRemove}>
        <IconX size={16} />
      </Tool>
    </div>
  );
}

function kindOf(value: string): DraftCondition['kind'] {
  return value === 'source' || value === 'detail' ? value : 'severity';
}

/** Lists every protocol, and each source that has sent something. */
function sourceOptions({ sources }: SourcesOfService, chosen: string): { value: string; label: string }[] {
  const options = [
    { value: '', label: 'Choose a source' },
    ...Object.entries(ALERT_TOOLS).map(([protocol, name]) => ({ value: protocol, label: `Any ${name}` })),
    ...sources
      .filter(({ name }) => name !== '')
      .map(({ protocol, name, tool }) => ({ value: sourceValue(protocol, name), label: tool })),
  ];
  if (options.some(({ value }) => value === chosen)) return options;
  const [protocol = '', ...name] = chosen.split(' ');
  return [...options, { value: chosen, label: toolOf(protocol, name.join(' ')) }];
}
