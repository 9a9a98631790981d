import { type Static, Type } from 'typebox';

import type { ActionContext } from '#actions/action_context.ts';
import { IdText, nullable, Timestamp } from '#actions/fields.ts';
import { recordOf } from '#kernel/records.ts';
import { toTimestamp } from '#kernel/time.ts';
import { CHANNEL_PREFERENCES } from '#modules/contacts/decide/channel.ts';
import type { Preferences } from '#modules/contacts/decide/contact.ts';
import type { PushSubscriptionRow } from '#modules/contacts/store/push_subscription_store.ts';
import { inUnitOfWork, storesOf, type UnitOfWorkRuntime } from '#modules/stores.ts';
import { findCallerRole } from '#modules/organizations/roles.ts';
import { CHANNEL_SWITCHES_VIEW } from '#modules/teams/view.ts';
import { sendNumberRequest } from '#storage/queue/jobs.ts';

/** Settings by which a team reaches somebody. */
export const ContactView = Type.Object({
  phone: nullable(Type.String({ description: 'E.164' })),
  ...CHANNEL_SWITCHES_VIEW,
});

export function toContactView(contact: Preferences) {
  return { phone: contact.phone, ...recordOf(CHANNEL_PREFERENCES, (preference) => contact[preference]) };
}

/**
 * Returns the address of the phone simulator's page for an owner. It shows the messages of everybody on this server, so it
 * is null where several organizations are, as it is where no simulator is.
 */
export async function findSimulatorUrl({
  stores: { people },
  caller,
  installation: { simulatorUrl },
}: Pick<ActionContext, 'stores' | 'caller' | 'installation'>): Promise<string | null> {
  if (simulatorUrl === null || (await findCallerRole({ people }, caller)) !== 'owner') return null;
  return (await people.hasOneOrganization()) ? simulatorUrl : null;
}

/** A push subscription without its endpoint, a secret that neither the console nor the audit log gets. */
export const SubscriptionView = Type.Object({ subscriptionId: IdText, label: Type.String(), createdAt: Timestamp });

export function toSubscriptionView({ id, label, createdAt }: PushSubscriptionRow): Static<typeof SubscriptionView> {
  return { subscriptionId: id, label, createdAt: toTimestamp(createdAt) };
}

/** People of one organization who are asked at once, so that no mail server is flooded. */
const ASKED_AT_ONCE = 100;

/** Asks the people whose turn it is by mail. Without a mail server nobody is asked; the list shows them all the same. */
export async function askForNumbers(
  runtime: UnitOfWorkRuntime & { readonly mail: object | null; readonly simulatedIds: string },
): Promise<void> {
  if (runtime.mail === null) return;
  for (const orgId of await storesOf(runtime.db.session()).numberCampaigns.listOrganizations()) {
    await inUnitOfWork(runtime, async ({ stores: { numberCampaigns }, now, enqueue }) => {
      for (const userId of await numberCampaigns.listDue(orgId, runtime.simulatedIds, now, ASKED_AT_ONCE)) {
        if (await numberCampaigns.recordAsk(orgId, userId, now)) enqueue(sendNumberRequest, { orgId, userId });
      }
    });
  }
}
