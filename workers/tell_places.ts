import { announceChanges } from '#modules/places/announce.ts';
import { deliverTo, type PlaceRuntime } from '#modules/places/deliver.ts';
import type { ReadyPlace } from '#modules/places/store/place_store.ts';
import { storesOf } from '#modules/stores.ts';
import { PerOrganizationQueue } from '#workers/per_organization_queue.ts';

const BATCH = 200;

/** Tells places what happens to incidents. */
export interface PlaceWork {
  /** Makes deliveries of what has happened, and starts to send what is due. */
  run(): Promise<void>;
  /** Resolves once everything that was started has ended. */
  settled(): Promise<void>;
}

/**
 * Opens the work for places. Organizations have equal turns, and a place that hangs delays only other places of its
 * organization. Pages are sent by another process and never wait for any of it.
 */
export function openPlaceWork(runtime: PlaceRuntime): PlaceWork {
  const deliveries = new PerOrganizationQueue<ReadyPlace>(({ id }) => deliverTo(runtime, id), runtime.log);
  return {
    async run() {
      await announceChanges(runtime);
      deliveries.start(await listReady(runtime));
    },
    settled: () => deliveries.settled(),
  };
}

async function listReady({ db, clock }: PlaceRuntime): Promise<ReadyPlace[]> {
  return await storesOf(db.session()).places.listReady(clock.now(), BATCH);
}

/** Tells places everything that is due, and returns whether there was anything. */
export async function tellPlaces(runtime: PlaceRuntime): Promise<boolean> {
  const announced = await announceChanges(runtime);
  const ready = await listReady(runtime);
  await Promise.all(ready.map(({ id }) => deliverTo(runtime, id)));
  return announced > 0 || ready.length > 0;
}
