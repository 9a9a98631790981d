import { inUnitOfWork, type UnitOfWorkRuntime } from '#modules/unit_of_work.ts';
import { storesOf } from '#modules/stores.ts';
import { sendNumberRequest } from '#storage/queue/jobs.ts';

/** People of one organization who are asked at once, so that no mail server is flooded. */
const ASKED_AT_ONCE = 100;

/** Asks the people whose turn it is by mail. Without a mail server nobody is asked; the list shows them all the same. */
export async function askForNumbers(runtime: UnitOfWorkRuntime & { readonly mail: object | null }): Promise<void> {
  if (runtime.mail === null) return;
  for (const orgId of await storesOf(runtime.db.session()).numberCampaigns.listOrganizations()) {
    await inUnitOfWork(runtime, async ({ stores: { numberCampaigns }, now, enqueue }) => {
      for (const userId of await numberCampaigns.listDue(orgId, now, ASKED_AT_ONCE)) {
        if (await numberCampaigns.recordAsk(orgId, userId, now)) enqueue(sendNumberRequest, { orgId, userId });
      }
    });
  }
}
