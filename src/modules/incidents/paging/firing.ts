import type { CauseKind } from '#modules/incidents/decide/incident_limit.ts';
import type { Id } from '#kernel/ids.ts';
import type { ActiveRule } from '#modules/rules/store/active_rule_store.ts';

/** Rule that opens incidents, or a route of alerts, which has no row of its own and is named after their source. */
export type Opener = Pick<
  ActiveRule,
  'orgId' | 'serviceId' | 'name' | 'settings' | 'escalationPolicyId' | 'teamId' | 'steps' | 'isPolicyUnreadable'
> & { readonly ruleId: Id<'rule'> | null; readonly config?: ActiveRule['config'] };

/** Reason to open one incident. */
export interface Cause {
  readonly kind: CauseKind;
  readonly exceptionGroupId: Id<'group'> | null;
  /** Key that at most one open incident has. By default the rule, with its exception group if there is one. */
  readonly dedupKey?: string;
  readonly title: string;
  readonly severity: string;
  /** Measured value or event. */
  readonly details: object;
  /** Labels by which a maintenance may be for it; absent for those of the rule. */
  readonly labels?: Readonly<Record<string, string>>;
  /** The cause in half a sentence, for the timeline. */
  readonly sentence: string;
  /** The span that found it; absent for the one that runs. */
  readonly traceparent?: string | null;
}

/** A rule that fires, or a route that opens an incident, and why. */
export interface Firing {
  readonly rule: Opener;
  readonly cause: Cause;
}

export function dedupKeyOf({ rule, cause }: Firing): string {
  if (cause.dedupKey !== undefined) return cause.dedupKey;
  if (rule.ruleId === null) throw new Error('what is no rule names the key of its incident');
  return cause.exceptionGroupId === null ? rule.ruleId : `${rule.ruleId}.${cause.exceptionGroupId}`;
}
