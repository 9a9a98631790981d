import { type Static, Type } from 'typebox';

import { type ActionContext, LIST_LIMIT } from '#actions/action_context.ts';
import { EXAMPLE_IDS as IDS, EXAMPLE_STAMPS, IdText, nullable, Timestamp } from '#actions/fields.ts';
import { findMissingMetrics } from '#modules/rules/missing_metric.ts';
import { RuleStateView, toRuleStateView, RULE_EXAMPLE } from '#modules/rules/view.ts';
import { dsnOf, type IngestKeyPair, MASKED_PAIR, openIngestKeyPair } from '#auth/ingest_access.ts';
import { storePoints } from '#storage/queue/jobs.ts';
import { CAPABILITIES } from '#modules/capabilities/decide/capability.ts';
import type { Id } from '#kernel/ids.ts';
import { toTimestamp } from '#kernel/time.ts';
import type { LedgerEntry } from '#modules/capabilities/store.ts';
import type { ServiceWithCapabilities } from '#modules/services/store/service_store.ts';

export const CapabilityName = Type.Enum([...CAPABILITIES]);

const SERVICE_FIELDS = {
  serviceId: IdText,
  name: Type.String(),
  environment: nullable(Type.String()),
  scmOwner: nullable(Type.String()),
  scmRepo: nullable(Type.String()),
  team: nullable(Type.Object({ teamId: IdText, name: Type.String() }, { description: 'that owns it' })),
  capabilities: Type.Array(CapabilityName, { description: 'the enabled ones, sorted' }),
  retentionDays: Type.Object({ metrics: Type.Integer(), exceptions: Type.Integer(), oncall: Type.Integer() }),
  createdAt: Timestamp,
  updatedAt: Timestamp,
};

export const ServiceView = Type.Object(SERVICE_FIELDS);

const BillingView = Type.Object({
  periodId: IdText,
  capability: CapabilityName,
  startsAt: Timestamp,
  endsAt: Timestamp,
  amountCents: Type.Integer(),
  currency: Type.String(),
});

export const ServiceWithKeysView = Type.Object({
  ...SERVICE_FIELDS,
  ingestionKey: Type.String({ description: 'sends data; opens no action' }),
  dsn: Type.String({ description: 'for Sentry SDKs' }),
  credentials: Type.Enum(['shown', 'masked'], {
    description:
      '`masked`: not shown to a connection that may only read; the console asks for them by an operation of its own',
  }),
  billing: Type.Array(BillingView, { description: 'newest period first' }),
  alertRules: Type.Array(RuleStateView, { description: 'oldest first' }),
});

export const SERVICE_EXAMPLE: Static<typeof ServiceView> = {
  serviceId: IDS.serviceId,
  name: 'checkout',
  environment: 'production',
  scmOwner: 'northwind',
  scmRepo: 'checkout',
  team: { teamId: IDS.teamId, name: 'Payments' },
  capabilities: ['exceptions', 'metrics', 'oncall'],
  retentionDays: { metrics: 30, exceptions: 90, oncall: 400 },
  ...EXAMPLE_STAMPS,
};

/** Example of a service with its keys; the key has the form of one and was never one. */
export const SERVICE_WITH_KEYS_EXAMPLE: Static<typeof ServiceWithKeysView> = {
  ...SERVICE_EXAMPLE,
  ingestionKey: 'tocsin_ing_8Jq2VtY5mXw0ZcR7nKb4LpS9dHf3GaE6uTiWoQx1yPs0A1b2C',
  dsn: 'https://9f2c4b7d1e8a4f60b3c5d7e9f1a2b4c6@tocsin.example.com/42',
  credentials: 'shown',
  billing: [
    {
      periodId: IDS.periodId,
      capability: 'metrics',
      startsAt: '2027-01-04T09:12:41.007Z',
      endsAt: '2027-02-04T09:12:41.007Z',
      amountCents: 100,
      currency: 'EUR',
    },
  ],
  alertRules: [{ ...RULE_EXAMPLE, waitingForData: null }],
};

