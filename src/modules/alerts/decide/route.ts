import { worseSeverity } from '#modules/incidents/decide/incident_limit.ts';

export const ROUTES_MAX = 50;
export const ROUTE_CONDITIONS_MAX = 20;

/** Condition on an alert. */
export type RouteCondition =
  | { readonly kind: 'severity'; readonly atLeast: string }
  | { readonly kind: 'source'; readonly protocol: string; readonly name?: string }
  | { readonly kind: 'detail'; readonly path: string; readonly equals: string }
  /** A pattern with `*` for any text, as a whole and whatever the case: no pattern can take long. */
  | { readonly kind: 'detail'; readonly path: string; readonly matches: string };

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
  return routes.find(({ conditions }) => conditions.every((condition) => isTrue(condition, alert))) ?? null;
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
      return 'equals' in condition ? text === condition.equals : matchesWildcard(text, condition.matches);
    }
  }
}

/** The detail at a path like `labels.team`, as text; null where there is none. A name may hold dots itself. */
export function detailText(details: Readonly<Record<string, unknown>>, path: string): string | null {
  if (Object.hasOwn(details, path)) return textOf(details[path]);
  for (let dot = path.indexOf('.'); dot !== -1; dot = path.indexOf('.', dot + 1)) {
    const name = path.slice(0, dot);
    const inner = Object.hasOwn(details, name) ? details[name] : undefined;
    if (typeof inner !== 'object' || inner === null) continue;
    const text = detailText(inner as Record<string, unknown>, path.slice(dot + 1));
    if (text !== null) return text;
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

/** Greedy, in time that grows with the product of the lengths at most. */
export function matchesWildcard(text: string, pattern: string): boolean {
  const [subject, wanted] = [text.toLowerCase(), pattern.toLowerCase()];
  let [at, place, star, resume] = [0, 0, -1, 0];
  while (at < subject.length) {
    if (wanted[place] === '*') {
      [star, resume] = [place, at];
      place += 1;
    } else if (wanted[place] === subject[at]) {
      at += 1;
      place += 1;
    } else if (star === -1) {
      return false;
    } else {
      resume += 1;
      [at, place] = [resume, star + 1];
    }
  }
  while (wanted[place] === '*') place += 1;
  return place === wanted.length;
}
