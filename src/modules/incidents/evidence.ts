import { type Static, Type } from 'typebox';

import type { ActionContext } from '#actions/action_context.ts';
import { EXAMPLE_IDS as IDS, IdText, nullable } from '#actions/fields.ts';
import {
  CONTEXT_FIELDS,
  MOVED_FIELDS,
  readMovedMetrics,
  readReleases,
  readStoredContext,
} from '#modules/incidents/context.ts';
import { GUIDANCE_FIELDS, RuleConfigView, RuleKindName } from '#modules/rules/view.ts';
import { guidanceOf } from '#modules/rules/decide/kind_settings.ts';
import { AppError, isUnavailable } from '#kernel/errors.ts';
import { withTimeout } from '#kernel/promises.ts';
import type { IncidentRow } from '#modules/incidents/store/incident_store.ts';

const { releases: ReleasesView, releaseTotal: ReleaseTotal, ...STORED_FIELDS } = CONTEXT_FIELDS;

/** Evidence for finding the cause, so that one call suffices. */
export const EvidenceView = nullable(
  Type.Object(
    {
      rule: nullable(
        Type.Object(
          {
            ruleId: IdText,
            name: Type.String(),
            kind: RuleKindName,
            config: RuleConfigView,
            enabled: Type.Boolean(),
            ...GUIDANCE_FIELDS,
          },
          { description: 'what fired, as it is now; null when it was deleted, or a person opened the incident' },
        ),
      ),
      policyName: nullable(Type.String({ description: 'of escalationPolicyId; escalation.steps has it as it was' })),
      deploys: nullable(ReleasesView),
      deployTotal: nullable(ReleaseTotal),
      movedMetrics: nullable(
        Type.Object(MOVED_FIELDS, { description: 'the metrics that changed most around the trigger' }),
      ),
      ...STORED_FIELDS,
    },
    {
      description:
        'deploys, new exception groups, changes and similar incidents around the trigger. A part is null while its store cannot be asked or the caller may not see it; null as a whole for the console, which has operations of its own',
    },
  ),
);

type Evidence = Static<typeof EvidenceView>;

export const EVIDENCE_EXAMPLE: Evidence = {
  rule: {
    ruleId: IDS.ruleId,
    name: 'Checkout is slow',
    kind: 'metric_threshold',
    config: {
      metricName: 'http_request_duration_ms',
      comparator: '>',
      threshold: 800,
      windowMinutes: 5,
      aggregation: 'avg',
    },
    enabled: true,
    description: 'Customers wait at the till.',
    runbookUrl: 'https://wiki.example.com/runbooks/checkout',
  },
  policyName: 'Wake somebody',
  deploys: [{ release: '2027.5.1', at: '2027-02-03T01:58:12.310Z', environment: 'production' }],
  deployTotal: 1,
  movedMetrics: {
    metrics: [{ metricName: 'db_pool_waiting', aggregation: 'avg', isRate: false, before: 0.2, after: 41 }],
    lookedAt: 12,
    total: 12,
  },
  similar: {
    count: 1,
    medianSecondsToAcknowledge: 145,
    medianSecondsToResolve: 1_260,
    incidents: [
      {
        incidentId: IDS.incidentId,
        number: 1201,
        title: 'Checkout is slow: 0.97 s > 800 ms (average of http_request_duration_ms)',
        status: 'resolved',
        triggeredAt: '2027-01-20T02:10:00.000Z',
        resolvedAt: '2027-01-20T02:31:00.000Z',
        resolvedBy: 'Anna de Vries',
        secondsToResolve: 1_260,
      },
    ],
  },
  changes: [],
  changeTotal: 0,
  newGroups: [],
  newGroupTotals: { ofService: 0, elsewhere: 0 },
  neighbours: [],
  neighbourTotals: { ofService: 0, elsewhere: 0 },
};

/** Reads the evidence also while the stores of telemetry are down or slow: what they would add is null. */
export async function readEvidence(incident: IncidentRow, context: ActionContext): Promise<Evidence> {
  const { caller } = context;
  if (caller.via === 'console') return null;
  const sees = (permission: 'exceptions:view' | 'dashboards:view') => caller.permissions.has(permission);
  const [rule, policyName, stored, deploys, movedMetrics] = await Promise.all([
    findRule(incident, context),
    findPolicyName(incident, context),
    readStoredContext(incident, context),
    sees('exceptions:view') ? orNull(readReleases(incident, context), context) : null,
    sees('dashboards:view') ? orNull(readMovedMetrics(incident, context), context) : null,
  ]);
  return {
    rule,
    policyName,
    deploys: deploys && deploys.releases,
    deployTotal: deploys && deploys.releaseTotal,
    movedMetrics,
    ...stored,
    ...(!sees('exceptions:view') && { newGroups: [], newGroupTotals: { ofService: 0, elsewhere: 0 } }),
  };
}

async function orNull<Value>(work: Promise<Value>, { telemetryMsMax }: ActionContext): Promise<Value | null> {
  try {
    return await withTimeout(work, telemetryMsMax, () => null);
  } catch (error) {
    if (isUnavailable(error)) return null;
    throw error;
  }
}

async function findRule({ orgId, ruleId }: IncidentRow, { stores }: ActionContext) {
  if (ruleId === null) return null;
  const rule = await orAbsent(stores.alertRules.get(orgId, ruleId));
  if (rule === null) return null;
  const { name, kind, config, enabled, settings } = rule;
  return { ruleId, name, kind, config, enabled, ...guidanceOf(settings) };
}

async function findPolicyName({ orgId, escalationPolicyId }: IncidentRow, { stores }: ActionContext) {
  if (escalationPolicyId === null) return null;
  return (await orAbsent(stores.policies.get(orgId, escalationPolicyId)))?.name ?? null;
}

async function orAbsent<Value>(read: Promise<Value>): Promise<Value | null> {
  try {
    return await read;
  } catch (error) {
    if (error instanceof AppError && error.code === 'not_found') return null;
    throw error;
  }
}