export function toServiceView(service: ServiceWithCapabilities): Static<typeof ServiceView> {
  return {
    serviceId: service.id,
    name: service.name,
    environment: service.environment,
    scmOwner: service.scmOwner,
    scmRepo: service.scmRepo,
    team: service.teamId === null ? null : { teamId: service.teamId, name: service.teamName ?? '' },
    capabilities: [...service.capabilities],
    retentionDays: {
      metrics: service.retentionMetrics,
      exceptions: service.retentionExceptions,
      oncall: service.retentionOncall,
    },
    createdAt: toTimestamp(service.createdAt),
    updatedAt: toTimestamp(service.updatedAt),
  };
}

const BILLING_PERIODS_SHOWN = 100;

/**
 * Reads the service with its credentials and all that belongs to it, in the caller's session: in one round trip, also
 * while the service itself is still being read.
 */
export async function readServiceWithKeys(
  serviceId: Id<'service'>,
  reading: ServiceWithCapabilities | Promise<ServiceWithCapabilities>,
  context: ActionContext,
): Promise<Static<typeof ServiceWithKeysView>> {
  const { caller, stores } = context;
  const isMasked = caller.isReadOnly === true || caller.via === 'console';
  if (!isMasked) context.recordCredentialRead(serviceId);
  const [service, secrets, periods, { rules, waitingSince }] = await Promise.all([
    reading,
    isMasked ? null : stores.ingestKeys.findSecrets(serviceId),
    stores.capabilities.listPeriods(caller.orgId, serviceId, BILLING_PERIODS_SHOWN),
    listRules(serviceId, context),
  ]);
  const credentials = toCredentials(service, isMasked ? MASKED_PAIR : openSecrets(service, secrets, context), context);
  // Points that wait to be stored are not listed yet, and may be of that metric.
  const missing = waitingSince === null ? await findMissingMetrics(context, service, rules) : new Map<string, never>();
  return {
    ...toServiceView(service),
    ...credentials,
    credentials: isMasked ? 'masked' : 'shown',
    billing: periods.map(toBillingView),
    alertRules: rules.map((rule) => ({
      ...toRuleStateView(rule, service, waitingSince, context.now),
      missingMetric: missing.get(rule.id) ?? null,
    })),
  };
}

/** Lists the rules of a service, and since when points wait to be stored; null when none do, or no rule may look at them. */
async function listRules(serviceId: Id<'service'>, { stores, caller: { orgId } }: ActionContext) {
  const rules = await stores.alertRules.listOfService(orgId, serviceId, LIST_LIMIT);
  const waitingSince =
    rules.length === 0 ? null : await stores.durableJobs.findWaiting(storePoints.name, orgId, serviceId);
  return { rules, waitingSince };
}

interface Credentials {
  readonly ingestionKey: string;
  readonly dsn: string;
}

/** Reads the credentials themselves; that they were shown is recorded for the audit log. */
export async function readCredentials(service: ServiceWithCapabilities, context: ActionContext): Promise<Credentials> {
  context.recordCredentialRead(service.id);
  const secrets = await context.stores.ingestKeys.findSecrets(service.id);
  return toCredentials(service, openSecrets(service, secrets, context), context);
}

function openSecrets(
  { id }: ServiceWithCapabilities,
  secrets: Buffer | null,
  { cipher }: ActionContext,
): IngestKeyPair {
  if (secrets === null) throw new Error(`service ${id} has no current ingestion key`);
  return openIngestKeyPair(secrets, cipher);
}

function toCredentials(
  { projectId, keptProjectNumber }: ServiceWithCapabilities,
  { ingestionKey, dsnKey }: IngestKeyPair,
  { baseUrl }: ActionContext,
): Credentials {
  return { ingestionKey, dsn: dsnOf(baseUrl, dsnKey, keptProjectNumber ?? projectId) };
}

function toBillingView(period: LedgerEntry): Static<typeof BillingView> {
  return {
    periodId: period.periodId,
    capability: period.capability,
    startsAt: toTimestamp(period.startsAt),
    endsAt: toTimestamp(period.endsAt),
    amountCents: period.amountCents,
    currency: period.currency,
  };
}
