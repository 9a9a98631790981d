import type { InputOf, ResultOf } from '#console/api/actions.ts';
import type { RouteCondition, RouteOutcome } from '#modules/alerts/decide/route.ts';
import { toolOf } from '#modules/alerts/decide/tools.ts';

export type SourcesOfService = ResultOf<'list_alert_sources'>;
export type Source = SourcesOfService['sources'][number];
export type Route = SourcesOfService['routes'][number];

/** A condition while it is edited; what its kind does not use is kept for a change of mind. */
export interface DraftCondition {
  readonly kind: RouteCondition['kind'];
  readonly atLeast: string;
  /** `protocol name`, as `sourceValue` writes it; empty for none. */
  readonly source: string;
  readonly path: string;
  readonly comparison: 'equals' | 'matches';
  readonly text: string;
}

export interface DraftRoute {
  /** Identity while routes change places. */
  readonly id: string;
  readonly conditions: readonly DraftCondition[];
  readonly outcome: RouteOutcome;
  readonly policyId: string | null;
  readonly pagesOnRise: boolean;
}

export const NEW_CONDITION: DraftCondition = {
  kind: 'severity',
  atLeast: 'error',
  source: '',
  path: '',
  comparison: 'equals',
  text: '',
};

export function draftRoutes(routes: readonly Route[]): DraftRoute[] {
  return routes.map(({ conditions, outcome, policyId, pagesOnRise }, index) => ({
    id: String(index),
    conditions: (conditions as readonly RouteCondition[]).map(draftCondition),
    outcome,
    policyId,
    pagesOnRise,
  }));
}

function draftCondition(condition: RouteCondition): DraftCondition {
  switch (condition.kind) {
    case 'severity':
      return { ...NEW_CONDITION, kind: 'severity', atLeast: condition.atLeast };
    case 'source':
      return { ...NEW_CONDITION, kind: 'source', source: sourceValue(condition.protocol, condition.name) };
    case 'detail': {
      const { path } = condition;
      return 'equals' in condition
        ? { ...NEW_CONDITION, kind: 'detail', path, comparison: 'equals', text: condition.equals }
        : { ...NEW_CONDITION, kind: 'detail', path, comparison: 'matches', text: condition.matches };
    }
  }
}

/** Writes a source as one value: of any name if none is given. */
export function sourceValue(protocol: string, name: string | undefined): string {
  return name === undefined ? protocol : `${protocol} ${name}`;
}

type RouteInput = InputOf<'set_alert_routes'>['routes'][number];

export function inputOfRoutes(routes: readonly DraftRoute[]): RouteInput[] {
  return routes.map(({ conditions, outcome, policyId, pagesOnRise }, index) => ({
    conditions: index === routes.length - 1 ? [] : conditions.map(inputOfCondition),
    outcome,
    policyId: outcome === 'page' ? policyId : null,
    pagesOnRise: outcome === 'page' && pagesOnRise,
  }));
}

function inputOfCondition({ kind, atLeast, source, path, comparison, text }: DraftCondition) {
  switch (kind) {
    case 'severity':
      return { kind, atLeast } as RouteInput['conditions'][number];
    case 'source': {
      const space = source.indexOf(' ');
      const [protocol, name] = space === -1 ? [source] : [source.slice(0, space), source.slice(space + 1)];
      return { kind, protocol, ...(name !== undefined && { name }) } as RouteInput['conditions'][number];
    }
    case 'detail':
      return { kind, path: path.trim(), [comparison]: text } as RouteInput['conditions'][number];
  }
}

/** Faults of one route, by the field; those of a condition by `conditions.INDEX`. */
export type RouteFaults = Readonly<Record<string, string>>;

export function faultsOfRoute(route: DraftRoute, isLast: boolean): RouteFaults {
  const conditions = isLast
    ? []
    : route.conditions.flatMap((condition, index) => {
        const fault = faultOfCondition(condition);
        return fault === null ? [] : [[`conditions.${index}`, fault] as const];
      });
  return {
    ...Object.fromEntries(conditions),
    ...(!isLast && route.conditions.length === 0 && { conditions: 'Add a condition: only the last route takes all' }),
    ...(route.outcome === 'page' && route.policyId === null && { policyId: 'Choose whom it pages' }),
  };
}

function faultOfCondition({ kind, source, path }: DraftCondition): string | null {
  if (kind === 'source' && source === '') return 'Choose a source';
  if (kind === 'detail' && path.trim() === '') return 'Name a detail, such as labels.team';
  return null;
}

/** Returns the faults that the server found, by the place of the route. */
export function serverFaultsOfRoutes(
  faults: readonly { readonly path: string; readonly message: string }[],
): ReadonlyMap<number, RouteFaults> {
  const byPlace = new Map<number, RouteFaults>();
  for (const { path, message } of faults) {
    const [, place, field = '', condition] = /^routes\[(\d+)\]\.(\w+)(?:\[(\d+)\])?/.exec(path) ?? [];
    if (place === undefined) continue;
    const name = condition === undefined ? field : `${field}.${condition}`;
    byPlace.set(Number(place), { ...byPlace.get(Number(place)), [name]: `It ${message}` });
  }
  return byPlace;
}

/** Describes the conditions of a route in a sentence without its end. */
export function conditionsText(conditions: readonly RouteCondition[]): string {
  if (conditions.length === 0) return 'Everything else';
  return conditions.map(conditionText).join(' and ');
}

function conditionText(condition: RouteCondition): string {
  switch (condition.kind) {
    case 'severity':
      return `severity at least ${SEVERITY_NAMES[condition.atLeast] ?? condition.atLeast}`;
    case 'source':
      return `from ${condition.name === undefined ? `any ${toolOf(condition.protocol, '')}` : toolOf(condition.protocol, condition.name)}`;
    case 'detail':
      return 'equals' in condition
        ? `${condition.path} is “${condition.equals}”`
        : `${condition.path} matches “${condition.matches}”`;
  }
}

export const SEVERITY_NAMES: Readonly<Record<string, string>> = {
  fatal: 'critical',
  error: 'error',
  warning: 'warning',
  info: 'info',
  debug: 'debug',
};

export const OUTCOME_NAMES: Readonly<Record<RouteOutcome, string>> = {
  page: 'Page people',
  open: 'Open an incident that pages nobody',
  drop: 'Only count it',
};

/** Moves the route at `index` up or down; the last one stays where it is. */
export function moveRoute(routes: readonly DraftRoute[], index: number, by: -1 | 1): DraftRoute[] {
  const to = index + by;
  const moved = routes[index];
  if (moved === undefined || to < 0 || to >= routes.length - 1 || index === routes.length - 1) return [...routes];
  return routes.toSpliced(index, 1).toSpliced(to, 0, moved);
}
