import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';

import { createCipher } from '#auth/cipher.ts';
import type { Id } from '#kernel/ids.ts';
import { systemClock } from '#kernel/time.ts';
import { sealSettings } from '#modules/places/view.ts';
import { storesOf } from '#modules/stores.ts';
import type { Database } from '#storage/postgres/database.ts';

/** Places of one organization, which are told of every incident and never answer. */
export interface HangingPlaces {
  /** Requests that they have taken. */
  readonly requests: () => number;
  switch(isOn: boolean): Promise<void>;
  close(): Promise<void>;
}

/** Adds webhooks to an organization that take each request and never answer it. */
export async function addHangingPlaces(
  db: Database,
  { appSecret, organizationId }: { readonly appSecret: string; readonly organizationId: string },
  number: number,
): Promise<HangingPlaces> {
  let requests = 0;
  const server = createServer(() => void (requests += 1));
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const address = `http://127.0.0.1:${(server.address() as AddressInfo).port}/`;
  const sealed = sealSettings(createCipher(appSecret, 'places'), { address, signingSecret: `whsec_${'A'.repeat(32)}` });
  const orgId = organizationId as Id<'org'>;
  const routes = [{ serviceId: null, teamId: null, atLeast: null }];
  const places = await db.transaction(async (session) => {
    const ids: Id<'place'>[] = [];
    for (let index = 0; index < number; index += 1) {
      const place = {
        orgId,
        kind: 'webhook',
        name: `Hangs ${index}`,
        shown: {},
        sealed,
        settingsRole: null,
        routes,
      } as const;
      ids.push((await storesOf(session).places.insert(place, systemClock.now())).id);
    }
    return ids;
  });
  return {
    requests: () => requests,
    async switch(isOn) {
      const { places: store } = storesOf(db.session());
      for (const id of places) await store.save(id, { isOn }, systemClock.now());
    },
    async close() {
      server.closeAllConnections();
      server.close();
      await once(server, 'close');
    },
  };
}
