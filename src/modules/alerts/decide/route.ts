import { matchesWildcard } from '#modules/search/decide/search_kinds.ts';
import { LEVELS } from '#modules/exceptions/decide/level.ts';
import { worseSeverity } from '#modules/incidents/decide/incident_limit.ts';

export const ROUTES_MAX = 50;
export const ROUTE_CONDITIONS_MAX = 20;

export type RouteCondition =
  | { readonly kind: 'severity'; readonly atLeast: string }
  | { readonly kind: 'source'; readonly protocol: string; readonly name?: string }
  | { readonly kind: 'detail'; readonly path: string; readonly equals: string }
  /** A pattern with `*` for any text, as a whole and whatever the case: no pattern can take long. */
  | { readonly kind: 'detail'; readonly path: string; readonly matches: string };

/** Condition as it was sent: fields of which its kind asks for some. */
interface SentCondition {
  readonly kind: RouteCondition['kind'];
  readonly atLeast?: string;
  readonly protocol?: string;
  readonly name?: string;
  readonly path?: string;
  readonly equals?: string;
  readonly matches?: string;
}

/** Returns null for a condition that lacks what its kind asks for. */
export function conditionOf(sent: SentCondition): RouteCondition | null {
  const { kind, atLeast, protocol, name, path, equals, matches } = sent;
  switch (kind) {
    case 'severity':
      return atLeast === undefined ? null : { kind, atLeast };
    case 'source':
      return protocol === undefined ? null : { kind, protocol, ...(name !== undefined && { name }) };
    case 'detail':
      if (path === undefined) return null;
      if (equals !== undefined) return { kind, path, equals };
      return matches === undefined ? null : { kind, path, matches };
  }
}

/** Outcomes for an alert: it pages by a policy, opens an incident that pages nobody, or is only counted. */
export const ROUTE_OUTCOMES = ['page', 'open', 'drop'] as const;

export type RouteOutcome = (typeof ROUTE_OUTCOMES)[number];

/** One route. The last one of a service has no conditions. */
export interface AlertRoute<Policy = string> {
  readonly conditions: readonly RouteCondition[];
  readonly outcome: RouteOutcome;
  /** Null where nobody is paged, or the policy was deleted. */
  readonly policyId: Policy | null;
  /** Whether an alert that becomes more severe pages anew. */
  readonly pagesOnRise: boolean;
}

/** Parts of an alert that routes look at. */
export interface RoutedAlert {
  readonly severity: string;
  readonly protocol: string;
  readonly sourceName: string;
  readonly details: Readonly<Record<string, unknown>>;
}

/** The first route whose conditions are all true; null for none, which is no case for routes that end with one for all. */
export function routeOf<Route extends AlertRoute<unknown>>(routes: readonly Route[], alert: RoutedAlert): Route | null {
  return (
    routes.find(
      ({ conditions }) => areConditions(conditions) && conditions.every((condition) => isTrue(condition, alert)),
    ) ?? null
  );
}

export const [PATH_LENGTH_MAX, VALUE_LENGTH_MAX] = [200, 500];

/** Whether stored conditions can be read, whoever wrote them. A route whose conditions cannot be read takes no alert. */
export function areConditions(stored: unknown): stored is readonly RouteCondition[] {
  return Array.isArray(stored) && stored.length <= ROUTE_CONDITIONS_MAX && stored.every(isCondition);
}

function isCondition(stored: unknown): boolean {
  if (typeof stored !== 'object' || stored === null) return false;
  const { kind, atLeast, protocol, name, path, equals, matches } = stored as Record<string, unknown>;
  switch (kind) {
    case 'severity':
      return isLevel(atLeast);
    case 'source':
      return isText(protocol, VALUE_LENGTH_MAX) && (name === undefined || isText(name, VALUE_LENGTH_MAX));
    case 'detail':
      return isText(path, PATH_LENGTH_MAX) && isText(equals ?? matches, VALUE_LENGTH_MAX);
    default:
      return false;
  }
}

function isText(value: unknown, lengthMax: number): boolean {
  return typeof value === 'string' && value.length <= lengthMax;
}

function isLevel(value: unknown): boolean {
  return (LEVELS as readonly unknown[]).includes(value);
}

/** Returns which alerts take a route, as a sentence. */
export function routeText(conditions: readonly RouteCondition[]): string {
  if (conditions.length === 0) return 'Takes every alert that no other route takes.';
  return `Takes alerts with ${conditions.map(conditionText).join(' and ')}, if no route before does.`;
}

function conditionText(condition: RouteCondition): string {
  switch (condition.kind) {
    case 'severity':
      return `severity ${condition.atLeast} at least`;
    case 'source':
      return `source ${condition.protocol}${condition.name === undefined ? '' : ` ${condition.name}`}`;
    case 'detail':
      return 'equals' in condition
        ? `${condition.path} = ${condition.equals}`
        : `${condition.path} like ${condition.matches}`;
  }
}

/** Returns the least severity that the conditions let through; null where they say nothing of it. */
export function leastSeverity(conditions: readonly RouteCondition[]): string | null {
  const asked = conditions.flatMap((condition) => (condition.kind === 'severity' ? [condition.atLeast] : []));
  return asked.length === 0 ? null : asked.reduce(worseSeverity);
}

/** Length of a detail that a pattern looks at: its work for an alert stays small. */
const MATCHED_LENGTH_MAX = 4_096;

function isTrue(condition: RouteCondition, alert: RoutedAlert): boolean {
  switch (condition.kind) {
    case 'severity':
      return worseSeverity(alert.severity, condition.atLeast) === alert.severity;
    case 'source':
      return (
        alert.protocol === condition.protocol && (condition.name === undefined || condition.name === alert.sourceName)
      );
    case 'detail': {
      const text = detailText(alert.details, condition.path);
      if (text === null) return false;
      return 'equals' in condition
        ? text === condition.equals
        : matchesWildcard(text.slice(0, MATCHED_LENGTH_MAX), condition.matches);
    }
  }
}

/** Limits on the names of a path, one within the other, and on the dots that one of them may hold. */
const [PATH_NAMES_MAX, NAME_DOTS_MAX] = [20, 12];

/**
 * Returns the detail at a path like `labels.team`, as text; null where there is none. A name may hold dots itself. Whoever
 * sends an alert and sets the paths makes both, so that a path which can be read in a great many ways is read in few.
 */
export function detailText(
  details: Readonly<Record<string, unknown>>,
  path: string,
  namesLeft = PATH_NAMES_MAX,
): string | null {
  if (Object.hasOwn(details, path)) return textOf(details[path]);
  if (namesLeft <= 1) return null;
  let dot = path.indexOf('.');
  for (let dots = 0; dot !== -1 && dots <= NAME_DOTS_MAX; dots += 1) {
    const name = path.slice(0, dot);
    const inner = Object.hasOwn(details, name) ? details[name] : undefined;
    if (typeof inner === 'object' && inner !== null) {
      const text = detailText(inner as Record<string, unknown>, path.slice(dot + 1), namesLeft - 1);
      if (text !== null) return text;
    }
    dot = path.indexOf('.', dot + 1);
  }
  return null;
}

function textOf(value: unknown): string | null {
  switch (typeof value) {
    case 'string':
      return value;
    case 'number':
    case 'boolean':
      return String(value);
    default:
      return null;
  }
}
