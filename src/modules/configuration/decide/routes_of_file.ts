import type { RouteInFile } from '#modules/configuration/decide/file_fields.ts';
import type { RouteFields } from '#modules/configuration/decide/resource.ts';
import { conditionOf } from '#modules/alerts/decide/route.ts';
import type { Fault } from '#kernel/errors.ts';

interface ReadRoutes {
  readonly routes: readonly RouteFields[];
  readonly faults: readonly Fault[];
  readonly policies: readonly { readonly policy: string; readonly path: string }[];
}

/** Reads the routes of a service; `path` is where they stand. */
export function readRoutes(routes: readonly RouteInFile[], path: string): ReadRoutes {
  const faults: Fault[] = [];
  const policies: { policy: string; path: string }[] = [];
  const read = routes.map(({ conditions = [], outcome, policy, pagesOnRise = false }, index): RouteFields => {
    const place = `${path}[${index}]`;
    const isLast = index === routes.length - 1;
    if (isLast && conditions.length > 0) {
      faults.push({ path: `${place}.conditions`, message: 'the last route takes the rest: it has no conditions' });
    }
    if (!isLast && conditions.length === 0) {
      faults.push({ path: `${place}.conditions`, message: 'only the last route has no conditions' });
    }
    if (outcome === 'page' && policy === undefined) {
      faults.push({ path: `${place}.policy`, message: 'is required: a route that pages names a policy' });
    }
    if (outcome !== 'page' && policy !== undefined) {
      faults.push({ path: `${place}.policy`, message: 'a route that pages nobody has no policy' });
    }
    if (policy !== undefined) policies.push({ policy, path: `${place}.policy` });
    return {
      conditions: conditions.flatMap((condition, at) => {
        const whole = conditionOf(condition);
        if (whole !== null) return [whole];
        const message = 'severity asks for atLeast, source for protocol, detail for path and equals or matches';
        faults.push({ path: `${place}.conditions[${at}]`, message });
        return [];
      }),
      outcome,
      policy: policy ?? null,
      pagesOnRise,
    };
  });
  return { routes: read, faults, policies };
}
